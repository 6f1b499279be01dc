// SPDX-License-Identifier: Apache-2.0
// Attention whose keys and values are made of latents. Absorbed, as decode steps do it, queries become
// latents and meet the cache itself; expanded, as prefills do it, latents become keys and values of each
// head. So does training, where chips that share heads have the latents alike: what comes back to these is
// summed over the chips.
#include <fmt/format.h>

#include "sim/workload/importers/decoder_parts.h"

namespace systole {
namespace {

/// A product with a matrix for each head, of `from` [batch, q_len, heads, ..]: "NAME" [batch, q_len, heads,
/// n].
void write_by_head(TraceBlock& block, const DecoderStep& step, const std::string& name,
                   const std::string& from, const std::string& k, const std::string& n) {
    block.layer(name + "_rows",
                fmt::format("op: reshape, in: {}, shape: [batch * q_len, heads, {}]", from, k));
    block.layer(name + "_in", "op: transpose, permutation: [1, 0, 2]");
    write_narrow(block, step, name + "_in");
    block.layer(name + "_by_head", fmt::format("op: matmul, n: {}, experts: heads{}", n, step.weights));
    block.layer(name + "_out", "op: transpose, permutation: [1, 0, 2]");
    block.layer(name, fmt::format("op: reshape, shape: [batch, q_len, heads, {}]", n));
}

/// `in`: the norm, as products read it.
void write_queries(TraceBlock& block, const Decoder& d, const DecoderStep& step, const std::string& in) {
    std::string from;
    if (d.latents->query_rank > 0) {
        block.layer("query_latents",
                    fmt::format("op: matmul, in: {}, n: {}{}", in, d.latents->query_rank, step.weights));
        block.layer("query_norm", "op: norm, kind: rms");
        from = write_narrow(block, step, write_replica(block, step, "query_norm"));
    } else {
        from = write_replica(block, step, in);
    }
    block.layer("query",
                fmt::format("op: matmul, in: {}, n: heads * (plain + turned){}", from, step.weights));
    block.layer("query_heads", "op: reshape, shape: [batch, q_len, heads, plain + turned]");
    block.layer("query_plain", "op: slice, in: query_heads, size: plain");
    block.layer("query_rest", "op: slice, in: query_heads, begin: plain, size: turned");
    block.layer("query_turned", "op: rotary, axis: 1");
}

/// Latents of the new tokens, normed, and the key of their position.
void write_latents(TraceBlock& block, const DecoderStep& step, const std::string& in) {
    block.layer("latent_rows", fmt::format("op: matmul, in: {}, n: latent + turned{}", in, step.weights));
    block.layer("latent_part", "op: slice, in: latent_rows, size: latent");
    block.layer("latents", "op: norm, kind: rms");
    block.layer("key_part", "op: slice, in: latent_rows, begin: latent, size: turned");
    block.layer("key_heads", "op: reshape, shape: [batch, q_len, 1, turned]");
    block.layer("key_turned", "op: rotary, axis: 1");
}

/// Beside each other: what the cache holds.
void write_cache(TraceBlock& block, const DecoderStep& step) {
    block.layer("key_rows", "op: reshape, shape: [batch, q_len, turned]");
    block.layer("cache_rows", "op: concat, in: [latents, key_rows]");
    if (!step.cache_dtype.empty())
        block.layer("cache_narrow",
                    fmt::format("op: quantize, out_dtype: {}, scales: tensor", step.cache_dtype));
    block.layer("cache", "op: kv_cache, heads: 1, length: kv_len");
}

void write_absorbed(TraceBlock& block, const DecoderStep& step) {
    write_by_head(block, step, "query_absorbed", "query_plain", "plain", "latent");
    block.layer("query_all", "op: concat, in: [query_absorbed, query_turned]");
    block.layer("latent_context",
                "op: attention, in: [query_all, cache, cache], heads: heads, kv_heads: 1, value_dim: latent, "
                "causal: true");
    write_by_head(block, step, "context_heads", "latent_context", "latent", "value");
    block.layer("context", "op: reshape, shape: [batch, q_len, heads * value]");
}

/// Latents and keys of all tokens in the cache, taken apart.
void write_cached(TraceBlock& block, const DecoderStep& step) {
    block.layer("cached", "op: reshape, in: cache, shape: [batch, kv_len, latent + turned]");
    if (!step.cache_dtype.empty())
        block.layer("cached_wide", "op: dequantize, out_dtype: dtype, scales: tensor");
    const char* const cached = step.cache_dtype.empty() ? "cached" : "cached_wide";
    block.layer("cached_keys", fmt::format("op: slice, in: {}, begin: latent, size: turned", cached));
    block.layer("key_head", "op: reshape, shape: [batch, kv_len, 1, turned]");
    block.layer("cached_latents", fmt::format("op: slice, in: {}, size: latent", cached));
}

/// Keys and values of each head. Every head has a copy of the key of the position.
void write_expanded(TraceBlock& block, const Decoder& d, const DecoderStep& step) {
    if (!step.trains()) write_cached(block, step);
    const char* const length = step.trains() ? "q_len" : "kv_len";
    const std::string latents = step.trains() ? write_replica(block, step, "latents") : "cached_latents";
    const std::string head = step.trains() ? write_replica(block, step, "key_turned") : "key_head";
    block.layer("expanded", fmt::format("op: matmul, in: {}, n: heads * (plain + value){}",
                                        write_narrow(block, step, latents), step.weights));
    block.layer("expanded_heads",
                fmt::format("op: reshape, shape: [batch, {}, heads, plain + value]", length));
    block.layer("key_plain", "op: slice, in: expanded_heads, size: plain");
    block.layer("value_heads", "op: slice, in: expanded_heads, begin: plain, size: value");
    std::string copies = head;
    for (std::int64_t i = 1; i < d.heads; ++i) copies += ", " + head;
    if (d.heads > 1) block.layer("key_copies", fmt::format("op: concat, in: [{}], axis: 2", copies));
    block.layer("key", fmt::format("op: concat, in: [key_plain, {}]", d.heads > 1 ? "key_copies" : head));
    block.layer("query_all", "op: concat, in: [query_plain, query_turned]");
    block.layer(
        "context_heads",
        "op: attention, in: [query_all, key, value_heads], heads: heads, value_dim: value, causal: true");
    block.layer("context", "op: reshape, shape: [batch, q_len, heads * value]");
}

}  // namespace

std::string write_latent_heads(TraceBlock& block, const Decoder& d, const DecoderStep& step) {
    const std::string in = write_narrow(block, step, "attention_norm");
    write_queries(block, d, step, in);
    write_latents(block, step, in);
    if (!step.trains()) write_cache(block, step);
    if (step.expanded)
        write_expanded(block, d, step);
    else
        write_absorbed(block, step);
    write_narrow(block, step, "context");
    block.layer("projection", fmt::format("op: matmul, n: hidden{}", step.weights));
    return write_sum(block, step, "projection");
}

}  // namespace systole
