// SPDX-License-Identifier: Apache-2.0
// The trace of a step that serves or trains a language model: phase, sizes, number formats, and one chip's
// share of it where chips share it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/serving.h"
#include "sim/workload/importers/imported.h"

namespace systole {

/// Which experts tokens choose is data; how many of them are met is taken from this. Even: each chosen one by
/// as few as can be, so as many as can be. Expected: as many as tokens meet on average that choose each at
/// random. Worst: all tokens choose the same ones, which one chip has.
enum class Routing { Even, Expected, Worst };
/// "even", "expected", "worst".
const std::vector<std::string>& routing_names();
/// "bf16", "fp8", "int8", "int4", "mxfp8", "mxfp4", "nvfp4": of stored weights.
const std::vector<std::string>& weight_formats();
/// "bf16", "as-weights": of what products with stored weights read.
const std::vector<std::string>& activation_formats();
/// "bf16", "fp8", "int8": of the cache of keys and values.
const std::vector<std::string>& cache_formats();

struct LlmRequest {
    ServingStep step;  ///< its new_tokens is 1: a trace is one step
    /// Nobody asked for that context: of a model with a table of fewer positions it is as many as it has.
    bool any_context = false;
    std::int64_t new_tokens = 1;  ///< decode: of so many that each sequence gets, the step in the middle
    std::string weights = "bf16", cache = "bf16";
    std::string activations;  ///< of activation_formats; empty: nobody asks, as the weights need
    Routing routing = Routing::Even;
    std::string optimizer = "adam", gradients = "bf16", recompute = "none";  ///< train
    bool asks_routing = false;  ///< somebody has chosen it: a model without experts has none
};

/// `text`: the config.json in `file` of a decoder. Throws UserError with every mistake: in the file, and
/// sizes that the request's chips do not divide.
Imported llm_trace(std::string_view text, const std::string& file, const LlmRequest& request);

}  // namespace systole
