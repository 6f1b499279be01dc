// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/whisper.h"

#include <fmt/format.h>

#include "sim/workload/importers/trace_writer.h"

namespace systole {
namespace {

struct Whisper {
    std::int64_t width = 1, vocabulary = 1, bands = 1, sounds = 1, words = 1;
    std::int64_t encoder_layers = 1, encoder_heads = 1, encoder_ffn = 1;
    std::int64_t decoder_layers = 1, decoder_heads = 1, decoder_ffn = 1;
    std::string activation;
};

std::int64_t heads_of(ModelConfig& config, const char* key, std::int64_t width) {
    const std::int64_t heads = config.keys().extent(key);
    if (width % heads != 0)
        config.keys().fail(key, fmt::format("{} heads do not divide 'd_model' of {}", heads, width));
    return heads;
}

Whisper read(ModelConfig& config) {
    JsonObject& keys = config.keys();
    Whisper w;
    w.width = keys.extent("d_model");
    w.vocabulary = keys.extent("vocab_size");
    w.bands = keys.extent("num_mel_bins", 80);
    w.sounds = keys.extent("max_source_positions", 1500);
    w.words = keys.extent("max_target_positions", 448);
    w.encoder_layers = keys.extent("encoder_layers");
    w.decoder_layers = keys.extent("decoder_layers");
    w.encoder_ffn = keys.extent("encoder_ffn_dim");
    w.decoder_ffn = keys.extent("decoder_ffn_dim");
    w.encoder_heads = heads_of(config, "encoder_attention_heads", w.width);
    w.decoder_heads = heads_of(config, "decoder_attention_heads", w.width);
    w.activation = config.activation("activation_function", "gelu");
    keys.throw_if_any();
    return w;
}

/// Attention of `heads`: queries from `from`, keys and values from `seen`; keys have no bias. With a `cache`,
/// keys and values are those of all words. Then the projection, and the sum with `stream`.
struct Attending {
    std::string name, from, seen, stream, heads;
    bool cached = false;
};

void write_attention(TraceBlock& block, const Attending& a) {
    const std::string& n = a.name;
    block.layer(n + "_query", fmt::format("op: matmul, in: {}, n: width, bias: true", a.from));
    block.layer(n + "_key", fmt::format("op: matmul, in: {}, n: width", a.seen));
    if (a.cached) block.layer(n + "_keys", fmt::format("op: kv_cache, heads: {}, length: kv_len", a.heads));
    block.layer(n + "_value", fmt::format("op: matmul, in: {}, n: width, bias: true", a.seen));
    if (a.cached) block.layer(n + "_values", fmt::format("op: kv_cache, heads: {}, length: kv_len", a.heads));
    block.layer(n + "_context",
                fmt::format("op: attention, in: [{0}_query, {0}_key{1}, {0}_value{1}], heads: {2}{3}", n,
                            a.cached ? "s" : "", a.heads, a.cached ? ", causal: true" : ""));
    block.layer(n + "_projection", "op: matmul, n: width, bias: true");
    block.layer(n, fmt::format("op: elementwise, kind: add, in: [{}_projection, {}]", n, a.stream));
}

void write_feed_forward(TraceBlock& block, const Whisper& w, const std::string& ffn,
                        const std::string& stream) {
    block.layer("feed_forward_norm", "op: norm, kind: layer");
    block.layer("expand", fmt::format("op: matmul, n: {}, bias: true, activation: {}", ffn, w.activation));
    block.layer("contract", "op: matmul, n: width, bias: true");
    block.layer("out", fmt::format("op: elementwise, kind: add, in: [contract, {}]", stream));
}

/// A convolution in time is one in the depth of volumes of one pixel.
void write_encoder(TraceWriter& trace, const Whisper& w) {
    const std::string conv =
        fmt::format("filters: width, kernel: [3, 1, 1], pad_t: 1, bias: true, activation: {}", w.activation);
    trace.layer("first_convolution", fmt::format("op: conv3d, in: sound, {}", conv));
    trace.layer("second_convolution", fmt::format("op: conv3d, stride_t: 2, stride: 1, {}", conv));
    trace.layer("sound_rows", "op: reshape, shape: [batch, sounds, width]");
    trace.layer("sound_embedding", "op: elementwise, kind: add, stored: [sounds, width]");
    TraceBlock block = trace.repeat("encoder", fmt::format("{}", w.encoder_layers));
    block.layer("attention_norm", "op: norm, kind: layer, in: block_in");
    write_attention(block, {"attention", "attention_norm", "attention_norm", "block_in", "encoder_heads"});
    write_feed_forward(block, w, "encoder_ffn", "attention");
    trace.layer("heard", "op: norm, kind: layer");
}

void write_decoder(TraceWriter& trace, const Whisper& w) {
    trace.layer("word_embedding",
                "op: embedding, in: words, vocabulary: vocabulary, width: width, dtype: dtype");
    trace.layer(
        "position_embedding",
        fmt::format("op: embedding, in: positions, vocabulary: {}, width: width, dtype: dtype", w.words));
    trace.layer("embedding", "op: elementwise, kind: add, in: [word_embedding, position_embedding]");
    TraceBlock block = trace.repeat("decoder", fmt::format("{}", w.decoder_layers));
    block.layer("attention_norm", "op: norm, kind: layer, in: block_in");
    write_attention(block,
                    {"attention", "attention_norm", "attention_norm", "block_in", "decoder_heads", true});
    block.layer("hearing_norm", "op: norm, kind: layer");
    write_attention(block, {"hearing", "hearing_norm", "heard", "attention", "decoder_heads"});
    write_feed_forward(block, w, "decoder_ffn", "hearing");
    trace.layer("last_word", "op: slice, in: decoder, axis: 1, begin: q_len - 1, size: 1");
    trace.layer("final_norm", "op: norm, kind: layer");
    trace.layer("head", "op: matmul, n: vocabulary");
    trace.output("head");
}

}  // namespace

std::string whisper_trace(ModelConfig& config) {
    const Whisper w = read(config);
    config.note_tied("model_type", w.vocabulary * w.width);
    config.note("model_type",
                "keys and values of the encoder's output are computed in the step, as in the first one");
    TraceWriter trace(
        config.name(),
        {"Imported from a config.json of Hugging Face, model_type whisper.",
         "The encoder on 30 s of sound, and one step of the decoder: q_len new words, behind which kv_len "
         "are in the cache.",
         "Keys and values of the encoder's output are computed too: it is the first step behind it.",
         "The factor 1/sqrt(head_dim) is in the weights of the queries."},
        fmt::format("batch: 1, q_len: 1, kv_len: {}, sounds: {}, bands: {}, width: {}, encoder_heads: {}, "
                    "encoder_ffn: {}, "
                    "decoder_heads: {}, decoder_ffn: {}, vocabulary: {}, dtype: bf16",
                    w.words, w.sounds, w.bands, w.width, w.encoder_heads, w.encoder_ffn, w.decoder_heads,
                    w.decoder_ffn, w.vocabulary));
    trace.input("sound", {"batch", "2 * sounds", "1", "1", "bands"}, "dtype");
    trace.input("words", {"batch", "q_len"}, "int32");
    trace.input("positions", {"batch", "q_len"}, "int32");
    write_encoder(trace, w);
    write_decoder(trace, w);
    return trace.str();
}

}  // namespace systole
