// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/decoder.h"

#include <fmt/format.h>

#include "sim/workload/importers/decoder_parts.h"

namespace systole {
namespace {

/// Parameters of the trace: those of the model that it has.
std::string params(const Decoder& d, const DecoderStep& step) {
    std::string text =
        step.numbers + fmt::format(", layers: {}, hidden: {}, heads: {}, ", d.layers, d.hidden, d.heads);
    if (!d.latents) text += fmt::format("kv_heads: {}, ", d.kv_heads);
    if (!d.latents && d.head_dim * d.heads != d.hidden) text += fmt::format("head_dim: {}, ", d.head_dim);
    if (d.latents)
        text += fmt::format("latent: {}, plain: {}, turned: {}, value: {}, ", d.latents->rank,
                            d.latents->plain, d.latents->turned, d.latents->value);
    if (!d.experts || d.experts->dense_layers > 0) text += fmt::format("ffn: {}, ", d.ffn);
    if (const auto& e = d.experts) {
        text += fmt::format(
            "expert_ffn: {}, experts: {}, chosen: {}, pairs: \"{}\", met: \"{}\", rows_each: "
            "\"ceil_div(pairs, "
            "met)\", ",
            e->ffn, e->count, e->chosen, step.pairs, step.met);
    }
    return text + fmt::format("vocabulary: {}, dtype: bf16", d.vocabulary);
}

std::string replica_keys(const DecoderStep& step, const std::string& of) {
    return fmt::format("op: collective, in: {}, kind: replicate, chips: {}", of, step.chips);
}

/// The norm behind a half of the layer, where there is one. Answers what is added to the stream.
std::string write_post_norm(TraceBlock& block, const Decoder& d, const std::string& half,
                            const std::string& made) {
    if (!d.post_norms) return made;
    block.layer(half + "_post_norm", fmt::format("op: norm, kind: {}, in: {}", d.norm(), made));
    return half + "_post_norm";
}

void write_layer(TraceBlock block, const Decoder& d, const DecoderStep& step, bool sparse) {
    block.layer("attention_norm", fmt::format("op: norm, kind: {}, in: block_in", d.norm()));
    const std::string heads = d.latents ? write_latent_heads(block, d, step) : write_heads(block, d, step);
    block.layer("attention", fmt::format("op: elementwise, kind: add, in: [{}, block_in]",
                                         write_post_norm(block, d, "attention", heads)));
    block.layer("feed_forward_norm", fmt::format("op: norm, kind: {}", d.norm()));
    const std::string made = sparse ? write_experts(block, d, step) : write_feed_forward(block, d, step);
    block.layer("out", fmt::format("op: elementwise, kind: add, in: [{}, attention]",
                                   write_post_norm(block, d, "feed_forward", made)));
}

/// Rows of the tokens, and of their positions where the model has a table of them.
void write_embedding(TraceWriter& trace, const Decoder& d, const DecoderStep& step) {
    const bool table = d.positions > 0;
    trace.input("tokens", {"batch", "q_len"}, "int32");
    if (table) trace.input("positions", {"batch", "q_len"}, "int32");
    trace.layer(table ? "token_embedding" : "embedding",
                "op: embedding, in: tokens, vocabulary: vocabulary, width: hidden, dtype: dtype");
    if (step.chips > 1)
        trace.layer("embedding_sum", fmt::format("op: collective, kind: all_reduce, chips: {}", step.chips));
    if (!table) return;
    trace.layer("position_embedding",
                fmt::format("op: embedding, in: positions, vocabulary: {}, width: hidden, dtype: dtype",
                            d.positions));
    trace.layer("embedding", fmt::format("op: elementwise, kind: add, in: [{}, position_embedding]",
                                         step.chips > 1 ? "embedding_sum" : "token_embedding"));
}

}  // namespace

const char* bias_key(bool there) {
    return there ? ", bias: true" : "";
}

std::string write_sum(TraceBlock& block, const DecoderStep& step, const std::string& of) {
    if (step.chips == 1) return of;
    block.layer(of + "_sum",
                fmt::format("op: collective, in: {}, kind: all_reduce, chips: {}", of, step.chips));
    return of + "_sum";
}

std::string write_replica(TraceBlock& block, const DecoderStep& step, const std::string& of) {
    if (!step.trains() || step.chips == 1) return of;
    block.layer(of + "_replica", replica_keys(step, of));
    return of + "_replica";
}

std::string write_narrow(TraceBlock& block, const DecoderStep& step, const std::string& of) {
    if (step.activations.empty()) return of;
    block.layer(of + "_narrow", fmt::format("op: quantize, in: {}, {}", of, step.activations));
    return of + "_narrow";
}

std::string write_feed_forward(TraceBlock& block, const Decoder& d, const DecoderStep& step) {
    const std::string more = bias_key(d.ffn_bias) + step.weights;
    const char* const first = d.gated ? "gate" : "up";
    const std::string in = write_narrow(block, step, write_replica(block, step, "feed_forward_norm"));
    block.layer(first, fmt::format("op: matmul, in: {}, n: ffn, activation: {}{}", in, d.activation, more));
    if (d.gated) {
        block.layer("up", fmt::format("op: matmul, in: {}, n: ffn{}", in, more));
        block.layer("gated", "op: elementwise, kind: mul, in: [gate, up]");
    }
    write_narrow(block, step, d.gated ? "gated" : first);
    block.layer("down", fmt::format("op: matmul, n: hidden{}", more));
    return write_sum(block, step, "down");
}

DecoderStep usual_step(const Decoder& decoder) {
    DecoderStep step;
    step.numbers = fmt::format("batch: 1, q_len: 1, kv_len: {}", decoder.context);
    return step;
}

std::string decoder_trace(const Decoder& d, const DecoderStep& step) {
    const std::string_view batch_of = step.serving.empty() ? "tokens: batch * q_len" : "";
    TraceWriter trace(d.name, d.about, params(d, step), step.serving, step.training, batch_of);
    write_embedding(trace, d, step);
    const std::int64_t sparse = d.sparse_layers();
    const std::int64_t dense = sparse > 0 ? d.layers - sparse : 0;
    if (dense > 0) write_layer(trace.repeat("dense_decoder", fmt::format("{}", dense)), d, step, false);
    const std::string turns = dense > 0 ? fmt::format("layers - {}", dense) : "layers";
    write_layer(trace.repeat("decoder", turns), d, step, sparse > 0);
    if (!step.trains())
        trace.layer("last_token", "op: slice, in: decoder, axis: 1, begin: q_len - 1, size: 1");
    trace.layer("final_norm", fmt::format("op: norm, kind: {}", d.norm()));
    if (step.trains() && step.chips > 1) trace.layer("final_norm_replica", replica_keys(step, "final_norm"));
    trace.layer("head", "op: matmul, n: vocabulary");
    if (step.trains()) {
        trace.output("head");
        return trace.str();
    }
    if (step.chips > 1)
        trace.layer("scores", fmt::format("op: collective, kind: all_gather, chips: {}", step.chips));
    trace.output(step.chips > 1 ? "scores" : "head");
    return trace.str();
}

}  // namespace systole
