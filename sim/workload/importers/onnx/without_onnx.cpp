// SPDX-License-Identifier: Apache-2.0
// What stands where Systole has been built without ONNX.
#include "sim/workload/importers/onnx/onnx_import.h"

namespace systole {

bool reads_onnx() {
    return false;
}

Imported import_onnx(std::istream&, const std::string& file, const OnnxChoices&) {
    throw UserError({file},
                    "this program was built without ONNX; install libonnx-dev, libprotobuf-dev and "
                    "protobuf-compiler, then configure and build again (cmake -DSYSTOLE_ONNX=ON)");
}

}  // namespace systole
