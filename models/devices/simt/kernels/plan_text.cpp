// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "models/devices/simt/kernels/collective_plan.h"
#include "models/devices/simt/kernels/plan.h"
#include "sim/base/text.h"

namespace systole::simt {
namespace {

std::string block_text(std::string_view name, const MatrixPlace& matrix) {
    return fmt::format("{} at {} ({})", name, matrix.address, to_string(matrix.operand));
}

/// Of either kernel: what it reads besides.
template <class Plan>
std::string read_by_epilogue(const Plan& plan) {
    std::string text;
    for (const ColumnValues& values : plan.columns) text += ", " + block_text(values.name, values.place);
    if (plan.other.bytes > Bytes(0)) text += ", " + block_text("joins", plan.other);
    return text;
}

std::string text_of(const GemmPlan& plan, const SimtSpec& spec) {
    const GemmKernel& kernel = plan.kernel;
    const GemmShape& shape = kernel.shape;
    const CtaTiming& timing = plan.timing;
    const std::int64_t sms = spec.sm.for_clusters(kernel.tile.cluster());
    return fmt::format(
        "  {}gemm {}x{}x{} batch {} {} -> {}{}\n"
        "    tile {}; {} CTAs in panels of {}, {} on an SM, {} waves of {} SMs, {} steps\n"
        "    cycles: prologue {}, fill {}, step {:.2f} alone and {:.2f} of {} CTAs, of which {:.2f} busy, "
        "epilogue {}\n"
        "    {}, {}, {}{}{}\n",
        shape.gather ? "implicit " : "", shape.m, shape.n, shape.k, shape.batch, to_string(shape.dtype),
        to_string(shape.output), kernel.swapped ? ", transposed" : "", to_string(kernel), kernel.ctas(),
        kernel.raster.panel, timing.resident, ceil_div(kernel.ctas(), sms * timing.resident), sms,
        kernel.steps_of_part(), timing.prologue.value(), timing.fill.value(), timing.interval_alone,
        timing.interval_full, timing.resident, timing.busy, timing.epilogue.value(), block_text("a", plan.a),
        block_text("b", plan.b),
        kernel.split_k > 1 ? fmt::format("sums of parts at {}", plan.sums.address) : block_text("c", plan.c),
        kernel.streams > 0 ? fmt::format(", sums of shares at {}", plan.sums.address) : "",
        kernel.epilogue().reads() ? read_by_epilogue(plan) : "");
}

std::string text_of(const StreamPlan& plan, const SimtSpec&) {
    return fmt::format("  stream {} CTAs, {} on an SM, reads {} at {}{}, writes {} at {}\n", plan.ctas,
                       plan.resident, format_bytes(plan.from.bytes), plan.from.address,
                       read_by_epilogue(plan), format_bytes(plan.to.bytes), plan.to.address);
}

std::string text_of(const AttentionPlan& plan, const SimtSpec& spec) {
    const AttentionKernel& kernel = plan.kernel;
    const CtaTiming& timing = plan.timing;
    const std::int64_t places = std::int64_t{spec.sm.count} * timing.resident;
    return fmt::format(
        "  {}; {} CTAs, {} on an SM, {} waves, {} steps at most{}\n"
        "    cycles: prologue {}, fill {}, step {:.2f} alone and {:.2f} of {} CTAs, of which {:.2f} busy, "
        "epilogue {}\n"
        "    {}, {}, {}, {}\n",
        to_string(kernel), kernel.ctas(), timing.resident, ceil_div(kernel.ctas(), places),
        kernel.blocks_of_part(), kernel.panel > 0 ? fmt::format(", panels of {} heads", kernel.panel) : "",
        timing.prologue.value(), timing.fill.value(), timing.interval_alone, timing.interval_full,
        timing.resident, timing.busy, timing.epilogue.value(), block_text("q", plan.q),
        block_text("k", plan.k), plan.v.bytes > Bytes(0) ? block_text("v", plan.v) : "v as k",
        kernel.splits > 1 ? fmt::format("sums of parts at {}", plan.sums.address)
                          : block_text("out", plan.out));
}

std::string text_of(const VectorPlan& plan, const SimtSpec& spec) {
    const CtaTiming& timing = plan.timing;
    const VectorKernel& kernel = plan.kernel;
    std::string text = fmt::format(
        "  {}; {} CTAs, {} on an SM, {} waves\n"
        "    cycles: prologue {}, {} step{} of {:.2f} alone and {:.2f} of {} CTAs\n    ",
        to_string(kernel), kernel.ctas(), timing.resident,
        ceil_div(kernel.ctas(), std::int64_t{spec.sm.count} * timing.resident), timing.prologue.value(),
        kernel.steps(), kernel.steps() == 1 ? "" : "s", timing.interval_alone, timing.interval_full,
        timing.resident);
    for (const VectorOperand& operand : plan.in) text += block_text("reads", operand.place) + ", ";
    for (const MatrixPlace& matrix : plan.columns) text += block_text("columns", matrix) + ", ";
    return text + block_text("writes", plan.to.place) + "\n";
}

std::string text_of(const CollectivePlan& plan, const SimtSpec&) {
    const CollectiveTime& time = plan.time;
    return fmt::format(
        "  {}; {} CTAs, sends {} and receives {}\n"
        "    launch {}, first data {}, all {}; {}, {}\n",
        to_string(time.kernel), plan.ctas, format_bytes(time.kernel.out()), format_bytes(time.kernel.in()),
        format_time(time.launch), format_time(time.latency), format_time(time.total),
        block_text("reads", plan.from), block_text("writes", plan.to));
}

}  // namespace

std::string waves_text(std::int64_t ctas, std::int64_t sms, int resident, const SmSpec& sm) {
    return fmt::format("{} of {} SMs, {:.1f} waves", std::min(ctas, sms), sm.count,
                       static_cast<double>(ctas) / static_cast<double>(sms * resident));
}

std::string to_text(const ChipPlan& plan, const SimtSpec& spec) {
    std::string text = fmt::format("# kernels of {} on {}\n", plan.trace, spec.name);
    for (const LayerPlan& layer : plan.layers) {
        text += fmt::format("layer {}: {}, {}\n", layer.name, layer.op, layer.mapping);
        for (const KernelPlan& kernel : layer.kernels)
            text += std::visit([&](const auto& own) { return text_of(own, spec); }, kernel);
    }
    return text;
}

}  // namespace systole::simt
