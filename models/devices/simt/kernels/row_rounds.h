// SPDX-License-Identifier: Apache-2.0
// Rounds over a CTA's row, in which each thread has one load: out of the memory at first, then out of the L1,
// or, where rows do not stay there, asked for again.
#pragma once

#include <utility>

#include "models/devices/simt/kernels/program_writer.h"

namespace systole::simt {

class RowRounds {
public:
    explicit RowRounds(const VectorKernel& kernel) : kernel_(kernel) { section_.trips = kernel.trips(); }

    /// The load of a round, whose values are as they came.
    SectionWriter load(bool again) {
        SectionWriter writer(section_);
        const std::int64_t bytes = bytes_of_warp(kernel_, kernel_.vector, kernel_.in);
        section_.steps = !again || !kernel_.rereads_l1;
        if (section_.steps)
            writer.load(0, bytes);
        else
            writer.load_again(0, bytes);
        writer.loop();
        return writer;
    }
    /// The same, and its values as numbers.
    SectionWriter read(bool again) {
        SectionWriter writer = load(again);
        writer.convert(kernel_.vector, 0, kernel_.vector, kernel_.in);
        return writer;
    }
    Section take() { return std::move(section_); }

private:
    const VectorKernel& kernel_;
    Section section_;
};

}  // namespace systole::simt
