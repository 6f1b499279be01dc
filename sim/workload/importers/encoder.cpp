// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/encoder.h"

#include <fmt/format.h>

#include "sim/workload/importers/trace_writer.h"

namespace systole {
namespace {

std::string params(const Encoder& e, const std::string& more) {
    const std::string ffn = e.ffn == 4 * e.hidden ? "" : fmt::format("ffn: {}, ", e.ffn);
    return fmt::format("batch: 1, {}layers: {}, hidden: {}, heads: {}, {}dtype: bf16", more, e.layers,
                       e.hidden, e.heads, ffn);
}

/// Queries, keys and values as [batch, heads, tokens, width of a head], scores, and their sums.
void write_attention(TraceBlock& block, const Encoder& e, const std::string& from,
                     const std::string& tokens) {
    for (const std::string what : {"query", "key", "value"}) {
        block.layer(what,
                    fmt::format("op: matmul, in: {}, n: hidden{}", from, e.qkv_bias ? ", bias: true" : ""));
        block.layer(what + "_heads",
                    fmt::format("op: reshape, shape: [batch, {}, heads, hidden / heads]", tokens));
        block.layer(what + "_by_head", "op: transpose, permutation: [0, 2, 1, 3]");
    }
    block.layer("scores", "op: batched_matmul, in: [query_by_head, key_by_head], transpose_b: true");
    block.layer("probabilities", "op: softmax");
    block.layer("context_by_head", "op: batched_matmul, in: [probabilities, value_by_head]");
    block.layer("context_heads", "op: transpose, permutation: [0, 2, 1, 3]");
    block.layer("context", fmt::format("op: reshape, shape: [batch, {}, hidden]", tokens));
    block.layer("projection", "op: matmul, n: hidden, bias: true");
}

void write_feed_forward(TraceBlock& block, const Encoder& e) {
    block.layer("expand", fmt::format("op: matmul, n: {}, bias: true, activation: {}",
                                      e.ffn == 4 * e.hidden ? "4 * hidden" : "ffn", e.activation));
    block.layer("contract", "op: matmul, n: hidden, bias: true");
}

void write_layer(TraceBlock block, const Encoder& e, const std::string& tokens, bool post_norm) {
    if (post_norm) {
        write_attention(block, e, "block_in", tokens);
        block.layer("attention_sum", "op: elementwise, kind: add, in: [projection, block_in]");
        block.layer("attention", "op: norm, kind: layer");
        write_feed_forward(block, e);
        block.layer("sum", "op: elementwise, kind: add, in: [contract, attention]");
        block.layer("out", "op: norm, kind: layer");
        return;
    }
    block.layer("attention_norm", "op: norm, kind: layer, in: block_in");
    write_attention(block, e, "attention_norm", tokens);
    block.layer("attention", "op: elementwise, kind: add, in: [projection, block_in]");
    block.layer("feed_forward_norm", "op: norm, kind: layer");
    write_feed_forward(block, e);
    block.layer("out", "op: elementwise, kind: add, in: [contract, attention]");
}

/// Adds what all tables have for a word; the last sum is called "embedding".
void write_embedding(TraceWriter& trace, const Words& words) {
    for (const Words::Table& table : words.tables) trace.input(table.indices, {"batch", "seq"}, "int32");
    for (const Words::Table& table : words.tables)
        trace.layer(table.what + "_embedding",
                    fmt::format("op: embedding, in: {}, vocabulary: {}, width: hidden, dtype: dtype",
                                table.indices, table.rows));
    std::string sum = words.tables.front().what + "_embedding";
    for (std::size_t i = 1; i < words.tables.size(); ++i) {
        const std::string next = i + 1 == words.tables.size() ? "embedding" : "embedding_sum";
        trace.layer(next, fmt::format("op: elementwise, kind: add, in: [{}, {}_embedding]", sum,
                                      words.tables[i].what));
        sum = next;
    }
}

}  // namespace

std::string words_trace(const Encoder& e, const Words& words) {
    // The encoder answers for each sequence; a decoder's prefill is counted in tokens.
    TraceWriter trace(e.name, e.about, params(e, fmt::format("seq: {}, ", words.sequence)), "", "",
                      words.post_norm ? "sequences: batch" : "tokens: batch * seq");
    write_embedding(trace, words);
    if (words.post_norm) trace.layer("embedding_norm", "op: norm, kind: layer");
    write_layer(trace.repeat(words.block, "layers"), e, "seq", words.post_norm);
    if (!words.post_norm) {
        trace.layer("last_token",
                    fmt::format("op: slice, in: {}, axis: 1, begin: seq - 1, size: 1", words.block));
        trace.layer("final_norm", "op: norm, kind: layer");
        trace.layer("head", fmt::format("op: matmul, n: {}", words.tables.front().rows));
    }
    trace.output(words.post_norm ? words.block : "head");
    return trace.str();
}

std::string patches_trace(const Encoder& e, const Patches& p) {
    const std::int64_t side = p.image / p.patch, patches = side * side, tokens = patches + 1;
    TraceWriter trace(e.name, e.about, params(e, ""), "", "", "images: batch");
    const auto text = [](std::int64_t value) { return fmt::format("{}", value); };
    trace.input("image", {"batch", text(p.image), text(p.image), text(p.channels)}, "dtype");
    trace.input("class_number", {"batch", "1"}, "int32");
    trace.input("positions", {"batch", text(tokens)}, "int32");
    trace.layer(
        "patch_map",
        fmt::format("op: conv2d, in: image, filters: hidden, kernel: {0}, stride: {0}, bias: true", p.patch));
    trace.layer("patches", fmt::format("op: reshape, shape: [batch, {}, hidden]", patches));
    trace.layer("class_token", "op: embedding, in: class_number, vocabulary: 1, width: hidden, dtype: dtype");
    trace.layer("tokens", "op: concat, in: [class_token, patches], axis: 1");
    trace.layer(
        "position_embedding",
        fmt::format("op: embedding, in: positions, vocabulary: {}, width: hidden, dtype: dtype", tokens));
    trace.layer("embedding", "op: elementwise, kind: add, in: [tokens, position_embedding]");
    write_layer(trace.repeat("encoder", "layers"), e, text(tokens), false);
    trace.layer("class_state", "op: slice, in: encoder, axis: 1, size: 1");
    trace.layer("final_norm", "op: norm, kind: layer");
    trace.layer("class_row", "op: reshape, shape: [batch, hidden]");
    trace.layer("classes", fmt::format("op: matmul, n: {}, bias: true", p.classes));
    trace.output("classes");
    return trace.str();
}

}  // namespace systole
