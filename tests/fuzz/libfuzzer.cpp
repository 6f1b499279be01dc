// SPDX-License-Identifier: Apache-2.0
// The same targets under libFuzzer, which looks for inputs that reach new code (clang only).
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>

#include "tests/fuzz/fuzz_target.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    systole::fuzz::read_input(std::string(reinterpret_cast<const char*>(data), size));
    return 0;
}

/// Puts in a word of the format now and then, which bits and bytes hardly ever make.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned int seed) {
    std::minstd_rand random(seed);
    const auto& words = systole::fuzz::words();
    if (words.empty() || random() % 4 != 0) return LLVMFuzzerMutate(data, size, most);
    const std::string_view word = words[random() % words.size()];
    if (size + word.size() > most) return LLVMFuzzerMutate(data, size, most);
    std::uint8_t* const at = data + random() % (size + 1);
    std::memmove(at + word.size(), at, static_cast<std::size_t>(data + size - at));
    std::memcpy(at, word.data(), word.size());
    return size + word.size();
}
