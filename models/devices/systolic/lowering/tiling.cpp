// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/tiling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/checked.h"
#include "sim/base/units.h"

namespace systole::systolic {
namespace {

/// Opening a DRAM row costs as much as so many bytes from it: FAW and the row bus let a pseudo-channel of
/// HBM2 open one every four to seven clocks, of which each moves 16 bytes. A row-major input cut along K is
/// read in pieces, and uses only a part of each row that it opens.
constexpr double kRowOpening = 128;
constexpr double kRowBytes = 1024;

/// The share of the shorter of memory and compute time that overlap does not hide. Small enough never to
/// decide against the longer one; it makes the mapper spare traffic, and streams long, where compute time is
/// equal.
constexpr double kExposed = 0.125;

/// Stands for sizes that leave 64 bits (windows far apart cover more than there is): no buffer holds them.
constexpr std::int64_t kBeyond = std::numeric_limits<std::int64_t>::max();

std::int64_t product(std::int64_t a, std::int64_t b) {
    return checked_mul(a, b).value_or(kBeyond);
}

std::int64_t sum(std::int64_t a, std::int64_t b) {
    return checked_add(a, b).value_or(kBeyond);
}

std::int64_t aligned(std::int64_t bytes, std::int64_t alignment) {
    return bytes > kBeyond - alignment ? kBeyond : round_up(bytes, alignment);
}

class Candidate {
public:
    Candidate(const TilingRequest& request, const Tiling& tiling)
        : r_(request), t_(tiling), b_(request.row_blockings[tiling.blocking]) {
        const std::int64_t groups = r_.shared_input ? r_.items : 1;
        n_blocks_ = ceil_div(r_.n_tiles, t_.n_tiles) * groups;
        item_rounds_ = r_.shared_input ? 1 : ceil_div(r_.items, t_.split_items);
        m_rounds_ = ceil_div(b_.blocks, t_.split_m);
        n_rounds_ = ceil_div(n_blocks_, t_.split_n);
    }

    std::int64_t input_step(std::int64_t k_tiles) const {
        if (r_.input_capacity == 0) return 0;
        const std::int64_t block = b_.k_tile_bytes ? product(b_.k_tile_bytes, k_tiles) : b_.tile_bytes;
        return product(t_.split_items * t_.split_m, aligned(block, r_.alignment));
    }
    std::int64_t weight_step(std::int64_t k_tiles) const {
        const std::int64_t tiles =
            r_.weight_capacity > 0 ? product(product(t_.n_tiles, k_tiles), r_.weight_tile_bytes) : 0;
        const std::int64_t beside = product(t_.n_tiles, r_.parameter_bytes);
        return product(t_.split_items * t_.split_n,
                       sum(aligned(tiles, r_.alignment), aligned(beside, r_.alignment)));
    }
    bool fits(std::int64_t k_tiles) const {
        return input_step(k_tiles) <= r_.input_capacity / 2 &&
               weight_step(k_tiles) <=
                   (r_.weight_capacity > 0 ? r_.weight_capacity : r_.parameter_capacity) / 2;
    }

    /// K tiles of a step, evenly dealt: one, two, four and so on, up to as many as fit. Where a step gains by
    /// length only as many as fit, and all. Empty if not even one fits.
    std::vector<std::int64_t> k_tiles_per_step() const {
        std::vector<std::int64_t> all;
        for (std::int64_t most = 1; fits(most); most *= 2) {
            all.push_back(ceil_div(r_.k_tiles, ceil_div(r_.k_tiles, most)));
            if (most >= r_.k_tiles) break;
        }
        if (all.empty() || !gains_by_length()) return all;
        return {fits(r_.k_tiles) ? r_.k_tiles : all.back(), all.back()};
    }

