// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/mxu/matrix_engine.h"

#include "sim/base/check.h"

namespace systole {

namespace {

constexpr std::int64_t kMaxFactor = (std::int64_t{1} << 31) - 1;

}  // namespace

void check_array(const ArraySpec& spec) {
    SYSTOLE_CHECK(spec.rows >= 1 && spec.rows <= kMaxExtent && spec.cols >= 1 && spec.cols <= kMaxExtent,
                  "an array of {} x {}", spec.rows, spec.cols);
    SYSTOLE_CHECK(spec.accumulator_latency >= Cycles(1) && spec.accumulator_rows >= 1,
                  "accumulators of {} rows, latency {}", spec.accumulator_rows,
                  spec.accumulator_latency.value());
}

void check_tile(const ArraySpec& spec, const Tile& tile) {
    SYSTOLE_CHECK(tile.rows >= 1 && tile.rows <= spec.rows && tile.cols >= 1 && tile.cols <= spec.cols,
                  "a tile of {} x {} on an array of {} x {}", tile.rows, tile.cols, spec.rows, spec.cols);
}

void check_pass(const ArraySpec& spec, const Pass& pass) {
    const Rational rate = pass.cycles_per_vector;
    SYSTOLE_CHECK(rate.den >= 1 && rate.num >= rate.den && rate.num <= kMaxFactor,
                  "{} / {} cycles per vector", rate.num, rate.den);
    SYSTOLE_CHECK(pass.vectors >= 1 && pass.vectors <= kMaxFactor, "a pass of {} vectors", pass.vectors);
    SYSTOLE_CHECK(pass.accumulator_row >= 0 && pass.accumulator_row <= spec.accumulator_rows - pass.vectors,
                  "accumulator rows {} + {} of {}", pass.accumulator_row, pass.vectors,
                  spec.accumulator_rows);
}

}  // namespace systole
