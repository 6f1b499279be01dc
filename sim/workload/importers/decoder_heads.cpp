// SPDX-License-Identifier: Apache-2.0
// Attention of grouped heads behind a cache of keys and values.
#include <fmt/format.h>

#include "sim/workload/importers/decoder_parts.h"

namespace systole {
namespace {

/// Queries or keys of the layer: `what`, then by head, then turned by their positions. Answers the last one.
std::string write_turned(TraceBlock& block, const Decoder& d, const DecoderStep& step,
                         const std::string& what, const std::string& heads, const std::string& width,
                         const std::string& head_dim) {
    block.layer(what, fmt::format("op: matmul, in: attention_norm, n: {}{}{}", width, bias_key(d.qkv_bias),
                                  step.weights));
    if (d.positions > 0 && !d.head_norms) return what;
    block.layer(what + "_heads", fmt::format("op: reshape, shape: [batch, q_len, {}, {}]", heads, head_dim));
    if (d.head_norms) block.layer(what + "_norm", "op: norm, kind: rms");
    block.layer(what + "_turned", "op: rotary, axis: 1");
    return what + "_turned";
}

/// What the layer before made, as rows of a cache.
void write_cache(TraceBlock& block, const DecoderStep& step, const std::string& name) {
    if (!step.cache_dtype.empty())
        block.layer(name + "_narrow",
                    fmt::format("op: quantize, out_dtype: {}, scales: tensor", step.cache_dtype));
    block.layer(name, "op: kv_cache, heads: kv_heads, length: kv_len");
}

}  // namespace

std::string write_heads(TraceBlock& block, const Decoder& d, const DecoderStep& step) {
    const bool plain = d.head_dim * d.heads == d.hidden;
    const std::string head_dim = plain ? "hidden / heads" : "head_dim";
    const std::string all = plain ? "hidden" : "head_dim * heads", shared = head_dim + " * kv_heads";
    const std::string query = write_turned(block, d, step, "query", "heads", all, head_dim);
    write_turned(block, d, step, "key", "kv_heads", shared, head_dim);
    write_cache(block, step, "keys");
    block.layer("value", fmt::format("op: matmul, in: attention_norm, n: {}{}{}", shared,
                                     bias_key(d.qkv_bias), step.weights));
    write_cache(block, step, "values");
    const bool turned = query != "query";
    block.layer(
        turned ? "context_heads" : "context",
        fmt::format("op: attention, in: [{}, keys, values], heads: heads, kv_heads: kv_heads, causal: true",
                    query));
    if (turned) block.layer("context", fmt::format("op: reshape, shape: [batch, q_len, {}]", all));
    block.layer("projection",
                fmt::format("op: matmul, n: hidden{}{}", bias_key(d.projection_bias), step.weights));
    return write_sum(block, step, "projection");
}

}  // namespace systole
