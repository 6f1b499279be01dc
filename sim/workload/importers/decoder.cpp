// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/decoder.h"

#include <fmt/format.h>

#include "sim/workload/importers/trace_writer.h"

namespace systole {
namespace {

const char* bias(bool there) {
    return there ? ", bias: true" : "";
}

std::string params(const Decoder& d) {
    std::string text =
        fmt::format("batch: 1, q_len: 1, kv_len: {}, layers: {}, hidden: {}, heads: {}, kv_heads: {}, ",
                    d.context, d.layers, d.hidden, d.heads, d.kv_heads);
    if (d.head_dim * d.heads != d.hidden) text += fmt::format("head_dim: {}, ", d.head_dim);
    return text + fmt::format("ffn: {}, vocabulary: {}, dtype: bf16", d.ffn, d.vocabulary);
}

/// Queries or keys of the layer: `what`, then by head, then turned by their positions.
void write_turned(TraceBlock& block, const Decoder& d, const std::string& what, const std::string& heads,
                  const std::string& width, const std::string& head_dim) {
    block.layer(what, fmt::format("op: matmul, in: attention_norm, n: {}{}", width, bias(d.qkv_bias)));
    block.layer(what + "_heads", fmt::format("op: reshape, shape: [batch, q_len, {}, {}]", heads, head_dim));
    if (d.head_norms) block.layer(what + "_norm", "op: norm, kind: rms");
    block.layer(what + "_turned", "op: rotary, axis: 1");
}

void write_attention(TraceBlock& block, const Decoder& d) {
    const bool plain = d.head_dim * d.heads == d.hidden;
    const std::string head_dim = plain ? "hidden / heads" : "head_dim";
    const std::string all = plain ? "hidden" : "head_dim * heads", shared = head_dim + " * kv_heads";
    block.layer("attention_norm", "op: norm, kind: rms, in: block_in");
    write_turned(block, d, "query", "heads", all, head_dim);
    write_turned(block, d, "key", "kv_heads", shared, head_dim);
    block.layer("keys", "op: kv_cache, heads: kv_heads, length: kv_len");
    block.layer("value", fmt::format("op: matmul, in: attention_norm, n: {}{}", shared, bias(d.qkv_bias)));
    block.layer("values", "op: kv_cache, heads: kv_heads, length: kv_len");
    block.layer(
        "context_heads",
        "op: attention, in: [query_turned, keys, values], heads: heads, kv_heads: kv_heads, causal: true");
    block.layer("context", fmt::format("op: reshape, shape: [batch, q_len, {}]", all));
    block.layer("projection", fmt::format("op: matmul, n: hidden{}", bias(d.projection_bias)));
    block.layer("attention", "op: elementwise, kind: add, in: [projection, block_in]");
}

void write_feed_forward(TraceBlock& block, const Decoder& d) {
    block.layer("feed_forward_norm", "op: norm, kind: rms");
    block.layer("gate", fmt::format("op: matmul, in: feed_forward_norm, n: ffn, activation: {}{}",
                                    d.activation, bias(d.ffn_bias)));
    block.layer("up", fmt::format("op: matmul, in: feed_forward_norm, n: ffn{}", bias(d.ffn_bias)));
    block.layer("gated", "op: elementwise, kind: mul, in: [gate, up]");
    block.layer("down", fmt::format("op: matmul, n: hidden{}", bias(d.ffn_bias)));
    block.layer("out", "op: elementwise, kind: add, in: [down, attention]");
}

}  // namespace

std::string decoder_trace(const Decoder& d) {
    TraceWriter trace(d.name, d.about, params(d));
    trace.input("tokens", {"batch", "q_len"}, "int32");
    trace.layer("embedding",
                "op: embedding, in: tokens, vocabulary: vocabulary, width: hidden, dtype: dtype");
    TraceBlock block = trace.repeat("decoder", "layers");
    write_attention(block, d);
    write_feed_forward(block, d);
    trace.layer("last_token", "op: slice, in: decoder, axis: 1, begin: q_len - 1, size: 1");
    trace.layer("final_norm", "op: norm, kind: rms");
    trace.layer("head", "op: matmul, n: vocabulary");
    trace.output("head");
    return trace.str();
}

}  // namespace systole
