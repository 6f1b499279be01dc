// SPDX-License-Identifier: Apache-2.0
// What chips on a ring do together.
#include <fmt/format.h>

#include "sim/workload/op_readers.h"

namespace systole {
namespace {

/// Every chip has the tensor already: no work but on the way back, where gradients are summed.
std::optional<LayerMeaning> read_replicate(LayerText& text) {
    const std::int64_t chips = read_chips(text.keys());
    if (!text.sound()) return std::nullopt;
    LayerMeaning meaning{std::nullopt, text.shape(0)};
    meaning.replicas = chips;
    return meaning;
}

}  // namespace

const std::vector<std::string>& collective_kinds() {
    static const std::vector<std::string> names = {"all_reduce", "all_gather", "reduce_scatter",
                                                   "all_to_all"};
    return names;
}

std::int64_t read_chips(Keys& keys) {
    const std::int64_t chips = keys.integer("chips", 2);
    if (chips <= kMostChips) return chips;
    keys.fail(fmt::format("'chips' must be at most {}, not {}", kMostChips, chips), "chips");
    return 2;
}

std::optional<LayerMeaning> read_collective(LayerText& text) {
    Keys& keys = text.keys();
    Collective op;
    std::vector<std::string> kinds = collective_kinds();
    kinds.emplace_back("replicate");
    const std::size_t kind = keys.choice("kind", kinds);
    if (kind == collective_kinds().size()) return read_replicate(text);
    op.kind = static_cast<Collective::Kind>(kind);
    op.chips = read_chips(keys);
    const bool whole = op.kind == Collective::Kind::AllReduce;
    if (whole && keys.has("axis"))
        keys.fail("an all_reduce has no axis: every chip gets the whole sum", "axis");
    const std::optional<std::size_t> axis = read_axis(text);
    if (!axis) return std::nullopt;
    Shape output = text.shape(0);
    const std::size_t rows = whole ? 0 : *axis;
    for (std::size_t d = 0; d < output.size(); ++d) (d < rows ? op.outer : op.row) *= output[d];
    if (op.kind == Collective::Kind::AllGather && output[*axis] > kMaxInteger / op.chips) {
        keys.fail(fmt::format("axis {} would have more than {} indices", *axis, kMaxInteger));
        return std::nullopt;
    }
    if (op.kind == Collective::Kind::AllGather) output[*axis] *= op.chips;
    if (whole || op.kind == Collective::Kind::AllGather) return LayerMeaning{op, output};
    if (output[*axis] % op.chips != 0) {
        keys.fail(fmt::format("{} chips do not divide axis {} of '{}' {}", op.chips, *axis,
                              text.operand(0).name, to_string(output)));
        return std::nullopt;
    }
    if (op.kind == Collective::Kind::ReduceScatter) output[*axis] /= op.chips;
    return LayerMeaning{op, output};
}

}  // namespace systole
