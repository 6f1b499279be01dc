// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/program/stream_line.h"

#include <optional>
#include <string>
#include <utility>

namespace systole::systolic {
namespace {

constexpr std::int64_t kMostCount = 1 << 20;  // of one level; three of them stay within 64 bits
constexpr std::int64_t kMostStreamVectors = std::int64_t{1} << 31;

/// "a" `between` "b", both whole numbers.
std::optional<std::pair<std::int64_t, std::int64_t>> parse_pair(std::string_view text, char between) {
    const auto numbers = split_list(text, between);
    if (numbers.size() != 2) return std::nullopt;
    const auto first = parse_integer(numbers[0]), second = parse_integer(numbers[1]);
    if (!first || !second) return std::nullopt;
    return std::pair(*first, *second);
}

bool read_levels(const std::string& text, std::int64_t scratchpad, AddressStream& stream) {
    const auto parts = split_list(text, ',');
    if (parts.size() != stream.levels.size()) return false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto level = parse_pair(parts[i], '*');
        if (!level || level->first < 1 || level->first > kMostCount || level->second > scratchpad)
            return false;
        stream.levels[i] = {level->first, Bytes(level->second)};
    }
    return true;
}

bool read_segments(const std::string& text, std::int64_t scratchpad, AddressStream& stream) {
    for (const auto part : split_list(text, ',')) {
        const auto segment = parse_pair(part, '+');
        if (!segment || segment->second < 1 || segment->first > scratchpad || segment->second > scratchpad)
            return false;
        stream.segments.push_back({Bytes(segment->first), Bytes(segment->second)});
    }
    return true;
}

}  // namespace

AddressStream read_stream(ProgramLine& line, std::int64_t scratchpad) {
    AddressStream stream;
    if (!read_levels(line.text("levels"), scratchpad, stream))
        line.fail("levels", "expected three 'count*stride', outermost first, such as 1*0,56*7424,56*128");
    else if (stream.vectors() > kMostStreamVectors)
        line.fail("levels", "more than 2^31 vectors");
    if (!read_segments(line.text("segments"), scratchpad, stream))
        line.fail("segments", "expected 'offset+bytes' pairs within the scratchpad, such as 0+128,7424+128");
    return stream;
}

}  // namespace systole::systolic
