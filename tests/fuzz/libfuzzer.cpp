// SPDX-License-Identifier: Apache-2.0
// The same targets under libFuzzer, which looks for inputs that reach new code (clang only).
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    systole::fuzz::read_input(std::string(reinterpret_cast<const char*>(data), size));
    return 0;
}
