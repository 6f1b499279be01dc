// SPDX-License-Identifier: Apache-2.0
// The config.json of a model on Hugging Face: sizes of an architecture that its name (`model_type`) stands
// for. https://huggingface.co/docs/transformers: configuration_*.py say what keys mean and default to,
// modeling_*.py what is computed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sim/workload/importers/imported.h"

namespace systole {

/// Bytes that a config.json may have: what is read of it takes some thirty times as much memory.
constexpr std::size_t kLargestConfig = std::size_t{4} << 20;

/// Decoders (gemma, llama, mistral, qwen2, qwen3): one step of `q_len` new tokens of each of `batch`
/// sequences, behind which `kv_len` are in the cache (parameters of the trace; 1, 1, and what the model has
/// been made for, up to 8,192). Only the last token's head is computed. BERT and GPT-2: all of `seq` tokens
/// (128); ViT: an image. Throws UserError for architectures that are not known, and with every key that is
/// wrong.
Imported import_huggingface_config(std::string_view text, const std::string& file);

}  // namespace systole
