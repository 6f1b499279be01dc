// SPDX-License-Identifier: Apache-2.0
// Transformers that see all of a sequence at once: BERT, ViT, and the prefill of GPT-2. Products with biases,
// layer norms behind each half of a layer (as first described) or before it (as in most since), unfused
// attention.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace systole {

struct Encoder {
    std::string name;                ///< of the trace
    std::vector<std::string> about;  ///< lines of its comment
    std::int64_t layers = 1, hidden = 1, heads = 1, ffn = 1;
    std::string activation = "gelu";
    bool qkv_bias = true;
};

/// Words: `tables` looked up and added, the last one's norm in front of the layers where `post_norm` says so.
struct Words {
    struct Table {
        std::string what, indices;  ///< "token", "tokens": the trace has an input of indices
        std::int64_t rows = 1;
    };
    std::vector<Table> tables;
    std::int64_t sequence = 128;  ///< tokens, where nobody says so
    bool post_norm = false;  ///< norms behind each half of a layer; otherwise before, and one before a head
    std::string block;       ///< "encoder" or "decoder"
};

/// Square images cut into square patches, with a class token in front of them, which the classifier reads.
struct Patches {
    std::int64_t image = 224, patch = 16, channels = 3, classes = 1000;
};

std::string words_trace(const Encoder& encoder, const Words& words);
/// The patch must divide the image.
std::string patches_trace(const Encoder& encoder, const Patches& patches);

}  // namespace systole
