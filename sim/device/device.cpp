// SPDX-License-Identifier: Apache-2.0
#include "sim/device/device.h"

#include "sim/base/error.h"
#include "sim/base/text.h"

namespace systole {
namespace {

std::string name_of(Protocol::Launch launch) {
    switch (launch) {
        case Protocol::Launch::None:
            return "none";
        case Protocol::Launch::Graph:
            return "graph";
        case Protocol::Launch::Stream:
            return "stream";
    }
    return "";
}

std::string name_of(Protocol::Reuse reuse) {
    switch (reuse) {
        case Protocol::Reuse::Off:
            return "off";
        case Protocol::Reuse::On:
            return "on";
        case Protocol::Reuse::Rough:
            return "rough";
    }
    return "";
}

}  // namespace

std::string to_string(Protocol::Where where) {
    switch (where) {
        case Protocol::Where::Host:
            return "host";
        case Protocol::Where::Dram:
            return "dram";
        case Protocol::Where::OnChip:
            return "onchip";
    }
    return "";
}

std::vector<std::pair<std::string, std::string>> describe(const Protocol& protocol) {
    std::vector<std::pair<std::string, std::string>> described{
        {"inputs_at", to_string(protocol.inputs_at)},
        {"outputs_to", to_string(protocol.outputs_to)},
        {"launch", name_of(protocol.launch)},
        {"refresh_phase", format_time(protocol.refresh_phase)},
        {"reuse", name_of(protocol.reuse)}};
    if (protocol.repeat != 1) described.emplace_back("repeat", std::to_string(protocol.repeat));
    if (protocol.weight_copies != 1)
        described.emplace_back("weight_copies", protocol.weight_copies == Protocol::kEnoughCopies
                                                    ? "auto"
                                                    : std::to_string(protocol.weight_copies));
    if (protocol.timed_turns != 0) {
        described.emplace_back("warm_turns", std::to_string(protocol.warm_turns));
        described.emplace_back("timed_turns", std::to_string(protocol.timed_turns));
    }
    return described;
}

std::string Device::explain(const Graph&, const Protocol&) const {
    throw UserError("devices of this kind have no explanation yet; 'systole op' runs the operator");
}

}  // namespace systole
