// SPDX-License-Identifier: Apache-2.0
// Which part of a matrix operator each core does. The mapper is asked for every way to deal it, with the
// core's share of the memory's bandwidth, and the shortest estimate wins. K is not dealt: partial sums of
// four bytes would cross the memory twice and meet on one core.
#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/lowering/gemm.h"
#include "models/devices/systolic/lowering/tiling_variants.h"
#include "sim/base/error.h"

namespace systole::systolic {
namespace {

/// A way to deal must be better than one before it by more than the estimate can tell.
constexpr double kAlike = 0.005;

/// Heads lie between each other: whoever deals attention deals its items.
bool rows_divide(const Layer& layer) {
    return !std::holds_alternative<Attention>(layer.op);
}

/// Ways to deal the problem that leave no core without work, the likeliest first; all of it to one core last.
std::vector<CoreSplit> ways(const Layer& layer, const GemmProblem& p, int cores) {
    std::vector<CoreSplit> all;
    if (p.items >= cores) all.push_back(CoreSplit::Items);
    if (rows_divide(layer) && p.m >= cores) all.push_back(CoreSplit::M);
    if (ceil_div(p.n, p.tile.n_unit) >= cores) all.push_back(CoreSplit::N);
    all.push_back(CoreSplit::None);
    return all;
}

/// Whether tensors that stay in the scratchpads leave no choice.
bool touches_residents(const Workspace& workspace, const Layer& layer) {
    const auto resident = [&](TensorId tensor) { return workspace.flow.resident(tensor); };
    return resident(layer.output) || std::ranges::any_of(layer.inputs, resident);
}

/// The way that shares all activations evenly.
CoreSplit even_way(const Layer& layer, const GemmProblem& p) {
    return p.stored_weights && p.experts == 0 && rows_divide(layer) ? CoreSplit::M : CoreSplit::Items;
}

CoreSplit way_by_hand(const Workspace& workspace, const Layer& layer, const GemmProblem& p,
                      const LayerMapping& wanted) {
    const int cores = workspace.core.count;
    const auto refuse = [&](const std::string& why) {
        throw UserError(wanted.where, fmt::format("the mapping of '{}' does not fit: {}", layer.name, why));
    };
    const std::vector<CoreSplit> possible = ways(layer, p, cores);
    if (cores == 1 && wanted.cores != CoreSplit::None) refuse("one core is at work");
    if (std::ranges::find(possible, wanted.cores) == possible.end())
        refuse(fmt::format("{} cores cannot share its {} (cores: {})", cores,
                           wanted.cores == CoreSplit::M   ? fmt::format("{} rows", p.m)
                           : wanted.cores == CoreSplit::N ? fmt::format("{} columns", p.n)
                                                          : fmt::format("{} batch items", p.items),
                           to_string(wanted.cores)));
    if (touches_residents(workspace, layer) && cores > 1 && wanted.cores != even_way(layer, p))
        refuse(fmt::format(
            "it reads or writes tensors that stay in the scratchpads, which cores share by {} "
            "(cores: {})",
            even_way(layer, p) == CoreSplit::M ? "rows" : "batch items", to_string(even_way(layer, p))));
    return wanted.cores;
}

GemmMapping map_dealt(const Workspace& workspace, const Layer& layer, GemmProblem& p, CoreSplit way) {
    deal(p, way, {0, workspace.core.count});
    GemmMapping mapping = map_share(workspace, layer, p);
    mapping.cores = way;
    for (LayerMapping& variant : mapping.variants) variant.cores = way;
    return mapping;
}

/// What cores deal in another part of the layer, which took long to choose, or are to try.
std::optional<CoreSplit> known_way(const Workspace& workspace, const Layer& layer, const GemmProblem& p) {
    const bool later_part = layer.slice && layer.slice->index > 0;
    const LayerMappings* const known = later_part ? &workspace.chip.used.layers : workspace.chip.tried;
    if (!known) return std::nullopt;
    const auto found = known->find(whole_name(layer));
    if (found == known->end()) return std::nullopt;
    const std::vector<CoreSplit> possible = ways(layer, p, workspace.core.count);
    if (std::ranges::find(possible, found->second.cores) == possible.end()) return std::nullopt;
    return found->second.cores;
}

/// What to try besides `chosen`: first, as what differs most, the best of the other ways to deal the layer.
void add_ways(const Workspace& workspace, std::vector<GemmMapping> others, GemmMapping& chosen) {
    if (chosen.variants.empty()) return;
    const double most = (1 + kDoubt) * chosen.tiling.cycles;
    std::ranges::stable_sort(others, {}, [](const GemmMapping& other) { return other.tiling.cycles; });
    auto place = chosen.variants.begin() + 1;
    for (const GemmMapping& other : others)
        if (other.cores != chosen.cores && other.tiling.cycles <= most && !other.variants.empty())
            place = chosen.variants.insert(place, other.variants.front()) + 1;
    if (chosen.variants.size() > workspace.chip.most_variants)
        chosen.variants.resize(workspace.chip.most_variants);
}

/// For the first core, whose share is the largest.
GemmMapping choose_mapping(const Workspace& workspace, const Layer& layer, GemmProblem& p) {
    if (workspace.chip.mapping) {
        const auto wanted = workspace.chip.mapping->layers.find(whole_name(layer));
        if (wanted != workspace.chip.mapping->layers.end())
            return map_dealt(workspace, layer, p, way_by_hand(workspace, layer, p, wanted->second));
    }
    const int cores = workspace.core.count;
    if (cores == 1) return map_dealt(workspace, layer, p, CoreSplit::None);
    if (touches_residents(workspace, layer)) return map_dealt(workspace, layer, p, even_way(layer, p));
    if (const auto way = known_way(workspace, layer, p)) return map_dealt(workspace, layer, p, *way);
    std::optional<GemmMapping> best;
    std::vector<MappingChoice>* const told = workspace.chip.choices;
    MappingChoice chosen;
    std::vector<std::pair<std::string_view, double>> weighed;
    std::vector<GemmMapping> all;
    for (const CoreSplit way : ways(layer, p, cores)) {
        const GemmMapping& mapping = all.emplace_back(map_dealt(workspace, layer, p, way));
        MappingChoice choice;
        if (told) choice = std::move(told->back()), told->pop_back();
        const bool better = !best || mapping.tiling.cycles < (1 - kAlike) * best->tiling.cycles;
        weighed.insert(better ? weighed.begin() : weighed.end(), {to_string(way), mapping.tiling.cycles});
        if (better) best = mapping, chosen = std::move(choice);
    }
    if (told) told->push_back(std::move(chosen)), told->back().cores = std::move(weighed);
    add_ways(workspace, std::move(all), *best);
    return *best;
}

}  // namespace

void deal(GemmProblem& p, CoreSplit split, const CoreShare& core) {
    const CoreShare all{};
    p.share = {{0, p.items}, {0, p.n}, 0, split == CoreSplit::None ? 1 : core.count, 1};
    p.source->share(split == CoreSplit::M ? core : all);
    p.share.m = p.source->shared_rows();
    if (split == CoreSplit::Items) p.share.items = core.of(p.items);
    if (split == CoreSplit::N) {
        const Range units = core.of(ceil_div(p.n, p.tile.n_unit));
        const std::int64_t begin = std::min(p.n, units.begin * p.tile.n_unit);
        p.share.n = {begin, std::min(p.n, units.end() * p.tile.n_unit) - begin};
    }
    if (split == CoreSplit::None && core.index > 0) p.share.items.count = 0;
    if (split != CoreSplit::None) p.share.part = 1.0 / core.count;
}

GemmMapping map_gemm(const Workspace& workspace, const Layer& layer, GemmProblem& p) {
    auto& known = workspace.chip.cuts[{layer.name, p.part}];
    if (!known) known = std::make_shared<const GemmMapping>(choose_mapping(workspace, layer, p));
    deal(p, known->cores, workspace.core);
    p.source->cut(known->rows);
    return *known;
}

}  // namespace systole::systolic
