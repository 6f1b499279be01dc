// SPDX-License-Identifier: Apache-2.0
// Where a kernel's results find their elements in an operand, or go to: results by number, elements by number
// in storage. No SystemC.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace systole::simt {

/// Result number i, written as indices (i0, i1, ...) in `dims`, outermost first, has element `offset` + the
/// sum of index times stride. A stride of 0: met again and again. No `dims`: element i.
struct OperandMap {
    struct Dim {
        std::int64_t extent = 1, stride = 1;
        friend bool operator==(const Dim&, const Dim&) = default;
    };
    std::int64_t offset = 0;
    std::vector<Dim> dims = {};
    /// Of `row` results one behind the other, only those from number `first` until `until` have an element
    /// (of a concatenation's inputs each has some columns). They are counted on, and `dims` are of these.
    std::int64_t row = 1, first = 0, until = 1;

    /// Element i for result i.
    bool plain() const { return dims.empty() && first == 0 && until == row && offset == 0; }
    friend bool operator==(const OperandMap&, const OperandMap&) = default;
};

/// Of `items` equal parts of `results` each has its own of as many parts of `elements`, met again and again.
OperandMap met_again(std::int64_t results, std::int64_t elements, std::int64_t items);

/// The same with as few dimensions as can be: of two that lie one behind the other, one.
void join_dims(OperandMap& map);

/// Calls `range(begin, end)` for the elements of results `begin` … `end` - 1: as few ranges as behind each
/// other lie, those met several times by neighbours once.
void elements_of(const OperandMap& map, std::int64_t begin, std::int64_t end,
                 const std::function<void(std::int64_t, std::int64_t)>& range);

}  // namespace systole::simt
