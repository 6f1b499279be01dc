// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/sequencer.h"

#include "sim/kernel/kernel.h"

namespace systole::systolic {

Sequencer::Sequencer(sc_core::sc_module_name name, const SequencerSpec& spec, ClockDomain clock,
                     Protocol::Launch launch, int core, RunRecord& record, std::vector<CommandQueue*> queues)
    : sc_module(name),
      spec_(spec),
      clock_(clock),
      launch_(launch),
      core_(core),
      record_(record),
      queues_(std::move(queues)) {
    SC_HAS_PROCESS(Sequencer);
    SC_METHOD(issue);
    find_next();
}

void Sequencer::find_next() {
    const auto& commands = record_.program().commands;
    while (next_ < commands.size() && core_of(commands[next_].unit) != core_) ++next_;
}

/// The next command goes to the unit that the one before would have gone to, so that what it waits for is the
/// same.
void Sequencer::go_on() {
    next_ = issued_end_;
    find_next();
}

Ticks Sequencer::next_issue_time() {
    Ticks time = now();
    const std::int32_t layer = record_.program().commands[next_].layer;
    const bool first = launched_layer_ < 0;
    if (launch_ != Protocol::Launch::None &&
        (first || (launch_ == Protocol::Launch::Stream && layer > launched_layer_))) {
        time += spec_.launch_latency;
        ++stats_.launches;
    }
    launched_layer_ = std::max(launched_layer_, layer);
    return spec_.issue_cycles > Cycles(0) ? clock_.after(time, spec_.issue_cycles) : clock_.align(time);
}

void Sequencer::issue() {
    const auto& commands = record_.program().commands;
    while (next_ < commands.size()) {
        if (!fetched_) {
            issue_time_ = next_issue_time();
            fetched_ = true;
        }
        if (now() < issue_time_) return next_trigger(to_sc_time(issue_time_ - now()));
        const Command& command = commands[next_];
        CommandQueue& queue = *queues_[command.unit % kUnitsOfCore];
        if (queue.full()) return next_trigger(queue.popped);
        // If the queue held the command back beyond its issue time, whoever made room is the cause.
        const bool blocked = now() > issue_time_;
        const auto number = static_cast<std::uint32_t>(next_);
        last_ = record_.log().add(now(), blocked ? queue.last_start() : last_, SlotClass::Launch, number);
        queue.push({number, last_});
        ++stats_.issued;
        issued_end_ = ++next_;
        find_next();
        fetched_ = false;
    }
}

}  // namespace systole::systolic
