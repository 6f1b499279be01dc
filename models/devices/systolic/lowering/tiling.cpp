// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/tiling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "models/devices/systolic/lowering/tiling_candidate.h"
#include "sim/base/units.h"

namespace systole::systolic {
namespace {

/// Ways to deal matrix units over items, M and N; those of most units first, a single one last.
std::vector<Tiling> splits(const TilingRequest& r) {
    std::vector<Tiling> all;
    const std::int64_t items = r.shared_input ? 1 : std::min<std::int64_t>(r.items, r.mxus);
    for (std::int64_t units = r.mxus; units >= 1; --units)
        for (std::int64_t n = 1; n <= units; ++n)
            for (std::int64_t m = 1; m * n <= units; ++m) {
                if (units % (m * n) != 0 || units / (m * n) > items) continue;
                Tiling split;
                split.split_items = units / (m * n);
                split.split_m = m;
                split.split_n = n;
                all.push_back(split);
            }
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

/// Every tiling that fits the machine, with its estimate.
template <typename Visit>
void for_each_candidate(const TilingRequest& request, const Visit& visit) {
    const std::vector<Tiling> all_splits = splits(request);
    for (std::size_t blocking = 0; blocking < request.row_blockings.size(); ++blocking) {
        const std::int64_t rows = request.row_blockings[blocking].rows;
        for (const std::int64_t n_tiles : widths(request)) {
            const std::int64_t columns = std::min(request.n, n_tiles * request.tile.n_unit);
            if (request.tile.accumulator_rows(rows, columns) > request.accumulator_room) continue;
            for (Tiling candidate : all_splits) {
                candidate.blocking = blocking;
                candidate.n_tiles = n_tiles;
                if (!Candidate(request, candidate).worth_its_idle_units()) continue;
                for (const std::int64_t k_tiles : Candidate(request, candidate).k_tiles_per_step()) {
                    candidate.k_tiles = k_tiles;
                    for (const bool m_outer : {true, false}) {
                        candidate.m_outer = m_outer;
                        candidate.cycles = Candidate(request, candidate).cycles(candidate.k_tiles);
                        visit(candidate);
                    }
                }
            }
        }
    }
}

/// Less time by more than the estimate can tell; within that, longer steps along K, because they read longer
/// pieces of weights and inputs from each DRAM row.
bool better(const Tiling& a, const Tiling& b) {
    constexpr double kAlike = 0.005;
    if (std::abs(a.cycles - b.cycles) > kAlike * b.cycles) return a.cycles < b.cycles;
    return a.k_tiles > b.k_tiles;
}

/// How matrix units are dealt and loops nested.
auto kind_of(const Tiling& t) {
    return std::tuple(t.split_items, t.split_m, t.split_n, t.m_outer);
}

void keep_better(std::optional<Tiling>& best, const Tiling& candidate) {
    if (!best || better(candidate, *best)) best = candidate;
}

}  // namespace

std::optional<Tiling> choose_tiling(const TilingRequest& request) {
    std::optional<Tiling> best;
    for_each_candidate(request, [&](const Tiling& candidate) { keep_better(best, candidate); });
    return best;
}

Choice tiling_choice(const TilingRequest& request) {
    Choice choice;
    std::optional<Tiling> chosen;
    std::map<decltype(kind_of({})), std::optional<Tiling>> kinds;
    for_each_candidate(request, [&](const Tiling& candidate) {
        ++choice.candidates;
        keep_better(chosen, candidate);
        keep_better(kinds[kind_of(candidate)], candidate);
    });
    if (!chosen) return choice;
    // Within what the estimate can tell the best of a kind need not be the best of all.
    kinds.erase(kind_of(*chosen));
    for (const auto& [kind, best] : kinds) choice.best.push_back(*best);
    std::ranges::stable_sort(choice.best, {}, &Tiling::cycles);
    choice.best.insert(choice.best.begin(), *chosen);
    return choice;
}

std::vector<Tiling> tilings(const TilingRequest& request) {
    std::vector<Tiling> all;
    for_each_candidate(request, [&](const Tiling& tiling) { all.push_back(tiling); });
    return all;
}

TilingTime tiling_time(const TilingRequest& request, const Tiling& tiling) {
    return Candidate(request, tiling).time(tiling.k_tiles);
}

std::string obstacle(const TilingRequest& r, const Tiling& tiling) {
    const Candidate candidate(r, tiling);
    const std::int64_t units = product(product(tiling.split_items, tiling.split_m), tiling.split_n);
    if (units > r.mxus) return fmt::format("it takes {} matrix units of {}", units, r.mxus);
    if (tiling.split_items > (r.shared_input ? 1 : r.items))
        return fmt::format("{} matrix units cannot share {} {}", tiling.split_items, r.items,
                           r.shared_input ? "groups, which run one by one" : "batch items");
    const std::int64_t blocks[] = {r.row_blockings[tiling.blocking].blocks,
                                   ceil_div(r.n_tiles, tiling.n_tiles) * (r.shared_input ? r.items : 1)};
    if (tiling.split_m > blocks[0])
        return fmt::format("{} matrix units cannot share {} blocks of rows", tiling.split_m, blocks[0]);
    if (tiling.split_n > blocks[1])
        return fmt::format("{} matrix units cannot share {} blocks of columns", tiling.split_n, blocks[1]);
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
