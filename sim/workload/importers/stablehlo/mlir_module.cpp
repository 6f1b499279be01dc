// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/stablehlo/mlir_module.h"

#include "sim/workload/importers/stablehlo/mlir_reader.h"

namespace systole {

MlirModule::MlirModule(const MlirTokens& tokens) : tokens_(tokens) {
    MlirReader reader(tokens);
    reader.read_module(name_, functions_);
}

const MlirFunction* MlirModule::find(std::string_view name) const {
    for (const MlirFunction& each : functions_)
        if (each.name == name) return &each;
    return nullptr;
}

}  // namespace systole
