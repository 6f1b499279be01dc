// SPDX-License-Identifier: Apache-2.0
// What is met again, for those who need all of it.
#include <fmt/format.h>

#include "sim/workload/importers/network/network.h"
#include "sim/workload/operator_shapes.h"

namespace systole {

/// Copies side by side along one dimension after the other.
void Network::copy_narrow(Value value) {
    constexpr std::int64_t kMost = 64;  // copies: a layer names every one
    Value wide = *record(value).narrow;
    settle(wide);
    const Shape wanted = shape(value);
    for (std::size_t dim = 0; dim < wanted.size(); ++dim) {
        const std::int64_t copies = wanted[dim];
        if (copies == shape(wide)[dim]) continue;
        if (copies > kMost)
            throw Unsayable(fmt::format("'{}' {} is met {} times; a trace copies up to {} times", name(wide),
                                        to_string(shape(wide)), copies, kMost));
        const Arrangement held = arrangement(wide);
        Step step{name(value), "concat"};
        step.in.assign(static_cast<std::size_t>(copies), tensor(wide, held.held()));
        step.keys = fmt::format(", axis: {}", held.factors({dim})[0]);
        const Arrangement result = held.resized(dim, copies);
        wide = make(std::move(step), result.held(), result, dtype(value));
    }
    Record& record = values_[value.index];
    record.tensor = values_[wide.index].tensor;
    record.arrangement = values_[wide.index].arrangement;
    record.pending = false;
}

}  // namespace systole
