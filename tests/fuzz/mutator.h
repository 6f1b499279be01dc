// SPDX-License-Identifier: Apache-2.0
// Inputs like those of a corpus, but wrong: what one seed makes is the same everywhere.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace systole::fuzz {

class Mutator {
public:
    /// `corpus` has at least one input. Inputs grow to `largest` bytes at most.
    Mutator(std::vector<std::string> corpus, std::vector<std::string_view> words, std::size_t largest);

    std::string input(std::uint64_t seed);

private:
    void change(std::string& text);
    void replace_number(std::string& text);
    void splice(std::string& text);
    /// A part of `text`, at most `most` bytes long.
    std::pair<std::size_t, std::size_t> part(const std::string& text, std::size_t most);
    /// In [0, bound); 0 for a bound of 0.
    std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }

    std::vector<std::string> corpus_;
    std::vector<std::string_view> words_;
    std::size_t largest_;
    std::mt19937_64 random_;
};

}  // namespace systole::fuzz
