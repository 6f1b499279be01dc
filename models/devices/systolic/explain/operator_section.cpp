// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "models/devices/systolic/explain/page.h"
#include "models/devices/systolic/explain/sections.h"
#include "sim/base/check.h"
#include "sim/base/text.h"

namespace systole::systolic {
namespace {

/// How a convolution is a matrix product.
std::string as_product(const Conv2d& c, const ArrayWork& work, Im2col im2col) {
    const std::int64_t channels = c.in_c / c.groups;
    SYSTOLE_CHECK(
        work.cut(Extent::M).extent() == c.pixels() && work.cut(Extent::K).extent() == c.taps() * channels,
        "the passes are of another convolution");
    const char* plural = c.batch == 1 ? "" : "s";
    const std::string images =
        c.depth ? fmt::format("volume{} x {}", plural, c.out_d()) : fmt::format("image{}", plural);
    const std::string slices = c.depth ? fmt::format("{} x ", c.kernel_d()) : "";
    std::string text = fmt::format(
        "   A convolution as a matrix product (implicit im2col, {}):\n"
        "     M = {} = {} {} x {} x {} output pixels, one row of a each\n"
        "     K = {} = {}{} x {} taps x {} input channels: the window under a pixel\n"
        "     N = {} = filters{}\n",
        im2col == Im2col::Packed ? "packed: K runs across taps" : "per tap: no tile of K crosses a tap",
        with_thousands(work.cut(Extent::M).extent()), c.batch, images, c.out_h(), c.out_w(),
        with_thousands(work.cut(Extent::K).extent()), slices, c.kernel_h, c.kernel_w, channels,
        with_thousands(work.cut(Extent::N).extent()), c.groups == 1 ? "" : " of one group");
    if (c.groups > 1) text += fmt::format("     {} groups: a product each, one by one\n", c.groups);
    return text;
}

std::string operand_line(const Graph& graph, TensorId id, const char* letter) {
    const Tensor& tensor = graph.tensors[id];
    return fmt::format("     {:<4} {:<16} {:<20} {:<5} {:>10}\n", letter, tensor.name,
                       systole::to_string(tensor.shape), to_string(tensor.dtype),
                       format_bytes(stored_bytes(tensor)));
}

std::string operands(const Explained& e) {
    const Layer& layer = e.layer();
    const bool stored = layer.weights.has_value();
    return operand_line(e.graph, layer.inputs[0], "a") +
           operand_line(e.graph, stored ? *layer.weights : layer.inputs.at(1), "b") +
           (layer.bias ? operand_line(e.graph, *layer.bias, "bias") : "") +
           operand_line(e.graph, layer.output, "out");
}

/// What becomes of every sum behind the array.
std::string epilogue(const Layer& layer) {
    Function post = Function::None;
    if (const auto* product = std::get_if<MatMul>(&layer.op)) post = product->post;
    if (const auto* conv = std::get_if<Conv2d>(&layer.op)) post = conv->post;
    if (post == Function::None && !layer.bias) return "";
    const std::string sum = layer.bias ? "out[m, n] + bias[n]" : "out[m, n]";
    return fmt::format("   and then {}\n",
                       post == Function::None ? sum : fmt::format("{}({})", to_string(post), sum));
}

/// Where the operator stands on the roofline, with the bytes that the run moved.
std::string intensity(const Explained& e) {
    const ResultRow& total = e.result.total;
    const std::int64_t macs = e.program.layers[0].macs,
                       bytes = (total.dram_read + total.dram_written).value();
    std::string text =
        fmt::format("   {} MACs; {} cross the DRAM's bus", with_thousands(macs), format_bytes(Bytes(bytes)));
    if (bytes == 0) return text + ".\n";
    if (bytes > e.result.total.compulsory_dram.value()) text += " (in whole tiles)";
    const double own = static_cast<double>(macs) / static_cast<double>(bytes);
    text += fmt::format(": {:.4g} MACs a byte.\n", own);
    const MacRate peak = e.spec.pes() * e.work.rate;
    const std::string peak_text = peak.macs % peak.cycles == 0 ? with_thousands(peak.macs / peak.cycles)
                                                               : fmt::format("{:.1f}", peak.per_cycle());
    if (e.spec.memory.kind != DramSpec::Kind::Dram)
        return text +
               fmt::format("   The memory is ideal: no ridge, the roof is {} MACs a cycle.\n", peak_text);
    const double per_cycle =
        static_cast<double>(e.spec.memory.peak().value()) / static_cast<double>(e.spec.core_clock.value());
    const double ridge = peak.per_cycle() / per_cycle;
    return text + fmt::format(
                      "   The ridge lies at {} MACs a cycle / {:.4g} B a cycle = {:.4g} MACs a byte: "
                      "{}.\n",
                      peak_text, per_cycle, ridge,
                      own < ridge ? "memory is the roof" : "compute is the roof");
}

}  // namespace

std::string operator_section(const Explained& e) {
    const ArrayWork& work = e.work;
    const std::int64_t m = work.cut(Extent::M).extent(), n = work.cut(Extent::N).extent(),
                       k = work.cut(Extent::K).extent();
    SYSTOLE_CHECK(work.items * m * n * k == e.program.layers[0].macs,
                  "the passes cover {} x {} x {} x {}, the operator {} MACs", work.items, m, n, k,
                  e.program.layers[0].macs);
    std::string text = "1. The operator\n\n";
    if (const auto* conv = std::get_if<Conv2d>(&e.layer().op))
        text += as_product(*conv, work, e.spec.mxu.im2col);
    text += fmt::format("   out[m, n] = sum over k of a[m, k] * b[k, n],   M = {}, N = {}, K = {}{}\n",
                        with_thousands(m), with_thousands(n), with_thousands(k),
                        work.items > 1 ? fmt::format(", {} times", with_thousands(work.items)) : "");
    return text + epilogue(e.layer()) + operands(e) + intensity(e);
}

std::string vector_section(const Explained& e) {
    std::int64_t commands = 0, elements = 0, lane_cycles = 0;
    for (const Command& command : e.program.commands) {
        if (unit_kind(command.unit) != UnitKind::Vector) continue;
        const VectorWork& work = e.program.vector(command);
        ++commands;
        elements += work.elements;
        lane_cycles += work.lane_cycles;
    }
    std::string text =
        "1. The operator\n\n" +
        wrapped(fmt::format("The arrays stand still: nothing of it is mapped to them. Mapping: {}.",
                            e.program.layers[0].mapping));
    if (commands == 0) return text + "   The DMA engines alone do it.\n";
    const std::int64_t lanes = e.spec.vector.lanes;
    return text + fmt::format(
                      "   {} command{} of the vector unit make{} {} elements.\n"
                      "   Its {} lanes are busy for {} lane-cycles / {} lanes = {} cycles at least.\n",
                      with_thousands(commands), commands == 1 ? "" : "s", commands == 1 ? "s" : "",
                      with_thousands(elements), with_thousands(lanes), with_thousands(lane_cycles),
                      with_thousands(lanes), with_thousands(ceil_div(lane_cycles, lanes)));
}

}  // namespace systole::systolic
