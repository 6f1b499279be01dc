// SPDX-License-Identifier: Apache-2.0
// What one processing element (PE) holds after a clock, the same for every dataflow: for waveforms, the
// explorer and tests.
#pragma once

namespace systole {

/// A register that a dataflow does not have reads as zero, except that `shadow` equals `stationary` on an
/// array without it.
template <class Operand, class Sum>
struct PeState {
    Operand moving{};      ///< from the left neighbour: an activation (ws, os) or a weight (is)
    Operand stationary{};  ///< ws: a weight, is: an input, both in place; os: a weight on its way down
    Operand shadow{};      ///< ws, is: the next tile's, being shifted in
    Sum sum{};             ///< ws, is: the partial sum on its way down; os: the output that stays here
    Sum result{};          ///< os: a finished output on its way down and out
    bool valid = false;    ///< a vector was multiplied in this cycle
    bool real = false;     ///< the PE lies inside its tile; otherwise it computes padding. os: while valid

    friend bool operator==(const PeState&, const PeState&) = default;
};

}  // namespace systole
