// SPDX-License-Identifier: Apache-2.0
// Layers that move elements: joined, cut, met again, looked up, sorted.
#pragma once

#include <string>
#include <vector>

#include "sim/workload/importers/network/network.h"

namespace systole {

Value concat(Network& network, const std::string& name, std::vector<Value> values, std::size_t axis);
/// `size` indices from `begin` on, `step` (1 or more) apart.
Value slice(Network& network, const std::string& name, Value x, std::size_t axis, std::int64_t begin,
            std::int64_t size, std::int64_t step = 1);
/// Met again along dimensions of 1, which `shape` (of as many or more) has otherwise. Elementwise layers read
/// what was there before; for all others it is copies side by side.
Value expand(Network& network, const std::string& name, Value x, const Shape& shape);
/// Rows of `table` along `axis`, where `indices` says: in its place stand the dimensions of the indices. Of a
/// stored table an embedding.
Value gather(Network& network, const std::string& name, Value table, Value indices, std::size_t axis);
/// The `k` greatest along `axis`, or where they stood.
Value top_k(Network& network, const std::string& name, Value x, std::size_t axis, std::int64_t k,
            bool indices);

}  // namespace systole
