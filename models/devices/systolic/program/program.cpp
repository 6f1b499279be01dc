// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/program/program.h"

#include <fmt/format.h>

namespace systole::systolic {

std::string unit_name(UnitIndex unit, int cores) {
    if (cores > 1)
        return fmt::format("core{}.{}", core_of(unit),
                           unit_name(static_cast<UnitIndex>(unit % kUnitsOfCore)));
    switch (unit_kind(unit)) {
        case UnitKind::HostIn:
            return "host_in";
        case UnitKind::HostOut:
            return "host_out";
        case UnitKind::Load:
            return "load";
        case UnitKind::Store:
            return "store";
        case UnitKind::LinkIn:
            return "link_in";
        case UnitKind::LinkOut:
            return "link_out";
        case UnitKind::Vector:
            return "vector";
        case UnitKind::Weights:
            return fmt::format("weights{}", mxu_of(unit));
        case UnitKind::Matrix:
            return fmt::format("mxu{}", mxu_of(unit));
    }
    return "";
}

}  // namespace systole::systolic
