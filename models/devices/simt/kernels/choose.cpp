// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/choose.h"

#include <algorithm>
#include <cmath>

#include "models/devices/simt/kernels/stream_k.h"
#include "models/devices/simt/kernels/time_cta.h"
#include "models/devices/simt/kernels/tuned_sizes.h"
#include "models/devices/simt/kernels/wmma_program.h"
#include "sim/base/clock.h"

namespace systole::simt {
namespace {

// Parts of K that libraries offer: any number. These are so close that those between save little.
constexpr std::int64_t kParts[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 12, 14, 16,
                                   18, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 128};
constexpr std::int64_t kLeastRows = 64;  // of wgmma
constexpr std::int64_t kFewRows = 16;    // that have tiles of their own

double bytes_of(DType dtype, std::int64_t elements) {
    return static_cast<double>(elements) * static_cast<double>(bits_of(dtype).value()) / 8;
}

/// Rates by which a kernel moves bytes, in bytes a core cycle.
struct Rates {
    double dram, l2, l2_write, sm_read, sm_write;
    explicit Rates(const SimtSpec& spec)
        : dram(spec.shared_cache().memory_share * static_cast<double>(spec.memory.peak().value()) /
               static_cast<double>(spec.core_clock.value())),
          l2(static_cast<double>(spec.l2_bytes_per_cycle().value())),
          l2_write(static_cast<double>(spec.l2_write_bytes_per_cycle().value())),
          sm_read(static_cast<double>(spec.l2.sm_read_per_cycle.value())),
          sm_write(static_cast<double>(spec.l2.sm_write_per_cycle.value())) {}
};

/// Cycles from a request to its data in an idle chip, out of DRAM.
double idle_latency(const SimtSpec& spec) {
    const ClockDomain clock(spec.core_clock);
    const double dram = spec.memory.is_dram() ? 60e-9 : 0;
    return static_cast<double>((spec.l2.latency + spec.miss_latency()).value()) +
           dram * static_cast<double>(clock.frequency().value());
}

/// Bytes of the results that a kernel's CTAs store: of parts of K, their sums; of stream-K, some besides.
double stored_bytes(const GemmKernel& kernel) {
    const std::int64_t results = kernel.shape.batch * kernel.shape.m * kernel.shape.n;
    if (kernel.streams > 0)
        return bytes_of(kernel.shape.output, results) +
               static_cast<double>((kernel.streams - kernel.shared_tiles) * kernel.tile.m * kernel.tile.n *
                                   kPartialBytes);
    return kernel.split_k > 1 ? static_cast<double>(results * kernel.split_k * kPartialBytes)
                              : bytes_of(kernel.shape.output, results);
}

/// One warp copies for all.
bool copies_whole_blocks(const GemmKernel& kernel, const SimtSpec& spec) {
    const TensorIssue issue = spec.sm.issue_of(kernel.shape.dtype);
    return issue == TensorIssue::WarpGroup || issue == TensorIssue::Thread;
}

/// Cycles of a CTA besides its steps: nobody on its SM computes for it then.
double ends_of(const GemmKernel& kernel, const CtaTiming& timing, const SimtSpec& spec) {
    const Epilogue epilogue = kernel.epilogue();
    const bool waits = epilogue.reads() &&
                       (!copies_whole_blocks(kernel, spec) || !epilogue.join || !kernel.on_tensor_cores());
    return (waits ? idle_latency(spec) + static_cast<double>(epilogue_bytes(kernel)) /
                                             static_cast<double>(kernel.ctas()) / Rates(spec).sm_read
                  : 0) +
           static_cast<double>((spec.launch.cta + timing.prologue + timing.fill + timing.epilogue +
                                spec.sm.signal_latency(kernel.tile.cluster()))
                                   .value()) +
           idle_latency(spec) +
           stored_bytes(kernel) / static_cast<double>(kernel.ctas()) / Rates(spec).sm_write;
}

/// Cycles from the last step of a persistent CTA's tile to the first of its next, whose data are there.
/// That stores leave while the epilogue goes on is not counted on.
double between_tiles(const GemmKernel& kernel, const CtaTiming& timing, const SimtSpec& spec) {
    const Rates rates(spec);
    const double stores = stored_bytes(kernel) / static_cast<double>(kernel.ctas()) /
                          std::min(rates.sm_write, rates.l2_write / static_cast<double>(spec.sm.count));
    return static_cast<double>((timing.epilogue + spec.l2.latency).value()) + stores;
}

/// Bytes that a step of the CTA that loads most brings into its SM: who is last decides, not the average.
double most_into_sm(const GemmKernel& kernel) {
    const CtaTile& tile = kernel.tile;
    const std::int64_t rows = std::min(tile.m, kernel.shape.m), columns = std::min(tile.n, kernel.shape.n);
    const std::int64_t extents = tile.multicast ? ceil_div(rows, std::int64_t{tile.cluster_n}) +
                                                      ceil_div(columns, std::int64_t{tile.cluster_m})
                                                : rows + columns;
    return kernel.shape.operand_bytes(extents * tile.k);
}

/// For how many steps data may be under way before they are needed.
double steps_under_way(const CtaTiming& timing) {
    if (!timing.loaded) return timing.ahead;
    return timing.ahead - 1 + std::max(0.1, (*timing.meet - *timing.loaded) / timing.interval_alone);
}

/// Cycles of a step that data hold up, which take so long to come: they are asked for so many steps ahead;
/// into registers, when they are free (the first: `ends_of`).
double waiting_of(const GemmKernel& kernel, const CtaTiming& timing, const SimtSpec& spec, double latency) {
    const auto steps = static_cast<double>(kernel.steps_of_part());
    if (!kernel.on_tensor_cores()) return timing.interval_alone + latency * (steps - 1) / steps;
    // What is loaded in each step comes with none of its work but that between the last load and the stores.
    if (is_wmma(kernel.tile, spec.sm.issue_of(kernel.shape.dtype)))
        return timing.interval_alone + (latency + *timing.loaded - *timing.meet) * (steps - 1) / steps;
    return latency / steps_under_way(timing);
}

/// Cycles of a step of CTAs of which each of `sms` SMs holds `held`.
double interval_of(const GemmKernel& kernel, const CtaTiming& timing, const SimtSpec& spec, double held,
                   double sms) {
    const Rates rates(spec);
    const StepBytes bytes = step_bytes(kernel);
    const double latency =
        idle_latency(spec) + static_cast<double>(spec.sm.signal_latency(kernel.tile.cluster()).value());
    const double waits = waiting_of(kernel, timing, spec, latency);
    return std::max({held > 1 ? timing.interval_full * held / timing.resident : timing.interval_alone,
                     timing.interval_alone, held * most_into_sm(kernel) / rates.sm_read,
                     held * sms * bytes.from_l2 / rates.l2, waits});
}

/// The second kernel, which adds the sums of parts.
double adding_parts(const GemmKernel& kernel, const SimtSpec& spec) {
    if (kernel.split_k == 1) return 0;
    const Rates rates(spec);
    const double launch = static_cast<double>((spec.launch.graph + spec.calibrated.kernel_overhead).value()) *
                          static_cast<double>(spec.core_clock.value()) / static_cast<double>(kTicksPerSecond);
    const double sums = stored_bytes(kernel);
    const double results = sums / static_cast<double>(kernel.split_k * kPartialBytes);
    // What the L2 could not keep comes from the memory.
    const double missing = std::max(0.0, sums - static_cast<double>(spec.shared_cache().usable.value()));
    return launch + static_cast<double>(spec.launch.cta.value()) +
           2.0 * static_cast<double>(spec.l2.latency.value()) +
           std::max(sums / rates.l2, 2 * missing / rates.dram) +
           static_cast<double>(epilogue_bytes(kernel)) / rates.dram +
           results * bytes_of(kernel.shape.output, 1) / rates.l2_write;
}

/// By which libraries that prefer larger tiles weigh what CTAs take: 1 + larger_tiles x (root of the ratio -
/// 1), the ratio of operands that a tile loads for each of its results to those of the tile that loads
/// fewest.
double preference(const CtaTile& tile, const std::vector<CtaTile>& all, const SimtSpec& spec) {
    if (tile.pipes == Pipes::Fp32) return 1;
    const auto loaded = [](const CtaTile& one) {
        return 1 / static_cast<double>(one.m) + 1 / static_cast<double>(one.n);
    };
    double least = loaded(tile);
    for (const CtaTile& one : all) least = std::min(least, loaded(one));
    return 1 + larger_tiles(spec) * (std::sqrt(loaded(tile) / least) - 1);
}

/// Cycles of the shares of a stream-K kernel's last tiles: their steps, and a second piece's ends. Who adds a
/// tile's sums waits for them, and reads them through its SM's port. Where the L2 does not hold what shares
/// at all depths read, each reads it again.
double shares_of(const GemmKernel& kernel, const CtaTiming& timing, const SimtSpec& spec) {
    const auto sms = static_cast<double>(spec.sm.count), streams = static_cast<double>(kernel.streams);
    const auto steps = static_cast<double>(ceil_div(kernel.shared_tiles * kernel.steps(), kernel.streams));
    const double held = std::min<double>(timing.resident, std::ceil(streams / sms));
    const double sums = static_cast<double>(kernel.tile.m * kernel.tile.n * kPartialBytes);
    const double adds = std::ceil(streams / static_cast<double>(kernel.shared_tiles));
    const SharedOperands operands = shared_operands(kernel);
    const double again = operands.once > static_cast<double>(spec.shared_cache().usable.value())
                             ? operands.by_depth / Rates(spec).dram
                             : 0;
    return std::max(steps * interval_of(kernel, timing, spec, held, std::min(streams, sms)), again) +
           2 * ends_of(kernel, timing, spec) + sums / Rates(spec).sm_write + idle_latency(spec) +
           adds * sums / Rates(spec).sm_read;
}

/// Cycles in which the CTAs are through if memory and L2 keep up.
double ctas_of(const GemmKernel& kernel, const CtaTiming& timing, const SimtSpec& spec) {
    const auto sms = static_cast<double>(spec.sm.for_clusters(kernel.tile.cluster()));
    const auto ctas = static_cast<double>(kernel.ctas() - kernel.streams);
    const double places = sms * timing.resident;
    const double full_rounds = std::floor(ctas / places);
    const double left = ctas - full_rounds * places;
    const auto steps = static_cast<double>(kernel.steps_of_part());
    double cycles = full_rounds * steps * interval_of(kernel, timing, spec, timing.resident, sms);
    // Tiles that are brought out beside the next one's steps: none of these is through before.
    if (timing.accumulators > 1) cycles = std::max(cycles, full_rounds * between_tiles(kernel, timing, spec));
    // Libraries count whole waves: of a round that leaves places empty, too, and one behind the other.
    if (left > 0)
        cycles += steps * interval_of(kernel, timing, spec,
                                      std::min<double>(timing.resident, std::ceil(ctas / sms)),
                                      std::min(left, sms));
    const double rounds = full_rounds + (left > 0 ? 1 : 0);
    // CTAs of the last round store all at once.
    const double last_stores = stored_bytes(kernel) / Rates(spec).l2_write * (left > 0 ? left : places) /
                               static_cast<double>(kernel.ctas());
    if (kernel.streams > 0) cycles += shares_of(kernel, timing, spec);
    const double ends = ends_of(kernel, timing, spec);
    const double later = timing.accumulators > 1  ? 0
                         : kernel.tile.persistent ? between_tiles(kernel, timing, spec)
                                                  : ends;
    return cycles + (rounds > 0 ? ends + (rounds - 1) * later : 0) + last_stores;
}

/// Cycles of a kernel whose CTAs take so long.
double bounded(double ctas, const GemmKernel& kernel, const CtaTiming& timing, const SimtSpec& spec) {
    const Rates rates(spec);
    const GemmShape& shape = kernel.shape;
    const double joined =
        kernel.epilogue().join ? bytes_of(shape.output, shape.batch * shape.m * shape.n) : 0;
    const double compulsory = joined + shape.operand_bytes(shape.a_elements()) +
                              shape.operand_bytes((shape.shared_b ? 1 : shape.batch) * shape.n * shape.k);
    const double moved = std::max(compulsory / rates.dram, stored_bytes(kernel) / rates.l2_write);
    return std::max(ctas, moved + ends_of(kernel, timing, spec)) + adding_parts(kernel, spec);
}

/// Whether the library has such a kernel for parts of K. cuDNN 7:
/// volta_fp16_s884cudnn_fp16_128x128_ldg8_splitK_...
bool offers_parts(const GemmShape& shape, const CtaTile& tile, const SimtSpec& spec) {
    if (spec.kernels.split_k != SplitK::Cudnn7) return spec.kernels.split_k == SplitK::Offered;
    return shape.convolution && spec.sm.issue_of(shape.dtype) == TensorIssue::QuadPair && tile.m == 128 &&
           tile.n == 128;
}

/// To the front comes the kernel of the nearest of the sizes that the library was tuned at, where it is
/// known.
void take_tuned(const GemmShape& shape, std::vector<TimedKernel>& all) {
    if (shape.batch > 1 || shape.convolution) return;
    const auto size = rocblas_size(shape.dtype, {shape.m, shape.n, shape.k});
    const auto tile = size ? rocblas_tile(shape.dtype, *size) : std::nullopt;
    if (!tile) return;
    const auto own = std::find_if(all.begin(), all.end(), [&](const TimedKernel& one) {
        const GemmKernel& kernel = one.kernel;
        return kernel.tile == *tile && !kernel.swapped && kernel.split_k == 1 && kernel.streams == 0;
    });
    if (own != all.end()) std::rotate(all.begin(), own, own + 1);
}

}  // namespace

double larger_tiles(const SimtSpec& spec) {
    return of_2023(spec.kernels.layers) ? 0 : spec.calibrated.larger_tiles;
}

double estimate(const GemmKernel& kernel, const CtaTiming& timing, const SimtSpec& spec) {
    return bounded(ctas_of(kernel, timing, spec), kernel, timing, spec);
}

const std::optional<CtaTiming>& KernelChooser::timing(const CtaTile& tile, const GemmFormats& formats) {
    // CTAs go alike in clusters of any size, but where each has less to copy of its own.
    const auto of_cluster = [&](int ctas) { return tile.multicast ? ctas : 1; };
    const auto key = std::make_tuple(tile.m, tile.n, tile.k, tile.stages, tile.groups_m, tile.groups_n,
                                     tile.slices, of_cluster(tile.cluster_m), of_cluster(tile.cluster_n),
                                     tile.pair, tile.wmma, formats);
    const auto [known, added] = known_.try_emplace(key);
    if (added) known->second = time_cta(tile, formats, spec_.sm);
    return known->second;
}

void KernelChooser::add(const GemmShape& shape, bool swapped, const CtaTile& tile,
                        std::vector<TimedKernel>& all) {
    for (const std::int64_t parts : kParts) {
        if (parts > 1 && !offers_parts(shape, tile, spec_)) break;
        if (parts == 1 && tile.parts_only) continue;
        GemmKernel kernel{shape, tile, parts, {}, swapped};
        // Parts that do not fill the stages, or of a chip that is full without them, save nothing.
        if (parts > 1 &&
            (kernel.steps() < std::max(2, tile.stages) * parts ||
             (parts - 1) * kernel.tiles_m() * kernel.tiles_n() * shape.batch >= 4 * spec_.sm.count))
            break;
        // The last part must not be empty.
        if (kernel.steps_of_part() * (parts - 1) >= kernel.steps()) continue;
        if (kernel.tiles_m() < tile.cluster_m || kernel.tiles_n() < tile.cluster_n) continue;
        if (spec_.sm.for_clusters(tile.cluster()) == 0) continue;
        const auto& timed = timing(tile, formats_of(kernel));
        if (!timed) return;
        weigh(kernel, *timed, all);
        // CTAs of a cluster go in step, those of stream-K do not. No library has it for convolutions.
        const bool clusters = tile.cluster_m * tile.cluster_n > 1 || shape.gather;
        if (parts > 1 || clusters || !kernel.on_tensor_cores() || spec_.kernels.stream_k == StreamK::Never)
            continue;
        if (const auto shared = with_shared_tiles(kernel, std::int64_t{spec_.sm.count} * timed->resident))
            weigh(*shared, *timed, all);
    }
}

// Libraries count whole tiles, as they count whole waves: of a matrix smaller than a tile, too.
void KernelChooser::weigh(const GemmKernel& kernel, const CtaTiming& timing, std::vector<TimedKernel>& all) {
    const double ctas = ctas_of(kernel, timing, spec_);
    const GemmShape& shape = kernel.shape;
    const auto& all_tiles =
        catalogue(spec_.sm.issue_of(shape.dtype), shape.convolution, spec_.kernels.layers);
    all.push_back({kernel, storing(timing, kernel.stored_share()), bounded(ctas, kernel, timing, spec_),
                   bounded(ctas * preference(kernel.tile, all_tiles, spec_), kernel, timing, spec_) +
                       spec_.calibrated.l2_loads * bytes_from_l2(kernel) / Rates(spec_).l2});
}

// Profiles on compute capability 8.9 name 16x16_128x1 or 128x2 wherever they tell up to 16 rows: of 4 to 16
// rows and 5,120 to 248,320 columns on an RTX 4090 (up to 128 columns in 16 parts of K), of 16 on a 4090 D,
// of 152,064 columns on an L4; and so do those on 12.0 and 12.1 up to where nvjet begins.
bool KernelChooser::takes_narrow_only(const GemmShape& shape) const {
    if (shape.convolution || std::min(shape.m, shape.n) > kFewRows) return false;
    const std::int64_t most = spec_.sm.shared.most_of_cta.value();
    const auto& all = catalogue(spec_.sm.issue_of(shape.dtype), false, spec_.kernels.layers);
    return std::any_of(all.begin(), all.end(), [&](const CtaTile& one) {
        return one.wmma && one.m <= kFewRows && (one.shared_below == 0 || most < one.shared_below);
    });
}

// What such a kernel multiplies counts by what tensor cores could do meanwhile: these must not be slower.
void KernelChooser::add_gemv(const GemmShape& shape, const GemmShape& turned, std::vector<TimedKernel>& all) {
    const SmSpec& sm = spec_.sm;
    const std::int64_t macs = sm.macs(shape.dtype);
    if (shape.batch > 1 || shape.gather || (shape.m > 1 && shape.n > 1) ||
        macs * sm.fp32.interval.value() < sm.warp_threads)
        return;
    for (const CtaTile& tile : gemv_catalogue(sm.tensor.issue, shape.dtype))
        add(shape.m == 1 ? shape : turned, shape.m > 1, tile, all);
}

std::vector<TimedKernel> KernelChooser::weigh(const GemmShape& shape) {
    std::vector<TimedKernel> all = by_weight(shape);
    if (goes_by_tuned_sizes(spec_, spec_.sm.issue_of(shape.dtype))) take_tuned(shape, all);
    return all;
}

std::vector<TimedKernel> KernelChooser::by_weight(const GemmShape& shape) {
    std::vector<TimedKernel> all;
    GemmShape turned = shape;
    std::swap(turned.m, turned.n);
    const TensorIssue issue = spec_.sm.issue_of(shape.dtype);
    const bool narrow_only = takes_narrow_only(shape);
    for (const CtaTile& listed : catalogue(issue, shape.convolution, spec_.kernels.layers)) {
        if (narrow_only && std::min(listed.m, listed.n) > kFewRows) continue;
        CtaTile tile = for_operands(listed, shape.dtype, shape.blocks, issue);
        tile.persistent = tile.persistent && spec_.kernels.persistent;
        // wgmma has 64 rows at least: libraries compute a product of fewer as its transpose.
        const bool few = issue == TensorIssue::WarpGroup && shape.m < kLeastRows;
        // Rows that are gathered stay rows.
        const bool may_turn = shape.m < shape.n && !shape.gather;
        if (!few || !may_turn) add(shape, false, tile, all);
        if (may_turn) add(turned, true, tile, all);
    }
    add_gemv(shape, turned, all);
    const auto streams = [](const TimedKernel& one) { return one.kernel.streams > 0; };
    if (spec_.kernels.stream_k == StreamK::Always && std::any_of(all.begin(), all.end(), streams))
        std::erase_if(all, [&](const TimedKernel& one) { return !streams(one); });
    std::stable_sort(all.begin(), all.end(),
                     [](const TimedKernel& a, const TimedKernel& b) { return a.weight < b.weight; });
    return all;
}

}  // namespace systole::simt
