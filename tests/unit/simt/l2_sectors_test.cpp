// SPDX-License-Identifier: Apache-2.0
// Blocks of the L2 against single sectors: products whose matrices lie row by row, every row segment of every
// CTA at its address, in an L2 of sets and ways.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "models/devices/simt/machine/gemm_blocks.h"
#include "models/devices/simt/machine/stream_blocks.h"
#include "models/devices/simt/memory/l2_blocks.h"
#include "tests/unit/simt/sector_l2.h"

using namespace systole;
using namespace systole::simt;

namespace {

constexpr std::int64_t kAlign = 1 << 16, kKiB = 1024;
constexpr int kReductionThreads = 256;

/// SMs take CTAs in waves, `resident` each; all of a wave do a step, then all do the next.
struct Case {
    GemmShape shape;
    CtaTile tile;
    std::int64_t capacity, panel, split_k;
    std::int64_t sms = 16, resident = 2;
};

/// Reads that the memory did not have to serve, and what went back to it, of one run. Of bytes that CTAs ask
/// for: a row that begins within a sector has sectors of which two steps take a part each, and the second of
/// these hits would be no byte less for the memory.
struct Seen {
    double hit_rate;      ///< percent: bytes that the memory did not give, of bytes that CTAs read
    double written_back;  ///< bytes, for each 100 that CTAs read or wrote
};

Seen seen(std::int64_t read, std::int64_t written, std::int64_t fetched, std::int64_t evicted) {
    const auto percent = [](std::int64_t part, std::int64_t all) {
        return 100.0 * static_cast<double>(part) / static_cast<double>(all);
    };
    return {percent(read - fetched, read), percent(evicted, read + written)};
}

struct Layout {
    std::int64_t a, b, c, sums;
};

Layout layout_of(const GemmShape& s, std::int64_t split_k) {
    const auto behind = [](std::int64_t at, std::int64_t bytes) { return round_up(at + bytes, kAlign); };
    Layout layout{};
    layout.b = behind(layout.a, 2 * s.a_elements());
    layout.c = behind(layout.b, 2 * (s.shared_b ? 1 : s.batch) * s.n * s.k);
    layout.sums = behind(layout.c, 2 * s.batch * s.m * s.n);
    if (split_k == 1) layout.sums = layout.c;
    return layout;
}

/// CTAs [first, first + count), `sms` at a time.
template <class Each>
void each_wave(std::int64_t ctas, const Case& c, const Each& each) {
    const std::int64_t wave = c.sms * c.resident;
    for (std::int64_t first = 0; first < ctas; first += wave) each(first, std::min(ctas - first, wave));
}

/// The reference: address arithmetic of its own, row by row.
class Sectors {
public:
    explicit Sectors(const Case& c) : case_(c), at_(layout_of(c.shape, c.split_k)), l2_(c.capacity) {
        kernel_.shape = c.shape;
        kernel_.tile = c.tile;
        kernel_.split_k = c.split_k;
        kernel_.raster.panel = c.panel;
    }

