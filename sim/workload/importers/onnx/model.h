// SPDX-License-Identifier: Apache-2.0
// A model as libonnx has it: read without its weights, and found sound: names are text, every value has one
// maker, nodes can be put in an order.
#pragma once

#include <onnx/onnx_pb.h>

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "sim/workload/graph.h"

namespace systole {

/// Throws UserError.
std::unique_ptr<onnx::ModelProto> read_model(std::istream& in, const std::string& file);

/// "conv1", or "Conv that makes 'x'" of a node without a name.
std::string node_title(const onnx::NodeProto& node);

/// The nodes, each behind those that make what it reads (and its subgraphs read). Throws UserError for a
/// cycle, and for values that are made twice.
std::vector<const onnx::NodeProto*> ordered_nodes(
    const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, const std::string& file);

/// Names that the nodes of a graph read and do not make themselves.
std::vector<std::string> free_names(const onnx::GraphProto& graph);

}  // namespace systole
