// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/run_record.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/program/shorter_program.h"
#include "sim/base/check.h"

namespace systole::systolic {

RunRecord::RunRecord(const Program& program, std::size_t units, bool timeline, WorkDone* work_done)
    : program_(&program),
      ledger_(program.layers.size()),
      done_(units),
      waiting_(units),
      layer_end_(program.layers.size(), CausalLog::kNone),
      timeline_(timeline),
      work_done_(work_done) {
    if (work_done_ != nullptr) work_done_->begin_run();
}

bool RunRecord::tokens_ready(const Command& command, sc_core::sc_event& wake) {
    for (std::uint32_t i = 0; i < command.token_count; ++i) {
        const Token& token = program_->tokens[command.first_token + i];
        if (done_[token.unit].size() >= token.count) continue;
        auto& waiters = waiting_[token.unit];
        const auto same = [&](const Waiter& w) { return w.event == &wake && w.count == token.count; };
        if (std::none_of(waiters.begin(), waiters.end(), same)) waiters.push_back({token.count, &wake});
        return false;
    }
    return true;
}

RunRecord::EventId RunRecord::last_token(const Command& command) const {
    EventId last = CausalLog::kNone;
    for (std::uint32_t i = 0; i < command.token_count; ++i) {
        const Token& token = program_->tokens[command.first_token + i];
        if (token.count > 0) last = log_.latest({last, done_[token.unit][token.count - 1]});
    }
    return last;
}

void RunRecord::each_token(const Command& command,
                           const std::function<void(const Command&, EventId)>& each) const {
    for (std::uint32_t i = 0; i < command.token_count; ++i) {
        const Token& token = program_->tokens[command.first_token + i];
        if (token.count == 0) continue;
        const EventId done = done_[token.unit][token.count - 1];
        each(program_->commands[log_[done].command], done);
    }
}

void RunRecord::complete(const Command& command, EventId done) {
    const Ticks time = log_[done].time;
    auto& completions = done_[command.unit];
    SYSTOLE_CHECK(completions.empty() || log_[completions.back()].time <= time, "{} completes out of order",
                  unit_name(command.unit, program_->cores));
    completions.push_back(done);
    ++completed_;
    if (work_done_ != nullptr)
        work_done_->update(static_cast<double>(completed_) / static_cast<double>(program_->commands.size()));
    const auto keep_latest = [&](EventId& last) {
        if (last == CausalLog::kNone || time >= log_[last].time) last = done;
    };
    keep_latest(layer_end_[static_cast<std::size_t>(command.layer)]);
    keep_latest(last_);
    if (Watch* const watch = watch_of(command)) {
        --watch->left;
        for (; watches_met_ < watches_.size() && watches_[watches_met_].left == 0; ++watches_met_)
            on_layers_(time);
    }

    auto& waiters = waiting_[command.unit];
    const auto arrived = [&](const Waiter& waiter) {
        if (waiter.count > completions.size()) return false;
        waiter.event->notify(sc_core::SC_ZERO_TIME);
        return true;
    };
    waiters.erase(std::remove_if(waiters.begin(), waiters.end(), arrived), waiters.end());
}

void RunRecord::watch_layers(const std::vector<std::size_t>& layers, std::function<void(Ticks)> listener) {
    on_layers_ = std::move(listener);
    watch(layers);
}

/// What is complete already counts, too.
void RunRecord::watch(const std::vector<std::size_t>& layers) {
    SYSTOLE_CHECK(std::ranges::is_sorted(layers), "layers are watched in their order");
    watches_.clear();
    for (const std::size_t count : layers) watches_.push_back({count});
    std::vector<std::size_t> issued(done_.size());
    for (const Command& command : program_->commands) {
        const bool complete = ++issued[command.unit] <= done_[command.unit].size();
        if (Watch* const watch = watch_of(command); watch != nullptr && !complete) ++watch->left;
    }
    watches_met_ = 0;
    while (watches_met_ < watches_.size() && watches_[watches_met_].left == 0) ++watches_met_;
}

/// That which has the command's layer first; nothing behind all.
RunRecord::Watch* RunRecord::watch_of(const Command& command) {
    const auto layer = static_cast<std::size_t>(command.layer);
    const auto first =
        std::ranges::partition_point(watches_, [layer](const Watch& w) { return w.layers <= layer; });
    return first == watches_.end() ? nullptr : &*first;
}

std::size_t RunRecord::go_on_with(const Program& program, std::size_t issued,
                                  const std::vector<std::size_t>& layers) {
    SYSTOLE_CHECK(same_until(*program_, program, issued), "programs differ in the first {} commands", issued);
    program_ = &program;
    layer_end_.resize(program.layers.size(), CausalLog::kNone);
    ledger_.lengthen(program.layers.size());
    const std::size_t told = watches_met_;
    watch(layers);
    SYSTOLE_CHECK(watches_met_ <= told, "{} watches were met, and are {}", told, watches_met_);
    return told - watches_met_;
}

Ticks RunRecord::time_of(EventId id) const {
    return id == CausalLog::kNone ? Ticks(0) : log_[id].time;
}

RunRecord::EventId RunRecord::not_before(EventId before, EventId own) const {
    return own == CausalLog::kNone || time_of(own) < time_of(before) ? before : own;
}

std::vector<RunRecord::EventId> RunRecord::layer_ends() const {
    std::vector<EventId> ends = layer_end_;
    for (std::size_t i = 1; i < ends.size(); ++i) ends[i] = not_before(ends[i - 1], ends[i]);
    return ends;
}

std::vector<RunRecord::Window> RunRecord::layer_windows() const {
    std::vector<Window> windows;
    for (std::size_t i = 0; i < layer_end_.size(); ++i) windows.push_back({i, layer_end_[i]});
    const auto sliced = [&](const Window& window) { return program_->layers[window.layer].slices > 1; };
    for (auto first = windows.begin(); first != windows.end();) {
        const auto end = std::find_if_not(first, windows.end(), sliced);
        std::stable_sort(first, end,
                         [&](const Window& a, const Window& b) { return time_of(a.last) < time_of(b.last); });
        first = std::find_if(end, windows.end(), sliced);
    }
    for (std::size_t i = 1; i < windows.size(); ++i)
        windows[i].last = not_before(windows[i - 1].last, windows[i].last);
    return windows;
}

Bytes RunRecord::dram_bytes_within(Ticks begin, Ticks end) const {
    Bytes bytes;
    // Entered when they end, in the order of time.
    auto crossing = std::partition_point(crossings_.begin(), crossings_.end(),
                                         [&](const Crossing& c) { return c.end <= begin; });
    for (; crossing != crossings_.end() && crossing->end <= end; ++crossing)
        if (crossing->begin >= begin) bytes += crossing->bytes;
    return bytes;
}

std::string RunRecord::describe_wait(const Command& command) const {
    const auto& layer = program_->layers[static_cast<std::size_t>(command.layer)];
    const std::string who = fmt::format("{} #{} ({})", unit_name(command.unit, program_->cores),
                                        completed(command.unit), layer.name);
    for (std::uint32_t i = 0; i < command.token_count; ++i) {
        const Token& token = program_->tokens[command.first_token + i];
        if (completed(token.unit) < token.count)
            return fmt::format("{} waits for {} to complete {} commands; it has completed {}", who,
                               unit_name(token.unit, program_->cores), token.count, completed(token.unit));
    }
    return who + " has its tokens and waits for its unit";
}

}  // namespace systole::systolic
