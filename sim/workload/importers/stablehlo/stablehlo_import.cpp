// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/stablehlo/stablehlo_import.h"

#include "sim/workload/importers/stablehlo/hlo_translator.h"

namespace systole {

Imported import_stablehlo(std::string_view text, const std::string& file,
                          const std::vector<std::string>& inputs) {
    const MlirTokens tokens(text, file);
    const MlirModule module(tokens);
    return HloTranslator(module, file).run(inputs);
}

}  // namespace systole
