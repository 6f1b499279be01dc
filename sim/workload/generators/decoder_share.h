// SPDX-License-Identifier: Apache-2.0
// What one of several chips has of a decoder (Shoeybi et al., "Megatron-LM", 2019, section 3): heads and
// columns of the first products, rows of the second ones, a part of the words, some of the experts. Heads of
// keys and values that are fewer than chips are there several times.
#pragma once

#include "sim/workload/importers/decoder.h"
#include "sim/workload/importers/model_config.h"

namespace systole {

/// The sizes of the share; records a mistake for each that `chips` do not divide.
Decoder share_of(const Decoder& decoder, std::int64_t chips, JsonObject& keys);

/// Experts of a chip that `tokens` meet which choose each at random, on average: count · (1 − (1 − chosen /
/// all)^tokens), to the nearest whole number, at least 1.
std::int64_t expected_met(std::int64_t count, std::int64_t chosen, std::int64_t all, std::int64_t tokens);

}  // namespace systole
