// SPDX-License-Identifier: Apache-2.0
// Networks in the format of ONNX (https://onnx.ai, onnx.proto): a graph of nodes as exporters of PyTorch,
// TensorFlow and Paddle write it. Weights are not read, and external data is not opened.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>

#include "sim/workload/importers/imported.h"

namespace systole {

struct OnnxChoices {
    std::map<std::string, std::int64_t>
        dims;  ///< of symbolic dimensions, by name; "x.0" is one without a name
    std::map<std::string, std::string> branches;  ///< of If nodes: "then" or "else"
};

/// Whether this program reads ONNX.
bool reads_onnx();

/// The trace, with a parameter `dtype` (bf16) for all floating-point tensors, and a note for every node that
/// it does not have. Throws UserError for what is no model, for dimensions that nobody gives, and where
/// nothing could be mapped.
Imported import_onnx(std::istream& in, const std::string& file, const OnnxChoices& choices);

}  // namespace systole
