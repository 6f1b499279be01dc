// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <array>
#include <utility>

namespace systole::fuzz {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace

Mutator::Mutator(std::vector<std::string> corpus, std::vector<std::string_view> words, std::size_t largest)
    : corpus_(std::move(corpus)), words_(std::move(words)), largest_(largest) {}

std::string Mutator::input(std::uint64_t seed) {
    random_.seed(seed);
    std::string text = corpus_[below(corpus_.size())];
    const std::size_t changes = std::size_t{1} << below(5);
    for (std::size_t i = 0; i < changes; ++i) change(text);
    if (text.size() > largest_) text.resize(largest_);
    return text;
}

std::pair<std::size_t, std::size_t> Mutator::part(const std::string& text, std::size_t most) {
    const std::size_t begin = below(text.size() + 1);
    return {begin, below(std::min(most, text.size() - begin) + 1)};
}

/// A number, written in digits, becomes one at an end of some range.
void Mutator::replace_number(std::string& text) {
    constexpr std::array<std::string_view, 14> kNumbers = {"0",          "-1",
                                                           "1",          "2",
                                                           "255",        "65536",
                                                           "2147483647", "2147483648",
                                                           "4294967296", "9223372036854775807",
                                                           "1e400",      "0.5",
                                                           "-0",         "99999999999999999999"};
    const auto found = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(below(text.size() + 1)),
                                    text.end(), is_digit);
    const auto end = std::find_if_not(found, text.end(), is_digit);
    text.replace(found, end, kNumbers[below(kNumbers.size())]);
}

/// A part of an input of the corpus is put in.
void Mutator::splice(std::string& text) {
    const std::string& from = corpus_[below(corpus_.size())];
    const auto [begin, size] = part(from, 400);
    text.insert(below(text.size() + 1), from, begin, size);
}

void Mutator::change(std::string& text) {
    if (text.size() > largest_) text.resize(largest_);
    const std::size_t at = below(text.size());
    const auto [begin, size] = part(text, 200);
    switch (below(9)) {
        case 0:
            if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
            break;
        case 1:
            if (!text.empty()) text[at] = static_cast<char>(below(256));
            break;
        case 2:
            text.erase(begin, size);
            break;
        case 3:
            text.insert(begin, text.substr(begin, size));
            break;
        case 4:
            text.resize(text.size() - below(std::min<std::size_t>(text.size(), 400) + 1));
            break;
        case 5:
        case 6:
            replace_number(text);
            break;
        case 7:
            splice(text);
            break;
        default:
            if (!words_.empty()) text.insert(begin, words_[below(words_.size())]);
    }
}

}  // namespace systole::fuzz