    double cycles(std::int64_t k_tiles) const {
        const double memory = r_.dram_bytes_per_cycle > 0 ? 1 / r_.dram_bytes_per_cycle : 0;
        const auto first = static_cast<double>(input_step(k_tiles) + weight_step(k_tiles)) * memory;
        const auto drain = static_cast<double>(b_.rows) / static_cast<double>(r_.drain_rows);
        const double ends = first + static_cast<double>(r_.array_rows + r_.array_cols) + drain;
        const double loads =
            dram_bytes(k_tiles) * memory + descriptors(k_tiles) * static_cast<double>(r_.dma_setup_cycles);
        const auto [less, more] = std::minmax({loads, compute_cycles(k_tiles)});
        return more + kExposed * less + ends;
    }

private:
    /// Where outputs stay in the array, a step is a pass, whose ends are paid once; where memory takes no
    /// time, nothing is gained by bringing less.
    bool gains_by_length() const {
        return r_.direct && (r_.dataflow == Dataflow::OutputStationary || r_.dram_bytes_per_cycle == 0);
    }
    /// How much longer the input takes because of the rows that are opened for parts of them.
    double row_openings(std::int64_t k_tiles) const {
        if (b_.k_tile_bytes == 0 || b_.tile_bytes == 0) return 1;
        const double used =
            std::min(1.0, static_cast<double>(b_.k_tile_bytes) * static_cast<double>(k_tiles) /
                              static_cast<double>(b_.tile_bytes));
        return (1 + kRowOpening / (kRowBytes * used)) / (1 + kRowOpening / kRowBytes);
    }
    /// A pass over one output tile: T vectors stream, a tile of R rows is shifted in (os: out).
    double pass_cycles(double vectors) const {
        const auto rows = static_cast<double>(r_.array_rows), cols = static_cast<double>(r_.array_cols);
        const auto port = static_cast<double>(r_.weight_port_cycles);
        const auto streams = static_cast<double>(t_.split_items * t_.split_m);
        double each = std::max(1.0, streams / static_cast<double>(r_.activation_ports));
        double shift = std::max(rows, port);
        if (r_.dataflow == Dataflow::OutputStationary) {
            each *= std::max(1.0, port / rows);
            shift = rows;
        }
        const double stream = vectors * std::max(each, static_cast<double>(r_.vector_cycles));
        if (r_.shadow_register) return std::max(stream, shift);
        return stream + shift + (r_.direct ? rows + cols - 2 : 0.0);
    }
    double compute_cycles(std::int64_t k_tiles) const {
        const double n_tiles = static_cast<double>(r_.n_tiles * (r_.shared_input ? r_.items : 1)) /
                               static_cast<double>(n_blocks_);  // of a block
        const auto rounds = static_cast<double>(item_rounds_ * m_rounds_ * n_rounds_);
        const auto m_tiles = static_cast<double>(r_.tile.m_tiles(b_.rows));
        const auto folds = static_cast<double>(r_.k_tiles);
        if (r_.dataflow == Dataflow::InputStationary) {
            const double vectors =
                std::min(static_cast<double>(r_.n), n_tiles * static_cast<double>(r_.tile.n_unit));
            return rounds * folds * m_tiles * pass_cycles(vectors);
        }
        if (r_.dataflow == Dataflow::OutputStationary) {
            const auto steps = static_cast<double>(ceil_div(r_.k_tiles, k_tiles));
            return rounds * steps * n_tiles * m_tiles *
                   pass_cycles(static_cast<double>(r_.k_vectors) / steps);
        }
        return rounds * folds * n_tiles * pass_cycles(static_cast<double>(b_.rows));
    }
    double dram_bytes(std::int64_t k_tiles) const {
        const auto items = static_cast<double>(r_.items);
        const double input = static_cast<double>(b_.load_bytes) * (r_.shared_input ? 1 : items);
        const double weights = items * static_cast<double>(r_.n_tiles * r_.k_tiles * r_.weight_tile_bytes);
        return input * input_reads() * row_openings(k_tiles) + weights * weight_reads() +
               static_cast<double>(r_.output_bytes);
    }
    /// One for each column of weight tiles, and for each block of inputs, of a step.
    double descriptors(std::int64_t k_tiles) const {
        const auto steps = static_cast<double>(r_.items * ceil_div(r_.k_tiles, k_tiles));
        const double inputs =
            b_.k_tile_bytes > 0 ? steps : static_cast<double>(r_.shared_input ? 1 : r_.items);
        return (r_.weight_capacity > 0 ? static_cast<double>(r_.n_tiles) * steps * weight_reads() : 0) +
               static_cast<double>(b_.blocks) * inputs * input_reads();
    }
    double input_reads() const {
        if (r_.input_capacity == 0) return 0;
        const double kept = static_cast<double>(t_.split_items) *
                            static_cast<double>(t_.m_outer ? 2 * t_.split_m * b_.tile_bytes : b_.load_bytes);
        return kept <= static_cast<double>(r_.input_capacity) ? 1 : static_cast<double>(n_rounds_);
    }
    double weight_reads() const {
        if (r_.weight_capacity == 0) return static_cast<double>(b_.blocks);
        const std::int64_t tiles =
            t_.m_outer ? r_.n_tiles * (r_.shared_input ? r_.items : 1) : 2 * t_.split_n * t_.n_tiles;
        const double kept = static_cast<double>(t_.split_items * tiles * r_.k_tiles) *
                            static_cast<double>(r_.weight_tile_bytes);
        return kept <= static_cast<double>(r_.weight_capacity) ? 1 : static_cast<double>(m_rounds_);
    }

