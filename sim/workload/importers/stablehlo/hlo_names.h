// SPDX-License-Identifier: Apache-2.0
// What operations and element types of StableHLO (and of its forerunner MHLO) are called.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/dtype.h"
#include "sim/workload/importers/stablehlo/mlir_module.h"

namespace systole {

/// "add" of "stablehlo.add" and "mhlo.add", "call" of "func.call"; the whole name of other dialects.
std::string_view hlo_name(const MlirOperation& operation);
/// The function that a call (or a composite) means; null if the module has none of that name.
const MlirFunction* hlo_callee(const MlirModule& module, const MlirOperation& operation);
/// "%iterArg", "%iterArg_0" of a while: what its operands are called within.
std::vector<std::string_view> hlo_loop_arguments(const MlirTokens& tokens, const MlirOperation& loop);

/// "arg3" of "%arg3"; "v12" of "%12".
std::string trace_name_of(std::string_view value);

/// f64, f32, tf32, f16, bf16, and the formats of eight bits.
bool is_float(std::string_view element);
/// Bits of an integer element, signed or not ("i32", "ui8", "i1"); nothing of others.
std::optional<int> integer_bits(std::string_view element);
/// The dtype of the trace: floats of 16 bits and more are its parameter, i1 is int8, wide integers int32.
std::optional<DType> hlo_dtype(std::string_view element);

}  // namespace systole