    Seen run() {
        l2_.counts = {};
        read_ = written_ = 0;
        each_wave(kernel_.ctas(), case_, [&](std::int64_t first, std::int64_t count) {
            for (std::int64_t step = 0; step < kernel_.steps_of_part(); ++step)
                for (std::int64_t cta = first; cta < first + count; ++cta) load(place_of(kernel_, cta), step);
            for (std::int64_t cta = first; cta < first + count; ++cta) store(place_of(kernel_, cta));
        });
        if (case_.split_k > 1) add_sums();
        const test::SectorL2::Counts& n = l2_.counts;
        return seen(read_, written_, (n.reads - n.hits) * test::SectorL2::kSector,
                    n.written_back * test::SectorL2::kSector);
    }

private:
    void read(std::int64_t address, std::int64_t bytes) {
        read_ += bytes;
        l2_.read(address, bytes);
    }
    void write(std::int64_t address, std::int64_t bytes) {
        written_ += bytes;
        l2_.write(address, bytes);
    }
    /// NHWC: of every output pixel of the tile the channels under the step's tap, if it is one of the map.
    void gather(const CtaPlace& p, std::int64_t number) {
        const GemmShape& s = case_.shape;
        const ConvGather& g = *s.gather;
        const std::int64_t slice = number / (g.kernel_h * g.kernel_w),
                           tap = number % (g.kernel_h * g.kernel_w);
        const std::int64_t c0 = slice * case_.tile.k, c1 = std::min(g.channels, c0 + case_.tile.k);
        for (std::int64_t m = p.m * case_.tile.m; m < std::min(s.m, (p.m + 1) * case_.tile.m); ++m) {
            const std::int64_t row = m / g.out_w, image = row / g.out_h;
            const std::int64_t y = row % g.out_h * g.stride_h + tap / g.kernel_w - g.top;
            const std::int64_t x = m % g.out_w * g.stride_w + tap % g.kernel_w - g.left;
            if (y < 0 || y >= g.in_h || x < 0 || x >= g.in_w) continue;
            const std::int64_t pixel = (image * g.in_h + y) * g.in_w + x;
            read(at_.a + 2 * (pixel * g.channels + c0), 2 * (c1 - c0));
        }
        const std::int64_t k = c1 - c0, k0 = c0 * g.kernel_h * g.kernel_w + tap * k;
        for (std::int64_t n = p.n * case_.tile.n; n < std::min(s.n, (p.n + 1) * case_.tile.n); ++n)
            read(at_.b + 2 * (n * s.k + k0), 2 * k);
    }
    void load(const CtaPlace& p, std::int64_t step) {
        const std::int64_t of_part = p.part * kernel_.steps_of_part() + step;
        if (case_.shape.gather && of_part >= kernel_.steps()) return;
        if (case_.shape.gather) return gather(p, of_part);
        const GemmShape& s = case_.shape;
        const CtaTile& t = case_.tile;
        const std::int64_t number = p.part * kernel_.steps_of_part() + step;
        const std::int64_t k0 = number * t.k, k1 = std::min(s.k, k0 + t.k);
        if (k0 >= k1) return;
        for (std::int64_t m = p.m * t.m; m < std::min(s.m, (p.m + 1) * t.m); ++m)
            read(at_.a + 2 * ((p.batch * s.m + m) * s.k + k0), 2 * (k1 - k0));
        for (std::int64_t n = p.n * t.n; n < std::min(s.n, (p.n + 1) * t.n); ++n)
            read(at_.b + 2 * (((s.shared_b ? 0 : p.batch) * s.n + n) * s.k + k0), 2 * (k1 - k0));
    }
    void store(const CtaPlace& p) {
        const GemmShape& s = case_.shape;
        const CtaTile& t = case_.tile;
        const bool split = case_.split_k > 1;
        const std::int64_t matrix = split ? p.part * s.batch + p.batch : p.batch, size = split ? 4 : 2;
        const std::int64_t n0 = p.n * t.n, n1 = std::min(s.n, n0 + t.n);
        for (std::int64_t m = p.m * t.m; m < std::min(s.m, (p.m + 1) * t.m); ++m)
            write((split ? at_.sums : at_.c) + size * ((matrix * s.m + m) * s.n + n0), size * (n1 - n0));
    }
    /// A second kernel: each CTA adds some elements of all parts.
    void add_sums() {
        const GemmShape& s = case_.shape;
        const std::int64_t elements = s.batch * s.m * s.n, of_cta = kReductionThreads * 4;
        each_wave(ceil_div(elements, of_cta), case_, [&](std::int64_t first, std::int64_t count) {
            const std::int64_t begin = first * of_cta, end = std::min(elements, (first + count) * of_cta);
            for (std::int64_t at = begin; at < end; at += of_cta)
                for (std::int64_t part = 0; part < case_.split_k; ++part)
                    read(at_.sums + 4 * (part * elements + at), 4 * std::min(of_cta, end - at));
            write(at_.c + 2 * begin, 2 * (end - begin));
        });
    }

