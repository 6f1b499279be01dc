// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/collective_kernel.h"

#include <fmt/format.h>

#include <array>

#include "sim/base/text.h"

namespace systole::simt {

Bytes CollectiveKernel::out() const {
    const Bytes part(message.value() / chips);
    const bool sums_and_gathers = kind == Collective::Kind::AllReduce;
    switch (algorithm) {
        case CollectiveAlgorithm::Ring:
            return part * ((chips - 1) * (sums_and_gathers ? 2 : 1));
        case CollectiveAlgorithm::Tree:
            // In the middle of the chain: the sums so far go on, results go back. Ends have one of them.
            return message * (chips > 2 ? 2 : 1);
        case CollectiveAlgorithm::Switch:
            // Of each part what the switch adds is read from every chip, and its sum written to every chip.
            return message + part;
        case CollectiveAlgorithm::Direct:
            break;
    }
    return part * (chips - 1);
}

std::int64_t CollectiveKernel::steps() const {
    if (algorithm == CollectiveAlgorithm::Switch || algorithm == CollectiveAlgorithm::Direct) return 1;
    return (chips - 1) * (kind == Collective::Kind::AllReduce ? 2 : 1);
}

double bus_share(Collective::Kind kind, std::int64_t chips) {
    const double others = static_cast<double>(chips - 1) / static_cast<double>(chips);
    return kind == Collective::Kind::AllReduce ? 2 * others : others;
}

std::string_view to_string(CollectiveAlgorithm algorithm) {
    static constexpr std::array<std::string_view, 4> kNames = {"ring", "tree", "in the switch", "direct"};
    return kNames[static_cast<std::size_t>(algorithm)];
}

std::string_view to_string(WireProtocol protocol) {
    static constexpr std::array<std::string_view, kWireProtocols> kNames = {"LL", "LL128", "Simple"};
    return kNames[static_cast<std::size_t>(protocol)];
}

std::string to_string(const CollectiveKernel& kernel) {
    static constexpr std::array<std::string_view, 4> kKinds = {"all_reduce", "all_gather", "reduce_scatter",
                                                               "all_to_all"};
    return fmt::format("{} of {} chips, {}: {}, {}", kKinds[static_cast<std::size_t>(kernel.kind)],
                       kernel.chips, format_bytes(kernel.message), to_string(kernel.algorithm),
                       to_string(kernel.protocol));
}

}  // namespace systole::simt
