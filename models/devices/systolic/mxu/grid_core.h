// SPDX-License-Identifier: Apache-2.0
// What the register-accurate engines of all dataflows have in common: a stream of vectors, an array of PEs
// and the accumulators below it, and the answers that are read out of their registers.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "models/devices/systolic/mxu/accumulators.h"
#include "models/devices/systolic/mxu/grid_engine.h"
#include "models/devices/systolic/mxu/vector_stream.h"

namespace systole {

/// When what never happened did: long enough ago for any latency.
inline constexpr Cycles kLongAgo{std::numeric_limits<std::int64_t>::min() / 2};

/// The accumulators of an array.
template <class Arithmetic>
std::shared_ptr<Accumulators<Arithmetic>> make_accumulators(const ArraySpec& spec) {
    check_array(spec);
    return std::make_shared<Accumulators<Arithmetic>>(spec.accumulator_rows, spec.cols,
                                                      spec.accumulator_latency.value());
}

/// `Arithmetic`: Int8Arithmetic or Float32Arithmetic (also for bf16 and fp16, see value_type.h). `Array`:
/// PeArray or OsArray of it.
template <class Arithmetic, class Array>
class GridCore : public BasicGridEngine<typename Arithmetic::Operand, typename Arithmetic::Sum> {
public:
    using Operand = typename Arithmetic::Operand;
    using Sum = typename Arithmetic::Sum;

    Cycles now() const final { return now_; }
    std::optional<PassReport> take_finished() final { return stream_.take_finished(); }
    Sum accumulator(std::int64_t row, int col) const final { return accumulators_.at(row, col); }
    PeState<Operand, Sum> pe(int row, int col) const final { return array_.pe(row, col); }
    std::optional<IssuedSum<Sum>> issued(int col) const final { return accumulators_.issued(col); }
    std::optional<std::int64_t> written(int col) const final { return accumulators_.written(col); }

protected:
    using Stream = VectorStream<Operand>;

    /// `second_register`: every PE of the array has one. `below`: its accumulators.
    GridCore(const ArraySpec& spec, bool second_register, std::shared_ptr<Accumulators<Arithmetic>> below)
        : spec_((check_array(spec), spec)),
          stream_(spec.rows + spec.cols - 1),
          array_(spec.rows, spec.cols, second_register),
          below_(std::move(below)),
          accumulators_(*below_) {}

    const ArraySpec spec_;
    Cycles now_;
    Stream stream_;
    Array array_;
    const std::shared_ptr<Accumulators<Arithmetic>> below_;  // an array that is set up anew keeps them
    Accumulators<Arithmetic>& accumulators_;
    bool kept_ = false;  // the next pass keeps the tile in use
};

}  // namespace systole