    const Case case_;
    GemmKernel kernel_;
    const Layout at_;
    test::SectorL2 l2_;
    std::int64_t read_ = 0, written_ = 0;
};

/// The model: blocks of groups of SMs, each asked for once with how many take it.
class Blocks {
public:
    explicit Blocks(const Case& c) : case_(c), l2_(spec(c.capacity), Bytes(4 * kKiB)) {
        const Layout at = layout_of(c.shape, c.split_k);
        const GemmShape& s = c.shape;
        gemm_.kernel.shape = s;
        gemm_.kernel.tile = c.tile;
        gemm_.kernel.split_k = c.split_k;
        gemm_.kernel.raster.panel = c.panel;
        gemm_.a = {at.a, Operand::Activations, Bytes(2 * s.a_elements()), Bytes(0)};
        gemm_.b = {at.b, Operand::Weights, Bytes(2 * (s.shared_b ? 1 : s.batch) * s.n * s.k), Bytes(0)};
        gemm_.c = {at.c, Operand::Outputs, Bytes(2 * s.batch * s.m * s.n), Bytes(0)};
        gemm_.sums = {at.sums, Operand::PartialSums, Bytes(4 * c.split_k * s.batch * s.m * s.n), Bytes(0)};
        sum_.ctas = ceil_div(s.batch * s.m * s.n, kReductionThreads * 4);
        sum_.from = gemm_.sums;
        sum_.to = gemm_.c;
    }

    Seen run() {
        read_ = written_ = fetched_ = evicted_ = 0;
        run_kernel(GemmBlocks(gemm_));
        if (case_.split_k > 1) run_kernel(StreamBlocks(sum_));
        return seen(read_, written_, fetched_, evicted_);
    }

private:
    static L2Spec spec(std::int64_t capacity) {
        L2Spec spec;
        spec.capacity = spec.usable = Bytes(capacity);
        spec.ways = test::SectorL2::kWays;
        spec.line = Bytes(128);
        spec.sector = Bytes(32);
        return spec;
    }
    /// As KernelRun gives CTAs to groups: of one place of all SMs, those that have as many steps.
    std::vector<CtaRange> groups(const CtaWork& work, std::int64_t first, std::int64_t count) const {
        std::vector<CtaRange> all;
        for (std::int64_t cta = first; cta < first + count; ++cta) {
            const bool new_place = (cta - first) % case_.sms == 0;
            if (new_place || work.steps(cta) != work.steps(cta - 1)) all.push_back({cta, 0});
            ++all.back().count;
        }
        return all;
    }
    void run_kernel(const CtaWork& work) {
        each_wave(work.ctas(), case_, [&](std::int64_t first, std::int64_t count) {
            const std::vector<CtaRange> ranges = groups(work, first, count);
            std::int64_t steps = 0;
            for (const CtaRange& range : ranges) steps = std::max(steps, work.steps(range.first));
            for (std::int64_t step = 0; step < steps; ++step)
                for (const CtaRange& range : ranges)
                    if (step < work.steps(range.first)) touch(work.reads(range, step), false);
            for (const CtaRange& range : ranges) touch(work.writes(range), true);
        });
    }
    void touch(const TileAccess& access, bool write) {
        for (const TileAccess::Block& block : access.blocks) {
            (write ? written_ : read_) += block.taken() * block.sms;
            L2Blocks::Traffic traffic;
            if (write)
                l2_.write(block.address, block.bytes, block.operand, traffic, block.matrix);
            else
                l2_.read(block.address, block.bytes, block.operand, traffic, block.matrix);
            for (const SectorRange& range : traffic.fetched) fetched_ += range.bytes;
            for (const SectorRange& range : traffic.evicted) evicted_ += range.bytes;
        }
    }

