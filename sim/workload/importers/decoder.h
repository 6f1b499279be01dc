// SPDX-License-Identifier: Apache-2.0
// The decoder of Llama and its likes, as sizes and switches: RMS norms before attention and feed-forward,
// rotary embeddings, grouped heads with a cache of keys and values, a gated feed-forward.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace systole {

struct Decoder {
    std::string name;                ///< of the trace
    std::vector<std::string> about;  ///< lines of its comment
    std::int64_t layers = 1, hidden = 1, heads = 1, kv_heads = 1, head_dim = 1, ffn = 1, vocabulary = 1;
    std::int64_t context = 1;         ///< tokens in the cache, where nobody says so
    std::string activation = "silu";  ///< of the gate
    bool qkv_bias = false, projection_bias = false, ffn_bias = false;
    bool head_norms = false;  ///< of each head of queries and keys
};

/// The trace of a step.
std::string decoder_trace(const Decoder& decoder);

}  // namespace systole
