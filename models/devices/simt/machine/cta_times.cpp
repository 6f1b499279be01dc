// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/cta_times.h"

#include <algorithm>
#include <cmath>

#include "models/devices/simt/kernels/attention_program.h"
#include "models/devices/simt/kernels/group_attention_program.h"
#include "sim/base/check.h"

namespace systole::simt {
namespace {

LostShares shares_of(const LostCycles& lost) {
    return {lost.on_chip, lost.vector, lost.total()};
}

std::int64_t& of(ClassTimes& times, SlotClass owner) {
    return times[static_cast<std::size_t>(owner)];
}

/// Cycles in which an SM's port, and the L2 that all SMs share, bring the data of a step.
double step_transfer(const GemmKernel& kernel, const SimtSpec& spec) {
    const StepBytes bytes = step_bytes(kernel);
    return std::max(bytes.into_sm / static_cast<double>(spec.l2.sm_read_per_cycle.value()),
                    bytes.from_l2 *
                        static_cast<double>(std::min<std::int64_t>(spec.sm.count, kernel.ctas())) /
                        static_cast<double>(spec.l2_bytes_per_cycle().value()));
}

/// The same of so many bytes of each of the kernel's CTAs.
double transfer(double bytes, std::int64_t ctas, const SimtSpec& spec) {
    return std::max(bytes / static_cast<double>(spec.l2.sm_read_per_cycle.value()),
                    bytes * static_cast<double>(std::min<std::int64_t>(spec.sm.count, ctas)) /
                        static_cast<double>(spec.l2_bytes_per_cycle().value()));
}

/// Cycles in which an SM's port takes what a CTA stores. Stores leave one by one; the transaction that stands
/// for them leaves so late that the port is through when the last one leaves, but not before the first.
double store_transfer(const GemmKernel& kernel, const SimtSpec& spec) {
    const DType out = kernel.split_k > 1 ? DType::Fp32 : kernel.shape.output;
    return kernel.stored_share() * static_cast<double>(kernel.tile.m * kernel.tile.n * bits_of(out).value()) /
           8 / static_cast<double>(spec.l2.sm_write_per_cycle.value());
}

}  // namespace

// A long double has 64 bits of mantissa: exact enough that whole cycles of up to seconds round as they
// should.
Fine fine_cycles(double cycles, Hertz clock) {
    SYSTOLE_CHECK(cycles >= 0 && cycles < 1e12, "{} cycles", cycles);
    const long double scale = static_cast<long double>(kTicksPerSecond) * (std::int64_t{1} << kFineBits);
    const long double fine =
        static_cast<long double>(cycles) * scale / static_cast<long double>(clock.value());
    return Fine(static_cast<std::int64_t>(std::ceil(fine)));
}

void LostShares::charge(Fine time, ClassTimes& times) const {
    const auto part = [&](double lost) {
        if (all <= 0) return std::int64_t{0};
        return static_cast<std::int64_t>(static_cast<double>(time.value()) * (lost / all));
    };
    const std::int64_t first = std::min(part(on_chip), time.value());
    const std::int64_t second = std::min(part(vector), time.value() - first);
    of(times, SlotClass::OnChip) += first;
    of(times, SlotClass::Vector) += second;
    of(times, SlotClass::Dependency) += time.value() - first - second;
}

Fine CtaTimes::share(int ctas) const {
    return std::max(full_share, Fine(ceil_div(alone.value(), std::max(ctas, 1))));
}

namespace {

/// What a CTA does behind its last step.
void take_epilogue(const GemmPlan& plan, const SimtSpec& spec, Hertz clock, CtaTimes& times) {
    const CtaTiming& timing = plan.timing;
    const auto fine = [&](double cycles) { return fine_cycles(cycles, clock); };
    const auto whole = [&](Cycles cycles) { return fine(static_cast<double>(cycles.value())); };
    // Sums of others (stream-K) are not there before they are asked for.
    const Epilogue epilogue = plan.kernel.epilogue();
    if (epilogue.reads() || plan.kernel.streams > 0) times.source = CtaTimes::Source::AtEnd;
    if (plan.joins_ahead())
        times.source = epilogue.columns() > 0 ? CtaTimes::Source::Both : CtaTimes::Source::Ahead;
    times.epilogue = whole(timing.epilogue);
    times.epilogue_vector =
        std::min(times.epilogue, fine(timing.epilogue_vector * static_cast<double>(timing.epilogue.value())));
    times.epilogue_lsu = whole(timing.lsu);
    if (timing.lsu > Cycles(0)) {
        const double of_epilogue =
            static_cast<double>(timing.lsu.value()) / static_cast<double>(timing.epilogue.value());
        times.crowding = fine(std::max(
            0.0, timing.interval_alone * (of_epilogue - 1) + static_cast<double>(timing.step_lsu.value())));
    }
    // Stores leave piece by piece, from the first on.
    if (plan.kernel.on_tensor_cores() && timing.stores > Cycles(0))
        times.stores = std::min(whole(std::min(timing.stores, timing.epilogue)),
                                fine(store_transfer(plan.kernel, spec)));
}

}  // namespace

CtaTimes times_of(const GemmPlan& plan, const SimtSpec& spec, Hertz clock) {
    const CtaTiming& timing = plan.timing;
    SYSTOLE_CHECK(timing.resident > 0 && timing.ahead > 0, "{} CTAs, {} steps ahead", timing.resident,
                  timing.ahead);
    const auto fine = [&](double cycles) { return fine_cycles(cycles, clock); };
    const auto whole = [&](Cycles cycles) { return fine(static_cast<double>(cycles.value())); };
    CtaTimes times;
    times.resident = timing.resident;
    times.ahead = timing.ahead;
    times.launch = whole(spec.launch.cta);
    // No CTA sends data to others of its cluster before these have begun, nor into a stage that one of them
    // still reads.
    const Cycles signal = spec.sm.signal_latency(plan.kernel.tile.cluster());
    times.prologue = whole(timing.prologue + signal);
    times.release = whole(signal);
    times.request = whole(timing.request);
    times.fill = whole(timing.fill);
    // Told intervals are measured ones; what tensor cores need for a step's MACs is exact.
    const CtaTile& tile = plan.kernel.tile;
    const std::int64_t rate = spec.macs_per_cycle(plan.kernel.shape.dtype) / spec.sm.count;
    SYSTOLE_CHECK(rate > 0, "no tensor core takes {}", to_string(plan.kernel.shape.dtype));
    times.busy = fine(static_cast<double>(tile.m * tile.n * tile.k) / static_cast<double>(rate));
    // Loads leave one by one. The one transaction that stands for them leaves so late that ports which serve
    // it at full rate are through with the last load's data in time, but not before the first load.
    const double late =
        std::max(0.0, static_cast<double>(timing.spread.value()) - step_transfer(plan.kernel, spec));
    times.prologue += fine(late);
    times.alone = std::max(times.busy, fine(timing.interval_alone + late));
    times.full_share = std::max(times.busy, fine(timing.interval_full / timing.resident));
    if (timing.meet) {
        // Copies leave one by one until the warps meet. The one transaction that stands for them leaves so
        // late that ports which serve it at full rate are through then, but not before the first copy.
        const double left = timing.loaded.value_or(*timing.meet);
        times.request_in_step = fine(std::max(0.0, left - step_transfer(plan.kernel, spec)));
        times.lead = fine(std::max(0.0, timing.interval_alone - *timing.meet));
    }
    take_epilogue(plan, spec, clock, times);
    times.persistent = tile.persistent;
    times.accumulators = timing.accumulators;
    times.lost_alone = shares_of(timing.lost_alone);
    times.lost_full = shares_of(timing.lost_full);
    return times;
}

CtaTimes times_of(const StreamPlan& plan, const SimtSpec& spec, Hertz clock) {
    const auto whole = [&](Cycles cycles) { return fine_cycles(static_cast<double>(cycles.value()), clock); };
    CtaTimes times;
    times.resident = plan.resident;
    times.launch = whole(spec.launch.cta);
    times.prologue = whole(plan.prologue);
    times.epilogue = whole(plan.epilogue);
    times.epilogue_vector = times.epilogue;
    times.ramp = times.wait = SlotClass::Vector;
    return times;
}

namespace {

/// Of the SM's pipes, what a CTA's step takes when others are there. Where all CTAs of an SM are there at
/// once, pipes do what comes before their data while these are awaited, as far as that lasts; but it lets
/// CTAs come to their steps one by one. Where others follow, or steps do, CTAs that began together wait
/// together again, which takes back what was gained.
double share_of_pipes(const VectorPlan& plan, const SimtSpec& spec) {
    const CtaTiming& timing = plan.timing;
    const double all = timing.interval_full / timing.resident;
    const std::int64_t ctas = ceil_div(plan.kernel.ctas(), std::int64_t{spec.sm.count});
    if (plan.kernel.steps() > 1 || ctas > timing.resident) return all;
    const auto count = static_cast<double>(ctas);
    const double before = std::min(timing.before_data, all), behind = all - before;
    const auto awaited = static_cast<double>((spec.l2.latency + spec.miss_latency()).value());
    return std::max({count * behind, count * all - before - awaited, (count - 1) * before + behind}) / count;
}

/// Of rows that are normed, an SM's first CTA waits in each round for what columns have, out of the L2; for
/// the first round's it waits anyway, and where CTAs follow each other, others work meanwhile.
double waits_for_columns(const VectorPlan& plan, const SimtSpec& spec) {
    const VectorKernel& kernel = plan.kernel;
    if (plan.columns.empty() || kernel.windows) return 0;
    if (kernel.ctas() > std::int64_t{spec.sm.count} * plan.timing.resident) return 0;
    return static_cast<double>((kernel.trips() - 1) * spec.l2.latency.value());
}

/// Bytes that all CTAs load together. Of the kernel ahead of attention each head of queries loads the keys
/// and values that it shares, and each sequence's heads the cosines and sines.
double loaded(const VectorPlan& plan) {
    double bytes = 0;
    const QkvRows& rows = plan.kernel.qkv;
    for (std::size_t i = 0; i < plan.in.size(); ++i) {
        auto own = static_cast<double>(plan.in[i].touched.value());
        if (plan.kernel.kind == VectorKernel::Kind::Qkv && i > 0)
            own *= static_cast<double>(i < 3 ? rows.group() : rows.batch * rows.heads);
        bytes += own;
    }
    return bytes;
}

/// Cycles in which an SM's port takes what a CTA stores.
double store_transfer(const VectorPlan& plan, const SimtSpec& spec) {
    const std::int64_t bytes = plan.to.touched.value() + plan.beside.bytes.value();
    return static_cast<double>(bytes) / static_cast<double>(plan.kernel.ctas()) /
           static_cast<double>(spec.l2.sm_write_per_cycle.value());
}

}  // namespace

CtaTimes times_of(const VectorPlan& plan, const SimtSpec& spec, Hertz clock) {
    const CtaTiming& timing = plan.timing;
    const VectorKernel& kernel = plan.kernel;
    SYSTOLE_CHECK(timing.resident > 0, "{} CTAs", timing.resident);
    const auto fine = [&](double cycles) { return fine_cycles(cycles, clock); };
    const auto whole = [&](Cycles cycles) { return fine(static_cast<double>(cycles.value())); };
    CtaTimes times;
    times.resident = timing.resident;
    times.ahead = timing.ahead;
    times.launch = whole(spec.launch.cta);
    // Of loads that leave one by one: as for products of one row.
    const double of_step =
        loaded(plan) / static_cast<double>(kernel.ctas()) / static_cast<double>(kernel.trips());
    const double late =
        std::max(0.0, static_cast<double>(timing.spread.value()) - transfer(of_step, kernel.ctas(), spec));
    // Behind the last step there is nothing to be asked for.
    const auto steps = static_cast<double>(kernel.steps());
    times.prologue = whole(timing.prologue) + fine(late);
    // Where the warps of a CTA meet in rounds, or are many, the last of them decides when it goes on.
    times.warps_go_on = kernel.warps_go_on();
    times.stores_hold = !kernel.rounds_as_ctas();
    // What the SM's port takes for stores holds the load/store unit, and is in the last step's time already.
    const double storing =
        times.warps_go_on ? std::min(store_transfer(plan, spec), static_cast<double>(timing.stores.value()))
                          : 0;
    times.stores = fine(storing);
    times.epilogue = times.epilogue_vector = fine(storing + waits_for_columns(plan, spec));
    // Of a lookup's steps the first one's part is the others'.
    times.indices_first = kernel.kind == VectorKernel::Kind::Lookup;
    const double of_others = times.indices_first ? steps / (steps - 1) : 1;
    times.alone =
        fine(std::max(0.0, of_others * (timing.interval_alone + (late * (steps - 1) - storing) / steps)));
    times.full_share = fine(of_others * share_of_pipes(plan, spec));
    // What pipes multiply is useful by what tensor cores would take for it.
    if (plan.macs_per_cycle > 0) {
        times.busy = fine(static_cast<double>(kernel.elements_of_cta() * kernel.windows->kernel_w) /
                          static_cast<double>(plan.macs_per_cycle));
        times.alone = std::max(times.alone, times.busy);
        times.full_share = std::max(times.full_share, times.busy);
    }
    if ((!plan.columns.empty() && !kernel.windows) || kernel.parts > 1)
        times.source = CtaTimes::Source::AtEnd;
    times.lost_alone = shares_of(timing.lost_alone);
    times.lost_full = shares_of(timing.lost_full);
    times.ramp = SlotClass::Vector;
    return times;
}

CtaTimes times_of(const AttentionPlan& plan, const SimtSpec& spec, Hertz clock) {
    const CtaTiming& timing = plan.timing;
    const AttentionKernel& kernel = plan.kernel;
    SYSTOLE_CHECK(timing.resident > 0 && timing.ahead > 0, "{} CTAs, {} steps ahead", timing.resident,
                  timing.ahead);
    const auto fine = [&](double cycles) { return fine_cycles(cycles, clock); };
    const auto whole = [&](Cycles cycles) { return fine(static_cast<double>(cycles.value())); };
    CtaTimes times;
    times.resident = timing.resident;
    times.ahead = timing.ahead;
    times.launch = whole(spec.launch.cta);
    times.prologue = whole(timing.prologue);
    times.request = whole(timing.request);
    times.fill = whole(timing.fill);
    const std::int64_t rate = spec.macs_per_cycle(kernel.dtype) / spec.sm.count;
    SYSTOLE_CHECK(rate > 0, "no tensor core takes {}", to_string(kernel.dtype));
    const AttentionTile& tile = kernel.tile;
    times.busy = fine(static_cast<double>((kernel.in_two_passes() ? 1 : 2) * tile.m * tile.n * tile.dim) /
                      static_cast<double>(rate));
    times.alone = std::max(times.busy, fine(timing.interval_alone));
    times.full_share = std::max(times.busy, fine(timing.interval_full / timing.resident));
    // Keys of the next block are asked for within a step and its values at its begin, each as long before
    // they are needed as the other product and the softmax take: together, as if all were asked for with the
    // keys.
    if (timing.meet) times.request_in_step = fine(*timing.meet);
    times.epilogue = whole(timing.epilogue);
    times.epilogue_vector =
        std::min(times.epilogue, fine(timing.epilogue_vector * static_cast<double>(timing.epilogue.value())));
    // One warp copies for all: its next tile's data are asked for in time.
    times.persistent = by_groups(tile, spec.sm);
    times.stores_hold = !times.persistent;
    const std::int64_t bytes =
        std::min(tile.m, kernel.rows()) * kernel.shape.value_dim() * bits_of(kernel.stored()).value() / 8;
    const std::int64_t passing = times.persistent ? passing_port(bytes, kernel.stored()) : bytes;
    times.stores = std::min(
        whole(std::min(timing.stores, timing.epilogue)),
        fine(static_cast<double>(passing) / static_cast<double>(spec.l2.sm_write_per_cycle.value())));
    times.lost_alone = shares_of(timing.lost_alone);
    times.lost_full = shares_of(timing.lost_full);
    return times;
}

double cycles_between_ctas(const KernelPlan& plan, const SimtSpec& spec) {
    const double interval = static_cast<double>(spec.launch.cta_interval.value()) *
                            static_cast<double>(spec.core_clock.value()) /
                            static_cast<double>(kTicksPerSecond);
    if (const auto* stream = std::get_if<StreamPlan>(&plan); stream != nullptr && stream->of_last_ctas)
        return 0;
    const auto* vector = std::get_if<VectorPlan>(&plan);
    if (vector == nullptr) return interval;
    if (vector->kernel.rounds_as_ctas()) return 0;
    return interval / static_cast<double>(vector->kernel.pieces);
}

CtaTimes times_of(const KernelPlan& plan, const SimtSpec& spec, Hertz clock) {
    const auto of_kind = [&]() -> CtaTimes {
        if (const auto* gemm = std::get_if<GemmPlan>(&plan)) return times_of(*gemm, spec, clock);
        if (const auto* vector = std::get_if<VectorPlan>(&plan)) return times_of(*vector, spec, clock);
        if (const auto* attention = std::get_if<AttentionPlan>(&plan))
            return times_of(*attention, spec, clock);
        return times_of(std::get<StreamPlan>(plan), spec, clock);
    };
    CtaTimes times = of_kind();
    times.handing = fine_cycles(cycles_between_ctas(plan, spec), clock);
    return times;
}

}  // namespace systole::simt
