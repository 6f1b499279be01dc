// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/pattern.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/check.h"

namespace systole {
namespace {

using Kind = PatternSpec::Kind;
constexpr std::int64_t kMillion = 1'000'000;

/// A number below `limit`, equally likely but for 2^-64 * limit; std's distributions differ by platform.
std::int64_t below(std::mt19937_64& engine, std::int64_t limit) {
    return static_cast<std::int64_t>((static_cast<Int128>(engine()) * static_cast<Int128>(limit)) >> 64);
}

/// Where the pattern's burst `i` lies; a stateless rule, except for random ones.
class Places {
public:
    Places(const PatternSpec& spec, std::int64_t burst) : spec_(spec), burst_(burst), engine_(spec.seed) {}

    MemoryRequest at(std::int64_t i) {
        MemoryRequest request;
        request.address = spec_.base + offset(i, request.direction);
        if (spec_.writes > 0 && below(mix_, kMillion) < spec_.writes) request.direction = Direction::Write;
        return request;
    }

private:
    std::int64_t offset(std::int64_t i, Direction& direction) {
        switch (spec_.kind) {
            case Kind::Stream:
                return i * burst_ % spec_.span;
            case Kind::Stride:
                return stride(i);
            case Kind::Random:
                return below(engine_, spec_.span / burst_) * burst_;
            case Kind::Tile:
                return tile(i);
            case Kind::Add:
                return add(i, direction);
        }
        return 0;
    }

    std::int64_t stride(std::int64_t i) const {
        const std::int64_t steps = ceil_div(spec_.span, spec_.stride);
        return (i % steps * spec_.stride + i / steps * burst_) % spec_.span;
    }

    /// Tiles go from left to right, then down; the last of a row of tiles may be narrower, and the matrix has
    /// as many whole rows of tiles as the span holds.
    std::int64_t tile(std::int64_t i) const {
        const std::int64_t band_bursts = spec_.tile_rows * spec_.width / burst_;
        const std::int64_t bands = spec_.span / (spec_.tile_rows * spec_.width);
        const std::int64_t band = i / band_bursts % bands, in_band = i % band_bursts;
        const std::int64_t tile_bursts = spec_.tile_rows * spec_.tile_bytes / burst_;
        const std::int64_t left = in_band / tile_bursts * spec_.tile_bytes;
        const std::int64_t columns = std::min(spec_.tile_bytes, spec_.width - left) / burst_;
        const std::int64_t in_tile = in_band % tile_bursts;
        const std::int64_t row = band * spec_.tile_rows + in_tile / columns;
        return row * spec_.width + left + in_tile % columns * burst_;
    }

    std::int64_t add(std::int64_t i, Direction& direction) const {
        const std::int64_t chunk_bursts = spec_.chunk / burst_;
        const std::int64_t operand = i / chunk_bursts % 3;
        const std::int64_t third = spec_.span / 3 / spec_.chunk * spec_.chunk;
        const std::int64_t within =
            (i / (3 * chunk_bursts) * spec_.chunk + i % chunk_bursts * burst_ + operand * spec_.skew) % third;
        if (operand == 2) direction = Direction::Write;
        return operand * third + within;
    }

    const PatternSpec spec_;
    const std::int64_t burst_;
    std::mt19937_64 engine_;
    std::mt19937_64 mix_{spec_.seed ^ 0x9E3779B97F4A7C15};  // its own, so that writes move no address
};

class Pattern : public RequestSource {
public:
    Pattern(const PatternSpec& spec, const PatternTarget& target)
        : spec_(spec), target_(target), places_(spec, target.burst) {}

    bool next(MemoryRequest& request) override {
        if (made_ == spec_.requests) return false;
        request = places_.at(made_);
        if (spec_.load > 0) request.clock = clock_of(made_);
        ++made_;
        return true;
    }

private:
    Cycles clock_of(std::int64_t i) const {
        const Int128 clocks = static_cast<Int128>(i) * target_.burst_clocks * kMillion;
        return Cycles(static_cast<std::int64_t>(clocks / (static_cast<Int128>(spec_.load) * target_.buses)));
    }

    const PatternSpec spec_;
    const PatternTarget target_;
    Places places_;
    std::int64_t made_ = 0;
};

std::string alignment_fault(const PatternSpec& spec, std::int64_t burst) {
    const std::pair<const char*, std::int64_t> bytes[] = {
        {"base", spec.base},   {"span", spec.span},   {"stride", spec.stride}, {"tile", spec.tile_bytes},
        {"width", spec.width}, {"chunk", spec.chunk}, {"skew", spec.skew}};
    for (const auto& [name, value] : bytes)
        if (value % burst != 0)
            return fmt::format("{} of {} B is not a multiple of the memory's bursts of {} B", name, value,
                               burst);
    return "";
}

}  // namespace

const std::vector<std::string>& pattern_names() {
    static const std::vector<std::string> names{"stream", "stride", "random", "tile", "add"};
    return names;
}

std::string pattern_fault(const PatternSpec& spec, const PatternTarget& target) {
    if (std::string fault = alignment_fault(spec, target.burst); !fault.empty()) return fault;
    if (spec.kind == Kind::Tile && spec.tile_bytes > spec.width)
        return fmt::format("a tile of {} B is wider than the matrix ({} B)", spec.tile_bytes, spec.width);
    if (spec.kind == Kind::Tile && spec.tile_rows > spec.span / spec.width)
        return fmt::format("a tile of {} rows of {} B does not fit in {} B", spec.tile_rows, spec.width,
                           spec.span);
    if (spec.kind == Kind::Add && spec.chunk > spec.span / 3)
        return fmt::format("three chunks of {} B do not fit in {} B", spec.chunk, spec.span);
    if (spec.kind == Kind::Add && spec.writes > 0) return "the pattern add has a third of writes of its own";
    return "";
}

std::unique_ptr<RequestSource> make_pattern(const PatternSpec& spec, const PatternTarget& target) {
    SYSTOLE_CHECK(pattern_fault(spec, target).empty(), "{}", pattern_fault(spec, target));
    return std::make_unique<Pattern>(spec, target);
}

}  // namespace systole
