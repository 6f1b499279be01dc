// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/operand_map.h"

#include <algorithm>
#include <span>

#include "sim/base/check.h"

namespace systole::simt {
namespace {

using Range = std::function<void(std::int64_t, std::int64_t)>;

/// Of results `begin` … `end` - 1 of those that `dims` count.
void walk(std::span<const OperandMap::Dim> dims, std::int64_t offset, std::int64_t begin, std::int64_t end,
          const Range& range) {
    if (dims.empty()) return range(offset, offset + 1);
    if (dims.size() == 1 && dims.front().stride == 1) return range(offset + begin, offset + end);
    std::int64_t inner = 1;
    for (const OperandMap::Dim& dim : dims.subspan(1)) inner *= dim.extent;
    const std::int64_t first = begin / inner, last = (end - 1) / inner;
    const auto within = [&](std::int64_t index, std::int64_t from, std::int64_t until) {
        walk(dims.subspan(1), offset + index * dims.front().stride, from, until, range);
    };
    // Of what is met again, all of it if neighbours meet so much, or what the last begins and the next ends.
    if (dims.front().stride == 0 && first != last) {
        if (end - begin >= inner) return within(0, 0, inner);
        begin -= first * inner;
        within(0, begin, inner);
        within(0, 0, end - last * inner);
        return;
    }
    for (std::int64_t index = first; index <= last; ++index)
        within(index, std::max(begin - index * inner, std::int64_t{0}), std::min(end - index * inner, inner));
}

}  // namespace

OperandMap met_again(std::int64_t results, std::int64_t elements, std::int64_t items) {
    SYSTOLE_CHECK(results % items == 0 && elements % items == 0 && results % elements == 0,
                  "{} results meet {} elements of {} items", results, elements, items);
    const std::int64_t own = elements / items;
    if (results == elements) return {};
    return {.dims = {{items, own}, {results / elements, 0}, {own, 1}}};
}

void join_dims(OperandMap& map) {
    std::vector<OperandMap::Dim> joined;
    for (const OperandMap::Dim& dim : map.dims) {
        if (dim.extent == 1) continue;
        if (!joined.empty() && joined.back().stride == dim.stride * dim.extent)
            joined.back() = {joined.back().extent * dim.extent, dim.stride};
        else
            joined.push_back(dim);
    }
    if (joined.empty()) joined.push_back({1, 1});
    map.dims = std::move(joined);
}

void elements_of(const OperandMap& map, std::int64_t begin, std::int64_t end, const Range& range) {
    const auto before = [&](std::int64_t result) {
        const std::int64_t column = std::clamp(result % map.row, map.first, map.until);
        return result / map.row * (map.until - map.first) + column - map.first;
    };
    const std::int64_t from = before(begin), until = before(end);
    if (from >= until) return;
    if (map.dims.empty()) return range(map.offset + from, map.offset + until);
    walk(map.dims, map.offset, from, until, range);
}

}  // namespace systole::simt
