// SPDX-License-Identifier: Apache-2.0
// Short ways to a graph in tests: a trace from text, a tensor or layer by name, a mistake as one line.
#pragma once

#include <catch2/catch.hpp>
#include <string>

#include "sim/workload/trace.h"

namespace systole::test {

inline Graph graph_of(const std::string& text, const std::vector<TraceOverride>& overrides = {}) {
    return build_trace(config::parse_yaml(text, "t"), overrides);
}

/// A trace of one input `x` and the given lines of layers; the last layer, `out`, is the output.
inline std::string trace_of(const std::string& shape, const std::string& layers,
                            const std::string& dtype = "int8") {
    return "trace: t\ninputs: {x: {shape: " + shape + ", dtype: " + dtype + "}}\nlayers:\n" + layers +
           "outputs: [out]\n";
}

/// What the reader says about a wrong trace; empty if nothing.
inline std::string mistakes_of(const std::string& text, const std::vector<TraceOverride>& overrides = {}) {
    try {
        graph_of(text, overrides);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

inline const Tensor& tensor(const Graph& graph, const std::string& name) {
    for (const Tensor& candidate : graph.tensors)
        if (candidate.name == name) return candidate;
    FAIL("no tensor " << name);
    throw 0;  // unreachable: FAIL throws
}

inline const Layer& layer(const Graph& graph, const std::string& name) {
    for (const Layer& candidate : graph.layers)
        if (candidate.name == name) return candidate;
    FAIL("no layer " << name);
    throw 0;
}

}  // namespace systole::test
