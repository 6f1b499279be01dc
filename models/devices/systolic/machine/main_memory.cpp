// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/main_memory.h"

#include "sim/base/check.h"

namespace systole::systolic {

MainMemory::MainMemory(const DramSpec& spec, const ForeignMemory* foreign) {
    if (foreign) {
        splitter_.emplace("dram", foreign->splitter);
        foreign->bind(splitter_->out);
    } else {
        own_.emplace("dram", spec);
    }
}

Dram& MainMemory::dram() {
    SYSTOLE_CHECK(own_, "the memory is {}, of which nothing is known inside", splitter_->name());
    return *own_;
}

std::vector<Stat> MainMemory::stats() {
    if (own_) return own_->stats();
    const auto stat = [this](const char* counter, const char* unit, const char* meaning, std::int64_t value) {
        return Stat{splitter_->name(), counter, unit, meaning, value};
    };
    return {stat("bytes_read", "B", "payload bytes of answered reads", bytes_read().value()),
            stat("bytes_written", "B", "payload bytes of answered writes", bytes_written().value()),
            stat("pieces", "transactions", "into which they were cut for the memory", splitter_->pieces())};
}

}  // namespace systole::systolic
