// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/chip.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/check.h"
#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/kernel/kernel.h"
#include "sim/kernel/stuck.h"

namespace systole::simt {
namespace {

Ticks launch_of(const SimtSpec& spec, Protocol::Launch launch) {
    const Ticks own = spec.calibrated.kernel_overhead;
    if (launch == Protocol::Launch::Graph) return own + spec.launch.graph;
    if (launch == Protocol::Launch::Stream) return own + spec.launch.stream;
    return own;
}

DramSpec memory_of(const SimtSpec& spec, const Protocol& protocol) {
    DramSpec memory = spec.memory;
    memory.refresh_phase = protocol.refresh_phase;
    return memory;
}

}  // namespace

Chip::Copies Chip::copies_out(const ChipPlan& plan) {
    return {{plan.outputs.begin(), plan.outputs.end()}, plan.layers.empty() ? 0 : plan.layers.size() - 1};
}

Chip::Chip(sc_core::sc_module_name name, const SimtSpec& spec, const ChipPlan& plan,
           const RunOptions& options)
    : sc_module(name),
      clock(spec.core_clock),
      ledger(plan.layers.size()),
      dram("dram", memory_of(spec, options.protocol)),
      caches(spec, ledger),
      mmu("mmu", spec.tlb, spec.sm, spec.core_clock),
      chip_link(spec.chip_link ? std::make_unique<ChipLink>("chip_link", *spec.chip_link) : nullptr),
      to_chips(spec.chip_link ? std::make_unique<ChipPort>("to_chips", ledger) : nullptr),
      sms(
          "sms", spec, plan, launch_of(spec, options.protocol.launch),
          [this] { return dram.bytes_read() + dram.bytes_written(); }, to_chips.get()),
      host_link("host_link", spec.host),
      copy_in("copy_in", spec.copy, clock, listener_in()),
      copy_out("copy_out", spec.copy, clock, listener_out()),
      spec_(spec),
      plan_(&plan),
      in_{{plan.inputs.begin(), plan.inputs.end()}},
      out_(copies_out(plan)) {
    sms.out.bind(mmu.in);
    caches.bind(mmu, dram);
    if (spec.power.l2_follows) sms.on_clock([this](Hertz sms_clock) { caches.run_at(sms_clock); });
    if (caches.apart())
        sms.on_kernel_stored([this](const std::function<void()>& done) { caches.clean(done); });
    if (to_chips) {
        to_chips->out.bind(chip_link->out.in);
        to_chips->in.bind(chip_link->in.in);
    }
    copy_in.dram.bind(dram.in);
    copy_out.dram.bind(dram.in);
    copy_in.host.bind(host_link.port(0).down.in);
    copy_out.host.bind(host_link.port(0).up.in);
    if (options.check_dram) dram.check_commands();
    if (options.work_done != nullptr) sms.tell(*options.work_done);
    if (options.timeline != WantTimeline::No) keep_times();
    SC_HAS_PROCESS(Chip);
    SC_METHOD(begin);
}

// All kernels together have some 400,000 pieces at most, each what a picture of the whole run can show.
void Chip::keep_times() {
    constexpr std::size_t kPieces = 400'000, kLeast = 256, kMost = 16'384;
    std::size_t kernels = 1;
    for (const LayerPlan& layer : plan_->layers) kernels += layer.kernels.size();
    keeps_times_ = true;
    dram.keep_traffic();
    sms.keep_histories(std::clamp(kPieces / kernels, kLeast, kMost));
}

void Chip::mark_after(std::vector<std::size_t> layers, GoOnWith go_on_with) {
    to_mark_ = std::move(layers);
    sms.on_layers([this, go_on_with = std::move(go_on_with)](std::size_t complete) {
        while (marks_.size() < to_mark_.size() && to_mark_[marks_.size()] <= complete) mark(go_on_with);
    });
}

Mark Chip::counted_now() {
    Mark mark;
    mark.time = now();
    mark.memory_bus = memory_bus();
    for (const Stat& stat : stats()) mark.counts.push_back(stat.value);
    return mark;
}

void Chip::sample_ctas(CtaSample& sample) {
    sms.on_ctas([this, &sample](std::size_t kernel, const KernelExecution& run) -> std::int64_t {
        if (!sample.wants(kernel, run.begun_ctas())) return 0;
        return sample.look({counted_now(), run.begun_ctas(), run.times_so_far(), ledger.movements(0)});
    });
}

void Chip::mark(const GoOnWith& go_on_with) {
    marks_.push_back(counted_now());
    std::optional<Other> other = go_on_with(marks_);
    if (!other) return;
    const auto met = static_cast<std::ptrdiff_t>(marks_.size());
    SYSTOLE_CHECK(std::ssize(other->marks) >= met &&
                      std::equal(to_mark_.begin(), to_mark_.begin() + met, other->marks.begin()),
                  "{}: another plan without the {} marks that are met", name(), met);
    to_mark_ = std::move(other->marks);
    plan_ = other->plan;
    ledger.lengthen(plan_->layers.size());
    out_ = copies_out(*plan_);
    sms.go_on_with(*plan_);
}

void Chip::begin() {
    if (plan_->inputs.empty()) return compute();
    give(copy_in, in_);
}

void Chip::give(DmaEngine& engine, Copies& copies) {
    if (copies.left.empty() || !engine.accepts()) return;
    engine.start(copies.left.front());
    copies.left.pop_front();
    copies.under_way.push_back(now());
}

bool Chip::arrived(Copies& copies, const std::vector<Transfer>& all) {
    const Transfer& transfer = all[all.size() - copies.left.size() - copies.under_way.size()];
    const Bytes bytes(transfer.bytes());
    if (keeps_times_)
        copies_.push_back({&copies == &in_, transfer.operand, bytes, copies.under_way.front(), now()});
    copies.under_way.pop_front();
    ledger.enter(copies.layer, transfer.from.place, transfer.to.place, transfer.operand, bytes);
    return copies.left.empty() && copies.under_way.empty();
}

DmaEngine::Listener Chip::listener_in() {
    return {[this](DmaEngine::Split) { give(copy_in, in_); },
            [this](DmaEngine::Split) {
                if (arrived(in_, plan_->inputs)) compute();
            }};
}

DmaEngine::Listener Chip::listener_out() {
    return {[this](DmaEngine::Split) { give(copy_out, out_); },
            [this](DmaEngine::Split) {
                if (!arrived(out_, plan_->outputs)) return;
                end_ = now();
                done_ = true;
            }};
}

void Chip::compute() {
    copied_in_ = now();
    sms.start([this] { bring_back(); });
}

void Chip::bring_back() {
    caches.end();
    computed_ = end_ = now();
    done_ = plan_->outputs.empty();
    give(copy_out, out_);
}

void Chip::run() {
    const Ticks limit = std::min(spec_.longest_run(), kLongestRun);
    if (!run_to_the_end(limit))
        throw UserError(
            fmt::format("'{}' takes more than {} of simulated time on this machine; that is more "
                        "than can be accounted for",
                        plan_->trace, format_time(limit)));
    if (!done_) throw Stuck({sms.wait()});
}

std::vector<Stat> Chip::stats() {
    std::vector<Stat> all = sms.stats();
    const auto add = [&](const std::vector<Stat>& stats) {
        all.insert(all.end(), stats.begin(), stats.end());
    };
    add(mmu.stats());
    add(caches.stats());
    add(host_link.stats());
    if (chip_link) add(chip_link->stats());
    add(dram.stats());
    return all;
}

std::vector<EndCount> Chip::ends() const {
    std::vector<EndCount> all{{Place::Dram, dram.bytes_read(), dram.bytes_written()},
                              {Place::Host, host_link.bytes_down(), host_link.bytes_up()}};
    for (const EndCount& end : caches.ends()) all.push_back(end);
    if (chip_link) all.push_back({Place::ChipLink, chip_link->bytes_in(), chip_link->bytes_out()});
    return all;
}

std::vector<BusClocks> Chip::memory_bus() {
    const BusAccount account = dram.bus_account();
    std::vector<BusClocks> owners;
    if (account.total() == 0) return owners;
    for (int i = 0; i < kBusTimes; ++i) {
        const auto time = static_cast<BusTime>(i);
        owners.push_back({std::string(to_string(time)), account[time]});
    }
    return owners;
}

}  // namespace systole::simt
