// SPDX-License-Identifier: Apache-2.0
// How stored weights get into the arrays: as they are; unpacked, where they are narrow, have scales of groups
// or were stored without their zeros; or as the kept ones of a pattern that the arrays know.
#include <fmt/format.h>

#include <numeric>

#include "models/devices/systolic/lowering/gemm.h"

namespace systole::systolic {
namespace {

/// What weights have to be on their way in, or "" if the array takes them as they are.
std::string needed(const Workspace& workspace, const GemmProblem& p) {
    const DType dtype = workspace.dtype(p.second), input = workspace.dtype(p.input);
    if (p.format.scales == Scales::Group) return "multiplied by their groups' scales";
    if (p.format.sparse() && p.sparsity == 1)
        return fmt::format("filled up with the zeros that {}:{} leaves out", p.format.kept, p.format.of);
    // Narrower numbers become wider ones on their way, unless the arrays have a rate for both; others go in
    // as they are, if at all.
    const bool can_be = bits_of(dtype) < bits_of(input) && (is_floating(input) || !is_floating(dtype));
    const auto pair = workspace.spec.mxu.mixed_rate.find({input, dtype});
    const bool taken = pair != workspace.spec.mxu.mixed_rate.end() && pair->second.macs > 0;
    return can_be && !taken ? fmt::format("converted from {} to {}", to_string(dtype), to_string(input)) : "";
}

}  // namespace

std::int64_t take_packed(const Workspace& workspace, const Layer& layer, GemmProblem& p) {
    const MxuSpec& mxu = workspace.spec.mxu;
    const DType input = workspace.dtype(p.input);
    p.second_dtype = workspace.dtype(p.second);
    if (!p.stored_weights) return mxu.rows * expect_rate(workspace, layer, input, p.second_dtype).macs;
    p.format = workspace.graph.tensors[p.second].format;
    if (p.format.sparse() && p.format.kept == mxu.sparse_kept && p.format.of == mxu.sparse_of)
        p.sparsity = mxu.sparse_of / mxu.sparse_kept;
    const std::string what = needed(workspace, p);
    p.unpacked = !what.empty();
    if (p.unpacked) p.second_dtype = input;
    const std::int64_t depth =
        p.sparsity * mxu.rows * expect_rate(workspace, layer, input, p.second_dtype).macs;
    if (p.unpacked && mxu.unpack == 0)
        refuse(layer,
               fmt::format("its weights must be {} on their way into the arrays, which this machine does not "
                           "do (mxu.unpack)",
                           what));
    // A pass takes whole patterns, and whole groups or a whole part of one.
    std::int64_t whole = p.format.of;
    const bool groups = p.format.scales == Scales::Group;
    if (groups && p.format.group <= depth) whole = std::lcm(whole, p.format.group);
    if (groups && p.format.group > depth && p.format.group % depth != 0)
        refuse(layer,
               fmt::format("groups of {} weights that share a scale are not a whole number of the {} that a "
                           "pass takes",
                           p.format.group, depth));
    if (p.format.packed() && mxu.dataflow == Dataflow::InputStationary) {
        // Columns are cut between bytes.
        const BitsPerWeight each = workspace.placements[p.second].each;
        whole = std::lcm(whole, each.weights * (8 / std::gcd(each.bits, std::int64_t{8})));
    }
    if (depth < whole)
        refuse(layer,
               fmt::format(
                   "a pass takes {} rows of its weights, but patterns and groups fill whole bytes every {}",
                   depth, whole));
    return depth / whole * whole;
}

}  // namespace systole::systolic
