// SPDX-License-Identifier: Apache-2.0
#include "sim/account/classes.h"

#include "sim/base/check.h"

namespace systole {

std::string_view to_string(SlotClass slot_class) {
    static constexpr std::array<std::string_view, kSlotClasses> kNames{
        "useful", "padding", "ramp", "host", "memory", "on_chip", "dependency", "vector", "launch", "tail"};
    const auto index = static_cast<std::size_t>(slot_class);
    SYSTOLE_CHECK(index < kSlotClasses, "slot class {}", index);
    return kNames[index];
}

}  // namespace systole