    const TilingRequest& r_;
    const Tiling& t_;
    const RowBlocking& b_;
    std::int64_t n_blocks_ = 1, item_rounds_ = 1, m_rounds_ = 1, n_rounds_ = 1;
};

/// Ways to deal the matrix units over items, M and N: all of them busy, or (last) a single one.
std::vector<Tiling> splits(const TilingRequest& r) {
    std::vector<Tiling> all;
    for (std::int64_t n = 1; n <= r.mxus; ++n) {
        for (std::int64_t m = 1; m <= r.mxus / n; ++m) {
            if (r.mxus % (n * m) != 0) continue;
            Tiling split;
            split.split_items = r.mxus / (n * m);
            split.split_m = m;
            split.split_n = n;
            if (split.split_items > 1 && (r.shared_input || split.split_items > r.items)) continue;
            all.push_back(split);
        }
    }
    if (r.mxus > 1) all.push_back(Tiling{});
    return all;
}

/// How many columns a block may have, in units. Where operands come straight out of the scratchpad, the
/// widest first: streamed columns (is) fill the array longest, and rows of results leave whole. Otherwise the
/// narrowest, whose weights wait least.
std::vector<std::int64_t> widths(const TilingRequest& r) {
    std::vector<std::int64_t> all;
    for (std::int64_t n_tiles = 1; n_tiles <= r.n_tiles; n_tiles *= 2) all.push_back(n_tiles);
    if (!r.direct) return all;
    if (all.back() != r.n_tiles) all.push_back(r.n_tiles);
    std::reverse(all.begin(), all.end());
    return all;
}

/// Less time by more than the estimate can tell; within that, longer steps along K, because they read longer
/// pieces of weights and inputs from each DRAM row.
bool better(const Tiling& a, const Tiling& b) {
    constexpr double kAlike = 0.005;
    if (std::abs(a.cycles - b.cycles) > kAlike * b.cycles) return a.cycles < b.cycles;
    return a.k_tiles > b.k_tiles;
}

}  // namespace

std::optional<Tiling> choose_tiling(const TilingRequest& request) {
    std::optional<Tiling> best;
    const std::vector<Tiling> all_splits = splits(request);
    for (std::size_t blocking = 0; blocking < request.row_blockings.size(); ++blocking) {
        const std::int64_t rows = request.row_blockings[blocking].rows;
        for (const std::int64_t n_tiles : widths(request)) {
            const std::int64_t columns = std::min(request.n, n_tiles * request.tile.n_unit);
            if (request.tile.accumulator_rows(rows, columns) > request.accumulator_room) continue;
            for (Tiling candidate : all_splits) {
                candidate.blocking = blocking;
                candidate.n_tiles = n_tiles;
                for (const std::int64_t k_tiles : Candidate(request, candidate).k_tiles_per_step()) {
                    candidate.k_tiles = k_tiles;
                    for (const bool m_outer : {true, false}) {
                        candidate.m_outer = m_outer;
                        candidate.cycles = Candidate(request, candidate).cycles(candidate.k_tiles);
                        if (!best || better(candidate, *best)) best = candidate;
                    }
                }
            }
        }
    }
    return best;
}

std::string obstacle(const TilingRequest& r, const Tiling& tiling) {
    const Candidate candidate(r, tiling);
    const std::int64_t units = product(product(tiling.split_items, tiling.split_m), tiling.split_n);
    if (units > r.mxus) return fmt::format("it takes {} matrix units of {}", units, r.mxus);
    if (tiling.split_items > (r.shared_input ? 1 : r.items))
        return fmt::format("{} matrix units cannot share {} {}", tiling.split_items, r.items,
                           r.shared_input ? "groups, which run one by one" : "batch items");
    const std::int64_t columns = std::min(r.n, tiling.n_tiles * r.tile.n_unit);
    const std::int64_t rows = r.tile.accumulator_rows(r.row_blockings[tiling.blocking].rows, columns);
    if (rows > r.accumulator_room)
        return fmt::format("a block takes {} accumulator rows of {}, as two must fit", rows,
                           r.accumulator_room);
    if (candidate.fits(tiling.k_tiles)) return "";
    return fmt::format(
        "two steps need {} B of placement.input_buffer ({} B) and {} B of "
        "placement.weight_buffer ({} B)",
        product(2, candidate.input_step(tiling.k_tiles)), r.input_capacity,
        product(2, candidate.weight_step(tiling.k_tiles)),
        r.weight_capacity > 0 ? r.weight_capacity : r.parameter_capacity);
}

LeastBuffers least_buffers(const TilingRequest& request) {
    LeastBuffers least{kBeyond, kBeyond};
    for (std::size_t blocking = 0; blocking < request.row_blockings.size(); ++blocking) {
        Tiling tiling;
        tiling.blocking = blocking;
        const Candidate candidate(request, tiling);
        least.input = std::min(least.input, product(2, candidate.input_step(1)));
        least.weights = std::min(least.weights, product(2, candidate.weight_step(1)));
    }
    return least;
}

}  // namespace systole::systolic
