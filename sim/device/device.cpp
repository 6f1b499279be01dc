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
    return {{"inputs_at", to_string(protocol.inputs_at)},
            {"outputs_to", to_string(protocol.outputs_to)},
            {"launch", name_of(protocol.launch)},
            {"refresh_phase", format_time(protocol.refresh_phase)},
            {"reuse", protocol.reuse ? "on" : "off"}};
}

std::string Device::explain(const Graph&, const Protocol&) const {
    throw UserError("devices of this kind have no explanation yet; 'systole op' runs the operator");
}

}  // namespace systole
