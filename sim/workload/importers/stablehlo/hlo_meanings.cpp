// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/stablehlo/hlo_meanings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sim/base/error.h"
#include "sim/workload/importers/network/vectors.h"

namespace systole {

/// Those that only say how tensors are dealt to chips are nothing on one; erf is one of XLA's own.
void hlo_custom_call(HloNode& node) {
    const MlirTokens& tokens = node.translator().tokens();
    std::string_view target;
    for (std::size_t at = node.operation().begin; at < node.operation().end && target.empty(); ++at)
        if (tokens[at].kind == MlirToken::Kind::Symbol) target = tokens[at].text;
    if (const auto key = mlir_key(tokens, node.operation(), "call_target_name")) target = tokens[*key].text;
    if (target == "Sharding" || target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape") {
        if (node.result_type().shape != node.shape(0))
            throw Unsayable("what it makes is a chip's share of its operand, or the other way round");
        return node.pass(0);
    }
    if (target == "mhlo.erf") return node.put(apply(node.network(), node.name(), "erf", node.value(0)));
    throw Unsayable(fmt::format("what @{} does is not known", excerpt(target)));
}

HloMeaning hlo_meaning(std::string_view name) {
    static constexpr std::array<std::pair<std::string_view, HloMeaning>, 30> kMeanings = {{
        {"batch_norm_inference", hlo_batch_norm_inference},
        {"batch_norm_training", hlo_batch_norm_training},
        {"broadcast_in_dim", hlo_broadcast_in_dim},
        {"clamp", hlo_clamp},
        {"concatenate", hlo_concatenate},
        {"constant", hlo_constant},
        {"convert", hlo_convert},
        {"convolution", hlo_convolution},
        {"copy", hlo_same},
        {"custom_call", hlo_custom_call},
        {"dot", hlo_dot},
        {"dot_general", hlo_dot_general},
        {"dynamic_slice", hlo_dynamic_slice},
        {"exponential_minus_one", hlo_minus_one},
        {"gather", hlo_gather},
        {"iota", hlo_iota},
        {"log_plus_one", hlo_log_plus_one},
        {"not", hlo_not},
        {"optimization_barrier", hlo_same},
        {"pad", hlo_pad},
        {"reduce", hlo_reduce},
        {"reduce_precision", hlo_same},
        {"reduce_window", hlo_reduce_window},
        {"reshape", hlo_reshape},
        {"select", hlo_select},
        {"sharding_constraint", hlo_same},
        {"slice", hlo_slice},
        {"top_k", hlo_top_k},
        {"transpose", hlo_transpose},
        {"xor", hlo_xor},
    }};
    const auto found = std::ranges::find(kMeanings, name, &std::pair<std::string_view, HloMeaning>::first);
    if (found != kMeanings.end()) return found->second;
    if (!hlo_kind(name).empty()) return hlo_binary;
    if (!hlo_function(name).empty()) return hlo_unary;
    return nullptr;
}

}  // namespace systole
