// SPDX-License-Identifier: Apache-2.0
// Experts: a router scores them for each token, the best few of them work on it, and what they make is summed
// by these scores. Which ones is data; how many are met, and by how many tokens each, is the step's to say.
#include <fmt/format.h>

#include "sim/workload/importers/decoder_parts.h"

namespace systole {
namespace {

/// Scores of all experts for each token, the chosen ones' scores and numbers; for each expert that is met,
/// the tokens that chose it most.
///
/// In training chips route alike: what comes back to the scores is summed over them, what comes back to the
/// tokens from the router then is not.
void write_router(TraceBlock& block, const Decoder& d, const DecoderStep& step, const std::string& in) {
    block.layer("token_rows", "op: reshape, in: feed_forward_norm, shape: [batch * q_len, hidden]");
    const bool all = d.experts->scores == "softmax";
    block.layer("router", fmt::format("op: matmul, in: token_rows, n: {}{}",
                                      step.chips > 1 ? fmt::format("experts * {}", step.chips) : "experts",
                                      all ? "" : fmt::format(", activation: {}", d.experts->scores)));
    if (all) block.layer("router_scores", "op: softmax");
    const std::string scores = write_replica(block, step, all ? "router_scores" : "router");
    block.layer("chosen_scores", fmt::format("op: top_k, in: {}, k: chosen", scores));
    block.layer("chosen_experts", fmt::format("op: top_k, in: {}, k: chosen, result: indices", scores));
    block.layer("scores_by_expert", fmt::format("op: transpose, in: {}, permutation: [1, 0]", scores));
    block.layer("scores_met", "op: slice, axis: 0, size: met");
    block.layer("tokens_met", "op: top_k, k: rows_each, result: indices");
    const bool shared = in == "feed_forward_norm";
    if (!shared)
        block.layer("replica_rows", fmt::format("op: reshape, in: {}, shape: [batch * q_len, hidden]", in));
    block.layer("rows_met",
                fmt::format("op: gather, in: [{}, tokens_met]", shared ? "token_rows" : "replica_rows"));
}

/// What each token's experts made, weighed by their scores and summed; summed as an average, whose factor is
/// in the scores.
void write_combination(TraceBlock& block, const Decoder& d) {
    block.layer("made_rows", "op: reshape, shape: [met * rows_each, hidden]");
    block.layer("made", "op: gather, in: [made_rows, chosen_experts]");
    block.layer("made_scores", "op: reshape, in: chosen_scores, shape: [batch * q_len, chosen, 1]");
    block.layer("weighed", "op: elementwise, kind: mul, in: [made, made_scores]");
    if (d.experts->chosen > 1) {
        block.layer("weighed_map", "op: reshape, shape: [batch * q_len, chosen, 1, hidden]");
        block.layer("summed", "op: pool, kind: average, global: true");
    }
    block.layer("routed", "op: reshape, shape: [batch, q_len, hidden]");
}

/// Experts that all tokens pass.
std::string write_shared(TraceBlock& block, const Decoder& d, const DecoderStep& step,
                         const std::string& in) {
    const std::string n = fmt::format("n: {}", d.experts->shared_ffn);
    const std::string narrow = write_narrow(block, step, in);
    block.layer("shared_gate_in", fmt::format("op: matmul, in: {}, {}, activation: {}{}", narrow, n,
                                              d.activation, step.weights));
    block.layer("shared_up", fmt::format("op: matmul, in: {}, {}{}", narrow, n, step.weights));
    block.layer("shared_gated", "op: elementwise, kind: mul, in: [shared_gate_in, shared_up]");
    write_narrow(block, step, "shared_gated");
    block.layer("shared_down", fmt::format("op: matmul, n: hidden{}", step.weights));
    if (!d.experts->shared_gate) return "shared_down";
    block.layer("shared_score", "op: matmul, in: feed_forward_norm, n: 1, activation: sigmoid");
    const std::string score = write_replica(block, step, "shared_score");
    block.layer("shared_weighed", fmt::format("op: elementwise, kind: mul, in: [shared_down, {}]", score));
    return "shared_weighed";
}

}  // namespace

std::string write_experts(TraceBlock& block, const Decoder& d, const DecoderStep& step) {
    const std::string in = write_replica(block, step, "feed_forward_norm");
    write_router(block, d, step, in);
    const std::string experts = "experts: experts", rows = write_narrow(block, step, "rows_met");
    block.layer("gate", fmt::format("op: matmul, in: {}, n: expert_ffn, {}, activation: {}{}", rows, experts,
                                    d.activation, step.weights));
    block.layer("up", fmt::format("op: matmul, in: {}, n: expert_ffn, {}{}", rows, experts, step.weights));
    block.layer("gated", "op: elementwise, kind: mul, in: [gate, up]");
    write_narrow(block, step, "gated");
    block.layer("down", fmt::format("op: matmul, n: hidden, {}{}", experts, step.weights));
    write_combination(block, d);
    if (d.experts->shared_ffn == 0) return write_sum(block, step, "routed");
    const std::string shared = write_shared(block, d, step, in);
    block.layer("feed_forward", fmt::format("op: elementwise, kind: add, in: [routed, {}]", shared));
    return write_sum(block, step, "feed_forward");
}

}  // namespace systole
