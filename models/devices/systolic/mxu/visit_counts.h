// SPDX-License-Identifier: Apache-2.0
// Instruments, not hardware: with every vector's way down a column ride two counts, of the PEs that
// multiplied it and of those that held real operands. They are read every kSpan rows, before a byte is full,
// and at the bottom.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/devices/systolic/mxu/shift_registers.h"

namespace systole {

class VisitCounts {
public:
    static constexpr int kSpan = 255;

    VisitCounts(int rows, int cols) : rows_(rows), visits_(rows, cols), hits_(rows, cols) {}

    void clock() {
        visits_.clock();
        hits_.clock();
    }
    std::uint8_t* visits(int row) { return visits_.row(row); }
    std::uint8_t* hits(int row) { return hits_.row(row); }

    /// read(row, span, visits, hits) for the last row of every span, then sets its counts to zero.
    template <class Read>
    void read(const Read& read) {
        for (int row = -1; row < rows_ - 1;) {
            const int span = std::min(kSpan, rows_ - 1 - row);
            row += span;
            read(row, span, visits_.row(row), hits_.row(row));
            visits_.clear_row(row);
            hits_.clear_row(row);
        }
    }

private:
    int rows_;
    ColumnShift<std::uint8_t> visits_, hits_;
};

}  // namespace systole
