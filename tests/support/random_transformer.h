// SPDX-License-Identifier: Apache-2.0
// Random steps of small language models, of any phase: attention over caches, rotary embeddings, experts,
// sums over chips, stored weights in few bits, and training.
#pragma once

#include <cstdint>
#include <string>

#include "tests/support/dice.h"

namespace systole::test {

/// A trace as `systole trace llm` writes it. Throws UserError for a step that cannot be (weights whose format
/// does not divide their rows, say).
std::string random_transformer(Dice& dice);

}  // namespace systole::test
