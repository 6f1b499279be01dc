// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/onnx/onnx_import.h"

#include "sim/workload/importers/onnx/translator.h"

namespace systole {

bool reads_onnx() {
    return true;
}

Imported import_onnx(std::istream& in, const std::string& file, const OnnxChoices& choices) {
    const auto model = read_model(in, file);
    return Translator(*model, file, choices).run();
}

}  // namespace systole
