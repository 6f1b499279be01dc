// SPDX-License-Identifier: Apache-2.0
// The trace's number formats for those of ONNX.
#include "sim/workload/importers/onnx/translator.h"

namespace systole {

std::optional<DType> dtype_of(int type) {
    using T = onnx::TensorProto;
    switch (type) {
        case T::FLOAT:
        case T::FLOAT16:
        case T::BFLOAT16:
        case T::DOUBLE:
            return Network::kFloat;
        case T::UINT8:
        case T::INT8:
        case T::BOOL:
            return DType::Int8;
        case T::UINT16:
        case T::INT16:
            return DType::Int16;
        case T::INT32:
        case T::INT64:
        case T::UINT32:
        case T::UINT64:
            return DType::Int32;
        case 17:  // FLOAT8E4M3FN, FLOAT8E4M3FNUZ, FLOAT8E5M2, FLOAT8E5M2FNUZ, newer than libonnx
        case 18:
        case 19:
        case 20:
            return DType::Fp8;
        case 21:  // UINT4, INT4
        case 22:
            return DType::Int4;
        case 23:  // FLOAT4E2M1
            return DType::Fp4;
        default:
            return std::nullopt;
    }
}

int type_of(DType dtype) {
    switch (dtype) {
        case DType::Int4:
        case DType::Int8:
            return onnx::TensorProto::INT8;
        case DType::Int16:
            return onnx::TensorProto::INT16;
        case DType::Int32:
            return onnx::TensorProto::INT64;
        case DType::Fp4:
        case DType::Fp8:
        case DType::Bf16:
        case DType::Fp16:
        case DType::Fp32:
            break;
    }
    return onnx::TensorProto::FLOAT;
}

}  // namespace systole
