// SPDX-License-Identifier: Apache-2.0
#include "sim/app/explore_json.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace systole::app {
namespace {

using Json = nlohmann::ordered_json;
using systolic::ArrayRecording;
using systolic::PeCycles;
using systolic::RecordedPass;
using systolic::RecordedSum;

/// Whether each value is one of a signed integer of so many bits.
bool fit(const std::vector<std::int32_t>& values, int bits) {
    const std::int64_t end = std::int64_t{1} << (bits - 1);
    return std::ranges::all_of(values, [&](std::int64_t value) { return -end <= value && value < end; });
}

Json clocks_as_json(const std::vector<PeCycles>& clocks) {
    const auto column = [&](std::int32_t PeCycles::*part) {
        std::vector<std::int32_t> values;
        values.reserve(clocks.size());
        for (const PeCycles& clock : clocks) values.push_back(clock.*part);
        return packed(values);
    };
    return {{"useful", column(&PeCycles::useful)},
            {"padding", column(&PeCycles::padding)},
            {"ramp", column(&PeCycles::ramp)}};
}

Json passes_as_json(const std::vector<RecordedPass>& passes) {
    Json all = Json::array();
    for (const RecordedPass& pass : passes)
        all.push_back({{"clock", pass.clock},
                       {"vector", pass.vector},
                       {"layer", pass.layer},
                       {"batch", pass.batch},
                       {"m0", pass.m0},
                       {"k0", pass.k0},
                       {"n0", pass.n0},
                       {"m", pass.m},
                       {"k", pass.k},
                       {"n", pass.n},
                       {"dataflow", to_string(pass.dataflow)},
                       {"new_tile", pass.new_tile}});
    return all;
}

Json accumulators_as_json(const std::vector<RecordedSum>& sums) {
    std::vector<std::int32_t> clock, row, col, value;
    for (const RecordedSum& sum : sums) {
        clock.push_back(static_cast<std::int32_t>(sum.clock));
        row.push_back(sum.row);
        col.push_back(sum.col);
        value.push_back(sum.value);
    }
    return {{"clock", packed(clock)}, {"row", packed(row)}, {"col", packed(col)}, {"value", packed(value)}};
}

}  // namespace

std::string base64(std::string_view bytes) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t there = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t group = 0;
        for (std::size_t j = 0; j < 3; ++j)
            group = group << 8 | (j < there ? static_cast<std::uint8_t>(bytes[i + j]) : 0U);
        for (std::size_t j = 0; j < 4; ++j) text += j <= there ? kDigits[group >> (18 - 6 * j) & 63] : '=';
    }
    return text;
}

Json packed(const std::vector<std::int32_t>& values) {
    const int bits = fit(values, 8) ? 8 : fit(values, 16) ? 16 : 32;
    std::string bytes;
    bytes.reserve(values.size() * static_cast<std::size_t>(bits / 8));
    for (const std::int32_t value : values)
        for (int shift = 0; shift < bits; shift += 8)
            bytes += static_cast<char>(static_cast<std::uint32_t>(value) >> shift & 0xff);
    return {{"type", "i" + std::to_string(bits)}, {"data", base64(bytes)}};
}

Json to_json(const ArrayRecording& recording) {
    std::vector<std::int32_t> frames;
    for (const std::int64_t clock : recording.frames) frames.push_back(static_cast<std::int32_t>(clock));
    Json registers = {{"moving", packed(recording.moving)},
                      {"stationary", packed(recording.stationary)},
                      {"sum", packed(recording.sum)},
                      {"work", packed(recording.work)}};
    if (recording.has_shadow) registers["shadow"] = packed(recording.shadow);
    if (recording.has_result) registers["result"] = packed(recording.result);
    return {{"rows", recording.rows},
            {"cols", recording.cols},
            {"first", recording.first},
            {"end", recording.end},
            {"frames", packed(frames)},
            {"vectors_before", packed(recording.vectors_before)},
            {"registers", std::move(registers)},
            {"columns",
             {{"leaving", packed(recording.leaving)},
              {"leaves", packed(recording.leaves)},
              {"shifting", packed(recording.shifting)}}},
            {"accumulators", accumulators_as_json(recording.accumulators)},
            {"passes", passes_as_json(recording.passes)},
            {"clocks", clocks_as_json(recording.clocks)}};
}

}  // namespace systole::app
