// SPDX-License-Identifier: Apache-2.0
// Decoders as config.json files describe them.
#pragma once

#include "sim/workload/importers/decoder.h"
#include "sim/workload/importers/model_config.h"

namespace systole {

/// Values of `model_type` that are decoders of one kind: gpt2 among them, with a cache and a head.
const std::vector<std::string>& decoder_types();
/// Sizes and switches; records mistakes in the config, and notes.
Decoder read_decoder(ModelConfig& config);

}  // namespace systole
