// SPDX-License-Identifier: Apache-2.0
// The names that a layer can see: inputs, earlier layers of its own turn of a block, and those of the blocks
// around it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/workload/graph.h"

namespace systole {

/// What a name stands for: a tensor, or one whose shape a mistake hides (already told, so not told again).
struct Named {
    std::optional<TensorId> tensor;
};

/// One turn of a block; the trace itself is a block of one turn.
struct Scope {
    const Scope* outer = nullptr;
    std::string prefix;             ///< of the layers' names: "block.0."
    std::optional<Named> block_in;  ///< what enters this turn
    std::optional<Named> previous;  ///< what a layer without `in` reads
    std::map<std::string, Named, std::less<>> names;

    int depth() const { return outer ? outer->depth() + 1 : 0; }

    /// The innermost meaning of a name; `block_in` is this turn's. Nothing if it is unknown.
    std::optional<Named> find(std::string_view name) const {
        if (name == "block_in" && outer) return block_in;
        for (const Scope* scope = this; scope; scope = scope->outer) {
            const auto found = scope->names.find(name);
            if (found != scope->names.end()) return found->second;
        }
        return std::nullopt;
    }

    /// Names to suggest for a misspelled one; bounded, because a trace may have a million layers.
    std::vector<std::string> visible() const {
        constexpr std::size_t kMost = 1000;
        std::vector<std::string> all;
        if (outer) all.emplace_back("block_in");
        for (const Scope* scope = this; scope; scope = scope->outer)
            for (auto name = scope->names.begin(); name != scope->names.end() && all.size() < kMost; ++name)
                all.push_back(name->first);
        return all;
    }
};

}  // namespace systole
