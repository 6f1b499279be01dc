// SPDX-License-Identifier: Apache-2.0
// Small models, in the text form that libonnx parses, and what the importer makes of them.
#pragma once

#include <onnx/defs/parser.h>

#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "sim/workload/importers/onnx/onnx_import.h"
#include "tests/unit/network/networks.h"

namespace systole::test {

inline onnx::ModelProto model_of(const std::string& graph, int opset = 13) {
    onnx::ModelProto model;
    const std::string text = "<ir_version: 7, opset_import: [\"\" : " + std::to_string(opset) +
                             ", \"com.microsoft\" : 1]>\nagraph " + graph;
    onnx::OnnxParser parser(text.c_str());
    const auto status = parser.Parse(model);
    INFO(graph << "\n" << status.ErrorMessage());
    REQUIRE(status.IsOK());
    return model;
}

/// What is stored, without numbers.
inline void store(onnx::ModelProto& model, const std::string& name, const std::vector<std::int64_t>& dims,
                  int type = onnx::TensorProto::FLOAT) {
    onnx::TensorProto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (const std::int64_t dim : dims) tensor.add_dims(dim);
}

inline void store_numbers(onnx::ModelProto& model, const std::string& name,
                          const std::vector<std::int64_t>& numbers) {
    store(model, name, {static_cast<std::int64_t>(numbers.size())}, onnx::TensorProto::INT64);
    for (const std::int64_t number : numbers)
        model.mutable_graph()
            ->mutable_initializer(model.graph().initializer_size() - 1)
            ->add_int64_data(number);
}

inline Imported import(const onnx::ModelProto& model, const OnnxChoices& choices = {}) {
    std::istringstream in(model.SerializeAsString());
    return import_onnx(in, "m.onnx", choices);
}

inline std::string refusal(const onnx::ModelProto& model, const OnnxChoices& choices = {}) {
    try {
        import(model, choices);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

inline std::string notes(const Imported& imported) {
    std::string text;
    for (const ImportNote& note : imported.notes) text += to_string(note) + "\n";
    return text;
}

}  // namespace systole::test
