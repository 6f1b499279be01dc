// SPDX-License-Identifier: Apache-2.0
// Reads a native trace (docs/formats.md): YAML with parameters, repeated blocks and comments; infers every
// shape and checks every edge.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sim/config/yaml.h"
#include "sim/workload/graph.h"

namespace systole {

/// A parameter given on the command line (`--set workload.batch=8`).
struct TraceOverride {
    std::string name;
    std::string value;
    SourceMark where;
};

/// Of a trace that is trained, the whole step. Throws UserError with every mistake found, positions included.
/// An override of a parameter that the trace does not declare is a mistake, with did-you-mean.
Graph read_trace(const std::filesystem::path& file, const std::vector<TraceOverride>& overrides);
Graph build_trace(const config::YamlNode& document, const std::vector<TraceOverride>& overrides);

/// A graph of one operator, for `systole op`: `name` "matmul" with {m,n,k,batch,dtype,...}, "conv2d" with
/// {n,h,w,c,k,r,s,stride,pad,dilation,groups,...}; keys as in docs/formats.md, `where` names the origin
/// ("rows.csv:3"). Keys the operator does not know, and missing ones, are mistakes. `places`: of keys ("op":
/// of the name), as far as they are known.
Graph single_operator(const std::string& name, const std::map<std::string, std::string>& keys,
                      const SourceMark& where, const std::map<std::string, SourceMark>& places = {});

}  // namespace systole
