// SPDX-License-Identifier: Apache-2.0
// Shapes of what a node makes that means nothing to a trace, from libonnx; and numbers of small tensors.
#pragma once

#include <optional>
#include <vector>

#include "sim/workload/importers/onnx/translator.h"

namespace systole {

/// Shape and type (TensorProto::DataType) of an output; nothing where libonnx does not know, or not the whole
/// shape.
struct InferredOutput {
    Shape shape;
    int type = 0;
};
/// Asks libonnx in a process of its own, some milliseconds.
std::vector<std::optional<InferredOutput>> infer_outputs(const onnx::NodeProto& node, OnnxScope& scope,
                                                         std::int64_t opset);

/// Every extent of a recorded shape, with symbolic ones as `dims` says.
std::optional<Shape> whole_shape(const onnx::TypeProto& type,
                                 const std::map<std::string, std::int64_t>& dims);

/// Numbers of a tensor; nothing if there are many, if they lie elsewhere, or are no numbers.
std::optional<Constant> constant_of(const onnx::TensorProto& tensor);
Shape shape_of(const onnx::TensorProto& tensor);

}  // namespace systole
