// SPDX-License-Identifier: Apache-2.0
// The time of a step of a language model as tokens: to the first one, for each one, in a second.
#pragma once

#include <string>

#include "sim/base/serving.h"
#include "sim/base/units.h"

namespace systole {

struct ServingRates {
    double step_seconds = 0;
    double token_seconds = 0;  ///< decode: of a sequence, from one token to the next
    double tokens_per_s = 0;   ///< of all chips together
    double tokens_per_s_per_chip = 0;
};

ServingRates serving_rates(const ServingStep& step, Ticks time);

/// "Prefill of 16 x 4096 tokens on 4 chips: 1.2 s to the first token; …": one sentence.
std::string serving_sentence(const ServingStep& step, Ticks time);

}  // namespace systole
