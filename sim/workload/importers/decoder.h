// SPDX-License-Identifier: Apache-2.0
// The decoder of a language model as sizes and switches, and a step of it as a trace: norms before attention
// and feed-forward, a cache of keys and values (or of latents), a feed-forward with or without a gate,
// experts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace systole {

/// Routed experts in the place of the feed-forward. Each token chooses some of them.
struct Experts {
    std::int64_t count = 1, chosen = 1;
    std::int64_t ffn = 1;            ///< of each
    std::int64_t shared_ffn = 0;     ///< of those that all tokens pass, together; 0: none
    bool shared_gate = false;        ///< what these make is weighed by a number for each token
    std::int64_t dense_layers = 0;   ///< the first layers, which have the usual feed-forward
    std::string scores = "softmax";  ///< "sigmoid": of each expert by itself
};

/// Keys and values that are made of latents (DeepSeek-AI, "DeepSeek-V2", 2024, section 2.1). The cache holds
/// the latents of a token, and a key of its position that all heads share.
struct Latents {
    std::int64_t query_rank = 0;         ///< queries are made of latents, too; 0: they are not
    std::int64_t rank = 1;               ///< of keys and values
    std::int64_t plain = 1, turned = 1;  ///< elements of a head's keys without and with positions
    std::int64_t value = 1;              ///< of a head's values
};

struct Decoder {
    std::string name;                ///< of the trace
    std::vector<std::string> about;  ///< lines of its comment
    std::int64_t layers = 1, hidden = 1, heads = 1, kv_heads = 1, head_dim = 1, ffn = 1, vocabulary = 1;
    std::int64_t context = 1;         ///< tokens in the cache, where nobody says so
    std::string activation = "silu";  ///< of the gate, or between the two products
    bool qkv_bias = false, projection_bias = false, ffn_bias = false;
    bool head_norms = false;     ///< of each head of queries and keys
    bool post_norms = false;     ///< behind attention and feed-forward, too, before they are added
    bool layer_norms = false;    ///< norms have a mean and a shift, too
    bool gated = true;           ///< the feed-forward has a gate
    std::int64_t positions = 0;  ///< rows of a table of positions; 0: keys and queries are turned
    bool tied = false;           ///< the model stores the head's weights once, with the embedding's
    std::optional<Experts> experts;
    std::optional<Latents> latents;

    const char* norm() const { return layer_norms ? "layer" : "rms"; }
    /// Layers with experts.
    std::int64_t sparse_layers() const { return experts ? layers - experts->dense_layers : 0; }
};

/// How a step is computed.
struct DecoderStep {
    std::string numbers;   ///< values of batch, q_len and kv_len: "batch: 1, q_len: 1, kv_len: 8192"
    std::string serving;   ///< a line of the trace, or empty
    std::string training;  ///< the same: a step of training, without caches, with all tokens' heads
    std::string weights;   ///< keys of products: ", weight_dtype: int8, scales: channel"
    /// Keys of a layer that quantizes what products with such weights read: "out_dtype: fp8, scales: tensor";
    /// empty: they read it as it is.
    std::string activations;
    std::string cache_dtype;  ///< keys and values become numbers of it; empty: they stay
    std::int64_t chips = 1;   ///< that have a part each of every layer; the sizes are then those of a part
    /// Of tokens and experts on this chip that they chose.
    std::string pairs = "batch * q_len * chosen";
    std::string met = "min(experts, pairs)";  ///< experts that tokens meet
    bool expanded = false;  ///< latents become keys and values, instead of queries and results latents

    bool trains() const { return !training.empty(); }
};

/// The trace of a step. All of q_len tokens are new; only the last one's head is computed, but in training.
std::string decoder_trace(const Decoder& decoder, const DecoderStep& step);
/// The step that nobody describes: one new token of one sequence.
DecoderStep usual_step(const Decoder& decoder);

}  // namespace systole
