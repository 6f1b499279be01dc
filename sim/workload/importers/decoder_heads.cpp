// SPDX-License-Identifier: Apache-2.0
// Attention of grouped heads behind a cache of keys and values.
#include <fmt/format.h>

#include "sim/workload/importers/decoder_parts.h"

namespace systole {
namespace {

/// Queries or keys of the layer: `what`, then by head, then turned by their positions. Answers the last one.
std::string write_turned(TraceBlock& block, const Decoder& d, const DecoderStep& step, const std::string& in,
                         const std::string& what, const std::string& heads, const std::string& width,
                         const std::string& head_dim) {
    block.layer(what,
                fmt::format("op: matmul, in: {}, n: {}{}{}", in, width, bias_key(d.qkv_bias), step.weights));
    if (d.positions > 0 && !d.head_norms) return what;
    block.layer(what + "_heads", fmt::format("op: reshape, shape: [batch, q_len, {}, {}]", heads, head_dim));
    if (d.head_norms) block.layer(what + "_norm", "op: norm, kind: rms");
    block.layer(what + "_turned", "op: rotary, axis: 1");
    return what + "_turned";
}

/// What the layer before made, as rows of a cache; in training it stays. Answers what attention reads.
std::string write_cache(TraceBlock& block, const DecoderStep& step, const std::string& made,
                        const std::string& name) {
    if (step.trains()) return made;
    if (!step.cache_dtype.empty())
        block.layer(name + "_narrow",
                    fmt::format("op: quantize, out_dtype: {}, scales: tensor", step.cache_dtype));
    block.layer(name, "op: kv_cache, heads: kv_heads, length: kv_len");
    return name;
}

}  // namespace

std::string write_heads(TraceBlock& block, const Decoder& d, const DecoderStep& step) {
    const bool plain = d.head_dim * d.heads == d.hidden;
    const std::string head_dim = plain ? "hidden / heads" : "head_dim";
    const std::string all = plain ? "hidden" : "head_dim * heads", shared = head_dim + " * kv_heads";
    const std::string in = write_narrow(block, step, write_replica(block, step, "attention_norm"));
    const std::string query = write_turned(block, d, step, in, "query", "heads", all, head_dim);
    const std::string key = write_turned(block, d, step, in, "key", "kv_heads", shared, head_dim);
    const std::string keys = write_cache(block, step, key, "keys");
    block.layer("value",
                fmt::format("op: matmul, in: {}, n: {}{}{}", in, shared, bias_key(d.qkv_bias), step.weights));
    const std::string values = write_cache(block, step, "value", "values");
    const bool turned = query != "query";
    block.layer(turned ? "context_heads" : "context",
                fmt::format("op: attention, in: [{}, {}, {}], heads: heads, kv_heads: kv_heads, causal: true",
                            query, keys, values));
    if (turned) block.layer("context", fmt::format("op: reshape, shape: [batch, q_len, {}]", all));
    write_narrow(block, step, "context");
    block.layer("projection",
                fmt::format("op: matmul, n: hidden{}{}", bias_key(d.projection_bias), step.weights));
    return write_sum(block, step, "projection");
}

}  // namespace systole