    const Case case_;
    GemmPlan gemm_;
    StreamPlan sum_;
    L2Blocks l2_;
    std::int64_t read_ = 0, written_ = 0, fetched_ = 0, evicted_ = 0;
};

GemmShape shape(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1,
                bool shared_b = true) {
    return {batch, m, n, k, DType::Bf16, DType::Bf16, shared_b};
}

CtaTile tile(std::int64_t m, std::int64_t n, std::int64_t k) {
    CtaTile tile;
    tile.m = m;
    tile.n = n;
    tile.k = k;
    return tile;
}

Case conv(const Conv2d& conv, const CtaTile& tile, std::int64_t capacity, std::int64_t split_k = 1) {
    GemmShape s = shape(conv.pixels(), conv.out_c, conv.taps() * conv.in_c);
    s.gather = gather_of(conv, loads_of(16));
    return {s, tile, capacity, 8, split_k, 8, 1};
}

std::vector<Case> cases() {
    const CtaTile square = tile(128, 128, 32), tall = tile(256, 64, 64), wide = tile(64, 256, 32);
    std::vector<Case> all;
    // From products that the L2 holds to more than four times as much; down panels of one tile, of eight, and
    // along n.
    for (const std::int64_t capacity : {768 * kKiB, 1024 * kKiB, 1280 * kKiB, 6144 * kKiB})
        for (const std::int64_t panel : {1, 8, 1000}) {
            all.push_back({shape(1024, 1024, 512), square, capacity, panel, 1});
            all.push_back({shape(777, 1301, 513), tall, capacity, panel, 1});
        }
    for (const std::int64_t panel : {2, 1000}) {
        all.push_back({shape(2048, 512, 1024), wide, 1024 * kKiB, panel, 1});
        all.push_back({shape(512, 2048, 1000), tall, 1024 * kKiB, panel, 1, 13, 1});
        all.push_back({shape(128, 4096, 1024), square, 2048 * kKiB, panel, 1});
        all.push_back({shape(300, 300, 200, 8, false), square, 512 * kKiB, panel, 1});
        all.push_back({shape(300, 300, 200, 8, true), square, 512 * kKiB, panel, 1});
        all.push_back({shape(512, 512, 2048), square, 1024 * kKiB, panel, 4});
        all.push_back({shape(257, 511, 3001), square, 1024 * kKiB, panel, 3});
        all.push_back({shape(256, 256, 4096), square, 4096 * kKiB, panel, 8});
    }
    return all;
}

std::string text(const Case& c, int run) {
    const auto& s = c.shape;
    return std::to_string(s.batch) + "x" + std::to_string(s.m) + "x" + std::to_string(s.n) + "x" +
           std::to_string(s.k) + " in " + std::to_string(c.capacity / kKiB) + " KiB, tile " +
           std::to_string(c.tile.m) + "x" + std::to_string(c.tile.n) + ", panel " + std::to_string(c.panel) +
           ", split " + std::to_string(c.split_k) + ", run " + std::to_string(run);
}

/// Both, twice: what a run leaves is there for the next.
void compare(const Case& c) {
    Sectors sectors(c);
    Blocks blocks(c);
    for (const int run : {1, 2}) {
        const Seen exact = sectors.run(), seen = blocks.run();
        INFO(text(c, run));
        CAPTURE(exact.hit_rate, seen.hit_rate, exact.written_back, seen.written_back);
        CHECK(std::abs(seen.hit_rate - exact.hit_rate) <= 2);
        CHECK(std::abs(seen.written_back - exact.written_back) <= 2);
    }
}

}  // namespace

TEST_CASE("The memory serves as much of products behind blocks of the L2 as behind sectors in sets",
          "[simt]") {
    CHECK(cases().size() >= 30);
    for (const Case& c : cases()) compare(c);
}

// Maps from half of the L2 to eight times as much: taps find each other's lines, tiles their neighbours'
// rows.
TEST_CASE("The memory serves as much of convolutions behind blocks as behind sectors in sets", "[simt]") {
    const CtaTile square = tile(128, 128, 64), tall = tile(256, 64, 64), narrow = tile(128, 64, 32);
    for (const std::int64_t capacity : {512 * kKiB, 1024 * kKiB, 4096 * kKiB}) {
        compare(conv({2, 56, 56, 64, 64, 3, 3, 1, 1}, tall, capacity));
        compare(conv({2, 28, 28, 128, 128, 3, 3, 1, 1}, square, capacity));
        compare(conv({2, 56, 56, 64, 128, 3, 3, 2, 1}, square, capacity));
        compare(conv({4, 14, 14, 256, 256, 3, 3, 1, 1}, square, capacity, 2));
        compare(conv({1, 37, 41, 96, 70, 5, 3, 1, 2}, narrow, capacity));
        compare(conv({8, 7, 7, 512, 256, 3, 3, 1, 1}, narrow, capacity, 4));
    }
}

// A set of 19 MB, most of it read once a run: what is left of it for the next run is a matter of sets that
// run over one by one.
TEST_CASE("A replay that fills the L2 is served as by sets of lines", "[simt]") {
    const std::int64_t set = (128 * 1024 + 8192 * 1024 + 128 * 8192) * 2;
    double last = 100;
    for (const int percent : {60, 80, 90, 100, 110, 125, 140, 160, 200}) {
        const std::int64_t capacity = round_up(set * 100 / percent, 4 * kKiB);
        const Case c{shape(128, 8192, 1024), tile(128, 128, 32), capacity, 8, 1};
        compare(c);
        Blocks blocks(c);
        blocks.run();
        const double rate = blocks.run().hit_rate;
        CHECK(rate <= last + 1);
        last = rate;
    }
}
