// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/stablehlo/mlir_module.h"

#include "sim/workload/importers/stablehlo/mlir_reader.h"

namespace systole {

MlirModule::MlirModule(const MlirTokens& tokens) : tokens_(tokens) {
    MlirReader reader(tokens);
    reader.read_module(name_, functions_);
    for (std::size_t i = 0; i < functions_.size(); ++i) places_.emplace(functions_[i].name, i);
}

const MlirFunction* MlirModule::find(std::string_view name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? nullptr : &functions_[found->second];
}

}  // namespace systole
