// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/vector_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/devices/simt/kernels/time_vector.h"
#include "models/devices/simt/kernels/vector_program.h"
#include "sim/base/error.h"

namespace systole::simt {
namespace {

/// Of each result.
InstructionMix work_of(const Layer& layer) {
    if (const auto* activation = std::get_if<Activation>(&layer.op)) return mix_of(activation->function);
    const auto& elementwise = std::get<Elementwise>(layer.op);
    return mix_of(elementwise.kind) + mix_of(elementwise.post);
}

}  // namespace

std::optional<std::string> what_no_vector_kernel_does(const Layer& layer) {
    const std::string name = op_name(layer);
    if (std::holds_alternative<Activation>(layer.op)) return std::nullopt;
    if (const auto* elementwise = std::get_if<Elementwise>(&layer.op)) {
        if (elementwise->slope != Function::None) return name + " with a slope";
        return std::nullopt;
    }
    if (const auto* softmax = std::get_if<Softmax>(&layer.op)) {
        if (softmax->gradient) return "the gradient of " + name;
        return std::nullopt;
    }
    if (const auto* norm = std::get_if<Norm>(&layer.op)) {
        if (norm->gradient) return "the gradient of " + name;
        return std::nullopt;
    }
    return name;
}

VectorKernel VectorPlanner::kernel_of(const Layer& layer) const {
    const DType in = graph_.tensors[layer.inputs.at(0)].dtype, out = graph_.tensors[layer.output].dtype;
    if (const auto* softmax = std::get_if<Softmax>(&layer.op))
        return softmax_kernel(softmax->rows, softmax->cols, in, out);
    if (const auto* norm = std::get_if<Norm>(&layer.op)) {
        VectorKernel kernel = norm_kernel(*norm, in, out);
        kernel.shift = layer.bias.has_value();
        return kernel;
    }
    const bool two = std::holds_alternative<Elementwise>(layer.op);
    return elementwise_kernel(elements(graph_.tensors[layer.output].shape), two ? 2 : 1, work_of(layer), in,
                              out);
}

void VectorPlanner::add_operands(const Layer& layer, VectorPlan& plan) const {
    const std::int64_t all = elements(graph_.tensors[layer.inputs.at(0)].shape);
    plan.in.push_back({place(layer.inputs[0], Operand::Activations), all, 1});
    if (const auto* elementwise = std::get_if<Elementwise>(&layer.op)) {
        const TensorId second = elementwise->stored ? layer.weights.value() : layer.inputs.at(1);
        plan.in.push_back({place(second, elementwise->stored ? Operand::Weights : Operand::Activations),
                           elements(graph_.tensors[second].shape), elementwise->items});
    }
    if (std::holds_alternative<Norm>(layer.op)) {
        if (layer.weights) plan.columns.push_back(place(*layer.weights, Operand::Weights));
        if (layer.bias) plan.columns.push_back(place(*layer.bias, Operand::Weights));
    }
    plan.to = place(layer.output, Operand::Outputs);
}

VectorPlan VectorPlanner::plan(const Layer& layer) {
    const VectorKernel kernel = kernel_of(layer);
    // Other rows go as these do.
    VectorKernel of_cta = kernel;
    of_cta.rows = 1;
    if (kernel.kind == VectorKernel::Kind::Elementwise) of_cta.cols = kernel.elements_of_cta();
    auto known = known_.find(of_cta);
    if (known == known_.end()) {
        Timed timed{of_cta, {}};
        timed.timing = time_vector(timed.kernel, spec_.sm);
        known = known_.emplace(of_cta, timed).first;
    }
    if (!known->second.timing)
        throw UserError(layer.where,
                        fmt::format("'{}': no kernel for {} fits an SM of {} ({} threads, {} registers each)",
                                    layer.name, op_name(layer), spec_.name, kernel.threads(),
                                    vector_program(kernel).registers_of_thread));
    VectorPlan plan;
    plan.kernel = kernel;
    plan.kernel.rereads_l1 = known->second.kernel.rereads_l1;
    plan.timing = *known->second.timing;
    plan.sms = spec_.sm.count;
    add_operands(layer, plan);
    return plan;
}

std::string mapping_of(const VectorPlan& plan, const SimtSpec& spec) {
    const std::int64_t ctas = plan.kernel.ctas(), places = std::int64_t{spec.sm.count} * plan.timing.resident;
    return fmt::format("{}, {} of {} SMs, {:.1f} waves", to_string(plan.kernel),
                       std::min<std::int64_t>(ctas, spec.sm.count), spec.sm.count,
                       static_cast<double>(ctas) / static_cast<double>(places));
}

}  // namespace systole::simt
