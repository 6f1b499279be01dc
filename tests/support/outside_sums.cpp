// SPDX-License-Identifier: Apache-2.0
#include "tests/support/outside_sums.h"

#include <set>

#include "sim/config/quantity.h"

namespace systole::test {
namespace {

const config::Entry* find(const std::vector<config::Entry>& keys, const std::string& path) {
    for (const config::Entry& entry : keys)
        if (entry.path == path) return &entry;
    return nullptr;
}

std::int64_t elements_of(const Tensor& tensor) {
    std::int64_t product = 1;
    for (const std::int64_t extent : tensor.shape) product *= extent;
    return product;
}

std::int64_t kept_of(std::int64_t depth, const WeightFormat& format) {
    return format.kept == 0 ? depth : depth * format.kept / format.of;
}

std::int64_t width_of(DType dtype) {
    switch (dtype) {
        case DType::Int4:
        case DType::Fp4:
            return 4;
        case DType::Int8:
        case DType::Fp8:
            return 8;
        case DType::Int16:
        case DType::Bf16:
        case DType::Fp16:
            return 16;
        case DType::Int32:
        case DType::Fp32:
            return 32;
    }
    return 0;
}

std::int64_t attention_macs(const Attention& op) {
    std::int64_t pairs = 0;
    for (std::int64_t query = 0; query < op.q_len; ++query)
        for (std::int64_t key = 0; key < op.kv_len; ++key)
            pairs += !op.causal || key <= query + op.kv_len - op.q_len ? 1 : 0;
    const std::int64_t values = op.value_width > 0 ? op.value_width : op.head_dim;
    return op.batch * op.heads * pairs * (op.head_dim + values);
}

}  // namespace

std::int64_t macs_by_shapes(const Graph& graph, const Layer& layer) {
    if (const auto* attention = std::get_if<Attention>(&layer.op)) return attention_macs(*attention);
    const std::int64_t outputs = elements_of(graph.tensors[layer.output]);
    if (std::holds_alternative<Conv2d>(layer.op)) {
        const Tensor& weights = graph.tensors[layer.weights.value()];
        return outputs * kept_of(elements_of(weights) / weights.shape.front(), weights.format);
    }
    if (!std::holds_alternative<MatMul>(layer.op)) return 0;
    const WeightFormat format = layer.weights ? graph.tensors[*layer.weights].format : WeightFormat{};
    return outputs * kept_of(graph.tensors[layer.inputs.front()].shape.back(), format);
}

std::int64_t least_read(const Graph& graph, bool inputs) {
    std::set<TensorId> met;
    std::int64_t bits = 0;
    const auto meet = [&](TensorId id) {
        const Tensor& tensor = graph.tensors[id];
        if (met.insert(id).second)
            bits += kept_of(elements_of(tensor), tensor.format) * width_of(tensor.dtype);
    };
    for (const Layer& layer : graph.layers) {
        if (layer.weights) meet(*layer.weights);
        if (layer.bias) meet(*layer.bias);
    }
    if (inputs)
        for (const TensorId input : graph.inputs) meet(input);
    return bits / 8;
}

std::int64_t count_of(const std::vector<config::Entry>& keys, const std::string& path) {
    const config::Entry* entry = find(keys, path);
    return entry == nullptr ? 0 : std::stoll(entry->value);
}

std::int64_t slots_by_keys(const std::vector<config::Entry>& keys, const std::string& dtype) {
    if (find(keys, "mxu.rows") == nullptr)
        return count_of(keys, "sm.count") * count_of(keys, "sm.sub_cores") *
               count_of(keys, "sm.tensor.macs." + dtype);
    const config::Entry* rate = find(keys, "mxu.rate." + dtype);
    // A MAC in several cycles keeps its PE for as long.
    const std::int64_t macs = rate == nullptr || rate->value.starts_with("1/") ? 1 : std::stoll(rate->value);
    return count_of(keys, "core.count") * count_of(keys, "mxu.count") * count_of(keys, "mxu.rows") *
           count_of(keys, "mxu.cols") * macs;
}

double memory_room(const std::vector<config::Entry>& keys, Ticks time) {
    static const std::set<std::string> two_transfers{"HBM2", "HBM2E", "DDR3", "DDR4"};
    const config::Entry* standard = find(keys, "memory.standard");
    if (standard == nullptr || !two_transfers.contains(standard->value)) return -1;
    const auto clock = config::parse_quantity(find(keys, "memory.clock")->value, config::Dimension::Frequency,
                                              1, 1'000'000'000'000);
    const double bytes_a_clock =
        2.0 / 8 *
        static_cast<double>(count_of(keys, "memory.channels") * count_of(keys, "memory.pseudo_channels") *
                            count_of(keys, "memory.data_bits"));
    // An edge of its clock may be a picosecond early.
    return bytes_a_clock * static_cast<double>(*clock.value) * static_cast<double>(time.value() + 1) / 1e12;
}

std::int64_t out_of(const ResultRow& row, Place place) {
    std::int64_t sum = 0;
    for (const Movement& m : row.movements) sum += m.from == place ? m.bytes.value() : 0;
    return sum;
}

std::int64_t into(const ResultRow& row, Place place) {
    std::int64_t sum = 0;
    for (const Movement& m : row.movements) sum += m.to == place ? m.bytes.value() : 0;
    return sum;
}

std::int64_t between(const ResultRow& row, Place from, Place to) {
    std::int64_t sum = 0;
    for (const Movement& m : row.movements) sum += m.from == from && m.to == to ? m.bytes.value() : 0;
    return sum;
}

std::int64_t counted(const DeviceResult& result, const std::string& path_end, const std::string& name) {
    std::int64_t sum = 0;
    for (const Stat& stat : result.stats)
        if (stat.name == name && stat.path.ends_with(path_end)) sum += stat.value;
    return sum;
}

}  // namespace systole::test
