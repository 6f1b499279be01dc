// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/machine/pattern_loads.h"

#include "models/devices/systolic/program/edge_limits.h"
#include "sim/base/check.h"

namespace systole::systolic {

PatternLoads::PatternLoads(const ScratchpadSpec& spec, const Program& program)
    : port_(port_of(Edge::Left, spec)), program_(program) {}

const BankLoad& PatternLoads::of(const EdgeRead& edge, Passing passing, std::int32_t fold) {
    const std::int64_t place = (edge.address + fold * edge.fold_step) % port_.period();
    const Key key{edge.stream, place, edge.first, edge.vectors, passing};
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    if ((known_.size() + 1) * static_cast<std::size_t>(port_.banks) > kMostKept) known_.clear();
    AddressStream stream = program_.streams[edge.stream];
    stream.base = Bytes(place);
    if (passing == Passing::Buffered)
        return known_.emplace(key, buffered_load(port_, stream, edge.first, edge.vectors)).first->second;
    SYSTOLE_CHECK(edge.vectors == stream.vectors(), "{} of {} vectors", edge.vectors, stream.vectors());
    return known_.emplace(key, vector_load(port_, stream)).first->second;
}

}  // namespace systole::systolic
