// SPDX-License-Identifier: Apache-2.0
// The scopes of a set of signals, as a tree: what viewers show on the left.
#pragma once

#include <string>
#include <vector>

#include "sim/timeline/wave_signal.h"

namespace systole {

struct SignalTree {
    std::string name;                  ///< of the scope; empty at the root
    std::vector<std::size_t> signals;  ///< of this very scope, by number
    std::vector<SignalTree> children;
};

/// Scopes and signals in the order in which they first appear.
SignalTree make_signal_tree(const std::vector<WaveSignal>& signals);

}  // namespace systole
