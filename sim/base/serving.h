// SPDX-License-Identifier: Apache-2.0
// Which step of a language model a trace is, so that its time can be read as tokens: what serving and
// training count by.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace systole {

struct ServingStep {
    /// Prefill: all `context` tokens of each of `batch` prompts, up to the first token that they lead to.
    /// Decode: `new_tokens` more of each, which see `context` tokens with themselves. Train: `batch`
    /// sequences of `context` tokens on each of `data_parallel` replicas, up to the new weights.
    enum class Phase { Prefill, Decode, Train };
    Phase phase = Phase::Decode;
    std::int64_t batch = 1, context = 1, new_tokens = 1;
    std::int64_t tensor_parallel = 1;  ///< chips that share a replica; the trace is one chip's
    std::int64_t data_parallel = 1;

    /// Tokens that a replica gets through in the step: of prompts, made, or trained on.
    std::int64_t tokens() const { return batch * (phase == Phase::Decode ? new_tokens : context); }
    std::int64_t chips() const { return tensor_parallel * data_parallel; }
    friend bool operator==(const ServingStep&, const ServingStep&) = default;
};

/// "prefill", "decode", "train", in the order of the enum.
inline const std::vector<std::string>& phase_names() {
    static const std::vector<std::string> names{"prefill", "decode", "train"};
    return names;
}
inline const std::string& to_string(ServingStep::Phase phase) {
    return phase_names()[static_cast<std::size_t>(phase)];
}

}  // namespace systole
