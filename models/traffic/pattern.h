// SPDX-License-Identifier: Apache-2.0
// Requests made by rule: streams, strides, random bursts, tiles of a matrix, an elementwise sum. The same
// description gives the same requests on every platform.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "models/traffic/request_source.h"

namespace systole {

struct PatternSpec {
    enum class Kind : std::uint8_t {
        Stream,  ///< one burst after the other
        Stride,  ///< every `stride` bytes; a turn through the memory later, the bursts beside
        Random,  ///< any burst, equally likely
        Tile,    ///< tiles of a row-major matrix, tile by tile, each row by row
        Add      ///< C = A + B: a chunk of A and of B read, one of C written
    };
    Kind kind = Kind::Stream;
    std::int64_t requests = 131'072;
    std::int64_t base = 0;  ///< first byte used; as all bytes below, a multiple of the burst
    std::int64_t span = 0;  ///< so many bytes are used, from `base` on; then it begins anew
    std::int64_t stride = 4096;
    std::int64_t tile_rows = 128, tile_bytes = 128;  ///< of a tile: matrix rows, and bytes of each
    std::int64_t width = 4096;                       ///< bytes of a whole matrix row
    std::int64_t chunk = 32;                         ///< Add: bytes of one operand before the next
    std::int64_t skew = 0;    ///< Add: each operand begins so many bytes later than at its third
    std::int64_t writes = 0;  ///< so many of a million requests write, chosen at random; not of Add
    std::int64_t load = 0;    ///< offered, in millionths of the memory's peak; 0: as fast as it takes them
    std::uint64_t seed = 1;
};

/// The memory as a pattern sees it.
struct PatternTarget {
    std::int64_t burst;  ///< bytes
    /// Clocks that a burst takes on one data bus, and how many buses there are.
    std::int64_t burst_clocks, buses;
};

/// The names of the kinds in the order of PatternSpec::Kind: "stream", …
const std::vector<std::string>& pattern_names();

/// What is wrong with `spec` for this target; "" if nothing is.
std::string pattern_fault(const PatternSpec& spec, const PatternTarget& target);

/// pattern_fault() must be "".
std::unique_ptr<RequestSource> make_pattern(const PatternSpec& spec, const PatternTarget& target);

}  // namespace systole
