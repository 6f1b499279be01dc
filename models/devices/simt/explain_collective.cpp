// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/explain_collective.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/devices/simt/kernels/collective_cost.h"
#include "sim/base/text.h"
#include "sim/base/text_table.h"

namespace systole::simt {
namespace {

Ticks at_peak(Bytes bytes, BytesPerSecond peak) {
    return Ticks(static_cast<std::int64_t>(Int128{bytes.value()} * kTicksPerSecond / peak.value()));
}

std::string gigabytes(BytesPerSecond rate) {
    return fmt::format("{:.1f} GB/s", static_cast<double>(rate.value()) / 1e9);
}

/// Where its time goes, and what of that was measured.
std::string parts(const CollectiveTime& time) {
    std::string text = fmt::format(
        "Without data it takes {}, its {} step{} from chip to chip {}, and the data {}: {} on an idle "
        "chip.\n",
        format_time(time.launch), time.kernel.steps(), time.kernel.steps() == 1 ? "" : "s",
        format_time(time.latency - time.launch), format_time(time.total - time.latency),
        format_time(time.total));
    if (time.corrected_by > 0)
        text += fmt::format(
            "The library expects {}; measured bandwidths{} (collectives.measured) make it {:.2f} "
            "times that.\n",
            format_time(time.by_library),
            time.corrected_by == time.kernel.chips ? "" : fmt::format(" of {} chips", time.corrected_by),
            static_cast<double>(time.total.value()) / static_cast<double>(time.by_library.value()));
    return text;
}

std::string weighed(const CollectivePlan& plan, const SimtSpec& spec) {
    const CollectiveKernel& kernel = plan.time.kernel;
    TextTable table;
    table.column("algorithm", TextTable::Align::Left);
    table.column("protocol", TextTable::Align::Left);
    for (const char* name : {"without data", "with steps", "all", "on the bus"})
        table.column(name, TextTable::Align::Right);
    for (const CollectiveTime& one :
         weigh_collective(spec.collectives, kernel.kind, kernel.chips, kernel.message))
        table.row({std::string(to_string(one.kernel.algorithm)), std::string(to_string(one.kernel.protocol)),
                   format_time(one.launch), format_time(one.latency), format_time(one.total),
                   gigabytes(one.bus())});
    return "Weighed by the library's own model:\n\n" + table.str();
}

}  // namespace

std::string explain_collective(const CollectivePlan& plan, const LayerPlan& layer, const SimtSpec& spec) {
    const CollectiveTime& time = plan.time;
    const CollectiveKernel& kernel = time.kernel;
    std::string text = fmt::format(
        "{}\n{} CTAs on {} SMs, {} {} each direction; no tensor core works here\n\n", to_string(kernel),
        plan.ctas, spec.sm.count,
        spec.chip_link->network == ChipLinkSpec::Network::Switch ? "a switch, with" : "a ring, with",
        gigabytes(spec.chip_link->peak()));
    text += fmt::format(
        "This chip sends {} to others and receives {}. Bus bandwidth: {} ({:.2f} of the message "
        "in all the time).\n",
        format_bytes(kernel.out()), format_bytes(kernel.in()), gigabytes(time.bus()),
        bus_share(kernel.kind, kernel.chips));
    text += parts(time) + '\n';
    text += fmt::format(
        "At peak rates: {} for what passes the links, {} for both tensors once by the memory\n"
        "(what is written may stay in the L2).\n\n",
        format_time(at_peak(std::max(kernel.out(), kernel.in()), spec.chip_link->peak())),
        format_time(at_peak(layer.compulsory_dram, spec.memory.peak())));
    return text + weighed(plan, spec);
}

}  // namespace systole::simt
