// SPDX-License-Identifier: Apache-2.0
// How the mapping of a matrix operator is told: to files, to results, and to who asks why.
#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/lowering/gemm.h"

namespace systole::systolic {
namespace {

/// All but the rows of a block, and what cores deal.
LayerMapping mapping_of_cut(const GemmProblem& p, const Tiling& t) {
    LayerMapping used;
    used.columns = std::min(p.share.n.count, t.n_tiles * p.tile.n_unit);
    const std::int64_t tiles = std::min<std::int64_t>(t.k_tiles, static_cast<std::int64_t>(p.k_tiles.size()));
    used.depth = p.k_tiles[static_cast<std::size_t>(tiles - 1)].end();
    used.over_batch = t.split_items, used.over_m = t.split_m, used.over_n = t.split_n;
    used.m_outer = t.m_outer;
    return used;
}

}  // namespace

LayerMapping used_mapping(const GemmProblem& p, const GemmMapping& mapping) {
    LayerMapping used = mapping_of_cut(p, mapping.tiling);
    used.rows = p.source->rows(0).count;
    used.cores = mapping.cores;
    return used;
}

LayerMapping mapping_of_tiling(const GemmProblem& p, const TilingRequest& r, const Tiling& tiling) {
    LayerMapping mapping = mapping_of_cut(p, tiling);
    mapping.rows = r.row_blockings[tiling.blocking].rows;
    return mapping;
}

/// The candidates, as the operator is cut by them.
MappingChoice mapping_choice(const Layer& layer, const GemmProblem& p, const TilingRequest& r) {
    const Choice choice = tiling_choice(r);
    MappingChoice told{layer.name, choice.candidates, {}};
    for (const Tiling& t : choice.best) {
        const LayerMapping m = mapping_of_tiling(p, r, t);
        told.best.push_back(
            {m.over_batch, m.over_m, m.over_n, m.rows, m.columns, m.depth, m.m_outer, tiling_time(r, t)});
    }
    return told;
}

std::string describe_mapping(const GemmProblem& p, const GemmMapping& mapping) {
    static constexpr const char* kOver[] = {"", "M", "N", "batch"};
    const Tiling& t = mapping.tiling;
    const std::int64_t units = t.split_items * t.split_m * t.split_n;
    std::string text;
    if (mapping.cores != CoreSplit::None)
        text = fmt::format("{} cores over {}, each ", p.share.cores,
                           p.groups && mapping.cores == CoreSplit::Items
                               ? "groups"
                               : kOver[static_cast<std::size_t>(mapping.cores)]);
    text += fmt::format("{} MXU{}: ", units, units == 1 ? "" : "s");
    if (units > 1) {
        if (t.split_items > 1) text += fmt::format("{} over batch x ", t.split_items);
        text += fmt::format("{} over M x {} over N; ", t.split_m, t.split_n);
    }
    const std::int64_t last =
        std::min<std::int64_t>(t.k_tiles, static_cast<std::int64_t>(p.k_tiles.size())) - 1;
    text += fmt::format("blocks {} x {} x {}; {} outer", p.source->rows(0).count,
                        std::min(p.share.n.count, t.n_tiles * p.tile.n_unit),
                        p.k_tiles[static_cast<std::size_t>(last)].end(), t.m_outer ? "m" : "n");
    if (p.groups && p.items > 1) text += fmt::format("; {} groups one by one", p.share.items.count);
    return text;
}

}  // namespace systole::systolic
