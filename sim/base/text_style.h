// SPDX-License-Identifier: Apache-2.0
// What a text uses beside characters, where its reader's terminal can show it: weight, colour, small
// pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace systole {

/// What there is to show a text. By default plain characters: files, pipes and documents hold nothing else.
struct TextStyle {
    bool colour = false;                    ///< escape sequences of ECMA-48 ("SGR"), with xterm's 256 colours
    bool pictures = false;                  ///< Unicode's block elements
    std::size_t width = std::string::npos;  ///< of a line, in characters; tables leave columns out to fit
};

/// How a piece of text stands out.
struct Ink {
    enum class Weight : std::uint8_t { Normal, Strong, Faint };
    static constexpr int kDefaultColour = -1;

    Weight weight = Weight::Normal;
    int colour = kDefaultColour;  ///< of xterm's 256

    bool operator==(const Ink&) const = default;
};

constexpr Ink kPlain{};
constexpr Ink kStrong{Ink::Weight::Strong};
constexpr Ink kFaint{Ink::Weight::Faint};

/// `text` in `ink`; as it is where the style has no colour, or the ink is plain.
std::string painted(std::string_view text, Ink ink, const TextStyle& style);

/// A bar of one of eight heights for each value between 0 and `most`; the lowest for 0. `most` is above 0.
std::string sparkline(const std::vector<double>& values, double most);

}  // namespace systole
