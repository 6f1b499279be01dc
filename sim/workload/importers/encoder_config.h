// SPDX-License-Identifier: Apache-2.0
// BERT, GPT-2 (a whole prefill) and ViT as config.json files describe them.
#pragma once

#include <string>

#include "sim/workload/importers/model_config.h"

namespace systole {

/// Each answers a trace; mistakes are recorded in the config, and notes.
std::string bert_trace(ModelConfig& config);
std::string gpt2_trace(ModelConfig& config);
std::string vit_trace(ModelConfig& config);

}  // namespace systole
