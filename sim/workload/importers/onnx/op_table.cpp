// SPDX-License-Identifier: Apache-2.0
// Which operator means what.
#include <map>
#include <string_view>

#include "sim/workload/importers/onnx/ops.h"

namespace systole {
namespace {

using Table = std::map<std::string_view, Meaning>;

const Table& element_table() {
    static const Table table{{"Add", map_pairwise},
                             {"Sub", map_pairwise},
                             {"Mul", map_pairwise},
                             {"Div", map_pairwise},
                             {"Max", map_pairwise},
                             {"Min", map_pairwise},
                             {"Sum", map_pairwise},
                             {"Mean", map_pairwise},
                             {"PRelu", map_pairwise},
                             {"Equal", map_test},
                             {"Less", map_test},
                             {"LessOrEqual", map_test},
                             {"Greater", map_test},
                             {"GreaterOrEqual", map_test},
                             {"And", map_test},
                             {"Or", map_test},
                             {"Xor", map_test},
                             {"Not", map_test},
                             {"IsNaN", map_test},
                             {"IsInf", map_test},
                             {"Relu", map_function},
                             {"Sigmoid", map_function},
                             {"Tanh", map_function},
                             {"Exp", map_function},
                             {"Log", map_function},
                             {"Sqrt", map_function},
                             {"Reciprocal", map_function},
                             {"Erf", map_function},
                             {"Sin", map_function},
                             {"Cos", map_function},
                             {"Abs", map_function},
                             {"Neg", map_function},
                             {"Floor", map_function},
                             {"Ceil", map_function},
                             {"Round", map_function},
                             {"LeakyRelu", map_function},
                             {"Elu", map_function},
                             {"Softplus", map_function},
                             {"Mish", map_function},
                             {"HardSigmoid", map_function},
                             {"HardSwish", map_function},
                             {"Gelu", map_function},
                             {"Swish", map_function},
                             {"Clip", map_clip},
                             {"Pow", map_power},
                             {"Where", map_where},
                             {"Cast", map_cast},
                             {"CastLike", map_cast},
                             {"Identity", map_same},
                             {"Dropout", map_same},
                             {"Selu", map_scaled_function},
                             {"Celu", map_scaled_function},
                             {"Softsign", map_scaled_function}};
    return table;
}

const Table& layer_table() {
    static const Table table{{"MatMul", map_matmul},
                             {"Gemm", map_gemm},
                             {"Einsum", map_einsum},
                             {"Conv", map_conv},
                             {"ConvTranspose", map_conv_transpose},
                             {"MaxPool", map_pool},
                             {"AveragePool", map_pool},
                             {"GlobalAveragePool", map_global_pool},
                             {"GlobalMaxPool", map_global_pool},
                             {"Resize", map_resize},
                             {"Upsample", map_resize},
                             {"Pad", map_pad},
                             {"Softmax", map_softmax},
                             {"LogSoftmax", map_softmax},
                             {"BatchNormalization", map_batch_norm},
                             {"LayerNormalization", map_layer_norm},
                             {"RMSNormalization", map_layer_norm},
                             {"SimplifiedLayerNormalization", map_layer_norm},
                             {"InstanceNormalization", map_group_norm},
                             {"GroupNormalization", map_group_norm},
                             {"MeanVarianceNormalization", map_group_norm},
                             {"LSTM", map_recurrent},
                             {"GRU", map_recurrent},
                             {"RNN", map_recurrent},
                             {"QuantizeLinear", map_quantize},
                             {"DequantizeLinear", map_dequantize},
                             {"DynamicQuantizeLinear", map_dynamic_quantize},
                             {"QLinearConv", map_quantized_conv},
                             {"ConvInteger", map_quantized_conv},
                             {"QLinearMatMul", map_quantized_matmul},
                             {"MatMulInteger", map_quantized_matmul}};
    return table;
}

const Table& data_table() {
    static const Table table{{"Reshape", map_reshape},
                             {"Flatten", map_flatten},
                             {"Squeeze", map_squeeze},
                             {"Unsqueeze", map_unsqueeze},
                             {"Transpose", map_transpose},
                             {"Expand", map_expand},
                             {"DepthToSpace", map_depth},
                             {"SpaceToDepth", map_depth},
                             {"Gather", map_gather},
                             {"Concat", map_concat},
                             {"Split", map_split},
                             {"Slice", map_slice},
                             {"Tile", map_tile},
                             {"ReduceSum", map_reduce},
                             {"ReduceMean", map_reduce},
                             {"ReduceMax", map_reduce},
                             {"ReduceMin", map_reduce},
                             {"ReduceProd", map_reduce},
                             {"ReduceL1", map_reduce},
                             {"ReduceL2", map_reduce},
                             {"ReduceSumSquare", map_reduce},
                             {"ReduceLogSum", map_reduce},
                             {"ReduceLogSumExp", map_reduce},
                             {"ArgMax", map_arg},
                             {"ArgMin", map_arg},
                             {"TopK", map_top_k},
                             {"If", map_if},
                             {"Loop", map_loop},
                             {"GatherElements", map_gather_elements},
                             {"Scan", map_scan}};
    return table;
}

const Table& microsoft_table() {
    static const Table table{{"Attention", map_attention},
                             {"Gelu", map_function},
                             {"FastGelu", map_function},
                             {"BiasGelu", map_function},
                             {"QuickGelu", map_function},
                             {"SkipLayerNormalization", map_skip_norm},
                             {"SkipSimplifiedLayerNormalization", map_skip_norm},
                             {"SimplifiedLayerNormalization", map_layer_norm},
                             {"MatMulNBits", map_quantized_matmul},
                             {"QuantizeLinear", map_quantize},
                             {"DequantizeLinear", map_dequantize}};
    return table;
}

Meaning look_up(const Table& table, const std::string& op) {
    const auto found = table.find(op);
    return found == table.end() ? nullptr : found->second;
}

}  // namespace

Meaning meaning_of(const onnx::NodeProto& node, bool is_function) {
    if (is_function) return map_function_call;
    if (node.domain() == "com.microsoft") return look_up(microsoft_table(), node.op_type());
    if (!node.domain().empty() && node.domain() != "ai.onnx") return nullptr;
    for (const Table* table : {&element_table(), &layer_table(), &data_table()})
        if (const Meaning meaning = look_up(*table, node.op_type())) return meaning;
    return nullptr;
}

}  // namespace systole
