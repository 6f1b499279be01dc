// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/explain_vector.h"

#include <fmt/format.h>

#include <cmath>

#include "models/devices/simt/explain_time.h"
#include "sim/base/text.h"

namespace systole::simt {
namespace {

/// What is done to elements or rows, where the kernel's name does not say.
std::string how(const VectorKernel& kernel) {
    switch (kernel.kind) {
        case VectorKernel::Kind::Turn:
            return fmt::format(
                "{} of {} x {}: rows of a tile are loaded into shared memory, and its columns stored, by\n"
                "neighbouring threads.\n",
                kernel.turn.matrices() == 1 ? "A matrix"
                                            : with_thousands(kernel.turn.matrices()) + " matrices",
                with_thousands(kernel.turn.rows), with_thousands(kernel.turn.cols));
        case VectorKernel::Kind::TopK:
            return fmt::format(
                "To find the least of the {} greatest of {}, digits of two bits are counted from the "
                "greatest\n"
                "on, {} of {}{}; what is greater, and what is equal, is gathered in any order.\n",
                with_thousands(kernel.k), with_thousands(kernel.cols), kernel.digits,
                ceil_div(bits_of(kernel.in).value(), std::int64_t{2}),
                kernel.unique ? ", and it is looked for" : "");
        case VectorKernel::Kind::RowSum:
            return kernel.parts == 1
                       ? ""
                       : "Sums of CTAs that share a row go to memory in fp32; the first one adds them "
                         "up.\n";
        default:
            return "";
    }
}

}  // namespace

std::string explain_vector(const VectorPlan& plan, const LayerPlan& layer, const SimtSpec& spec) {
    const VectorKernel& kernel = plan.kernel;
    const CtaTiming& timing = plan.timing;
    const std::int64_t places = std::int64_t{spec.sm.count} * timing.resident, ctas = kernel.ctas();
    const double memory = static_cast<double>(layer.compulsory_dram.value()) /
                          static_cast<double>(spec.memory.peak().value()) *
                          static_cast<double>(spec.core_clock.value());
    const double pipes = timing.interval_full / timing.resident * static_cast<double>(kernel.steps()) *
                         static_cast<double>(ceil_div(ctas, std::int64_t{spec.sm.count}));
    std::string text =
        fmt::format("{} in {}, {} SMs at up to {} MHz; no tensor core works here\n\nKernel: {}\n", layer.op,
                    to_string(kernel.in), spec.sm.count, static_cast<double>(spec.core_clock.value()) / 1e6,
                    to_string(kernel));
    text += fmt::format("Grid: {} CTAs of {} threads; an SM holds {}, so {:.2f} waves.\n",
                        with_thousands(ctas), kernel.threads(), timing.resident,
                        static_cast<double>(ctas) / static_cast<double>(places));
    text += how(kernel);
    if (kernel.passes() > 1)
        text += fmt::format("Rows are read {} times; again out of the {}.\n", kernel.passes(),
                            kernel.rereads_l1 ? "L1" : "L2, for they do not stay in the L1");
    text += fmt::format(
        "\nA CTA on its SM, warp instruction by warp instruction, but for waits for data:\n"
        "  {} step{}; start to first load {} cycles; a step, with its part of what follows, {:.1f} alone\n"
        "  and {:.1f} of the SM's pipes\n\n",
        kernel.steps(), kernel.steps() == 1 ? "" : "s", timing.prologue.value(), timing.interval_alone,
        timing.interval_full / timing.resident);
    for (std::size_t i = 1; i < layer.kernels.size(); ++i)
        if (const auto* next = std::get_if<VectorPlan>(&layer.kernels[i]))
            text += fmt::format("Then a kernel of its own: {}; {} CTAs, an SM holds {}.\n\n",
                                to_string(next->kernel), with_thousands(next->kernel.ctas()),
                                next->timing.resident);
    return text +
           fmt::format(
               "At peak rates: {} for all tensors once by the memory (what is written may stay in the L2),\n"
               "{} of the SMs' pipes.\n",
               time_of(memory, spec), time_of(pipes, spec));
}

}  // namespace systole::simt
