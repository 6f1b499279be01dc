// SPDX-License-Identifier: Apache-2.0
// Whisper (Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision", 2022): an encoder of
// spectrograms, and a decoder that attends to what it made.
#pragma once

#include <string>

#include "sim/workload/importers/model_config.h"

namespace systole {

/// The encoder on 30 s of sound, and a step of the decoder behind it, its keys and values of the encoder
/// among what it computes: the first step. Mistakes are recorded in the config, and notes.
std::string whisper_trace(ModelConfig& config);

}  // namespace systole
