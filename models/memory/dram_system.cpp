// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram_system.h"

#include "sim/base/check.h"

namespace systole {

DramSystem::DramSystem(const DramSpec& spec) : spec_(spec), map_(spec) {
    SYSTOLE_CHECK(spec.kind == DramSpec::Kind::Dram, "an ideal memory has no channels");
    channels_.reserve(static_cast<std::size_t>(spec.channels));
    for (int i = 0; i < spec.channels; ++i) channels_.emplace_back(spec_, map_);
}

DramSystem::Place DramSystem::locate(std::int64_t address) const {
    const ChannelShare share = map_.share_of(address);
    return {share.bus, share.first};
}

}  // namespace systole
