// SPDX-License-Identifier: Apache-2.0
// A collective as a kernel of the library (NCCL): a few CTAs that read this chip's tensor, send parts of it
// to other chips, add or keep what comes from them, and write the result.
#pragma once

#include <cstdint>
#include <string>

#include "models/devices/simt/spec/collectives_spec.h"
#include "sim/base/units.h"
#include "sim/workload/operators.h"

namespace systole::simt {

enum class CollectiveAlgorithm : std::uint8_t {
    Ring,    ///< parts go from chip to chip
    Tree,    ///< on one node a chain: sums up to its end, results back
    Switch,  ///< the switch adds what it reads from all chips, and writes to all (NVLS)
    Direct   ///< each part goes to its chip at once: all-to-all
};

struct CollectiveKernel {
    Collective::Kind kind = Collective::Kind::AllReduce;
    CollectiveAlgorithm algorithm = CollectiveAlgorithm::Ring;
    WireProtocol protocol = WireProtocol::Simple;
    std::int64_t chips = 2;
    Bytes message;  ///< as the library counts: of all chips' parts, where each has one

    /// What this chip sends to others, and receives: of data, without flags. `chips` divide the message.
    Bytes out() const;
    Bytes in() const { return out(); }
    /// From chip to chip one behind the other.
    std::int64_t steps() const;

    friend bool operator==(const CollectiveKernel&, const CollectiveKernel&) = default;
};

/// Of the message, what at least has to pass each direction of a chip's links: 2 (n - 1) / n of an
/// all-reduce, (n - 1) / n of others. So much of it in a collective's time is its bus bandwidth.
double bus_share(Collective::Kind kind, std::int64_t chips);

std::string_view to_string(CollectiveAlgorithm algorithm);
std::string_view to_string(WireProtocol protocol);
/// "all_reduce of 8 chips, 16 MiB: ring, Simple".
std::string to_string(const CollectiveKernel& kernel);

}  // namespace systole::simt
