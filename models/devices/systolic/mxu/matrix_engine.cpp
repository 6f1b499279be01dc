// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/mxu/matrix_engine.h"

#include "sim/base/check.h"

namespace systole {

namespace {

constexpr std::int64_t kMaxFactor = (std::int64_t{1} << 31) - 1;

void check_rows(const ArraySpec& spec, std::int64_t first, std::int64_t rows) {
    SYSTOLE_CHECK(first >= 0 && first <= spec.accumulator_rows - rows, "accumulator rows {} + {} of {}",
                  first, rows, spec.accumulator_rows);
}

}  // namespace

void check_array(const ArraySpec& spec) {
    SYSTOLE_CHECK(spec.rows >= 1 && spec.rows <= kMaxExtent && spec.cols >= 1 && spec.cols <= kMaxExtent,
                  "an array of {} x {}", spec.rows, spec.cols);
    SYSTOLE_CHECK(spec.accumulator_latency >= Cycles(1) && spec.accumulator_rows >= 1,
                  "accumulators of {} rows, latency {}", spec.accumulator_rows,
                  spec.accumulator_latency.value());
    SYSTOLE_CHECK(spec.dataflow_switch >= Cycles(0), "an array is set up anew in {} cycles",
                  spec.dataflow_switch.value());
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
    const std::int64_t rows = spec.dataflow == Dataflow::OutputStationary ? 0 : pass.vectors;
    check_rows(spec, pass.accumulator_row, rows);
}

void check_outputs(const ArraySpec& spec, const Tile& tile, const Pass& pass) {
    if (pass.last_use) check_rows(spec, pass.accumulator_row, tile.rows);
}

void check_order(const Pass& pass, bool kept) {
    SYSTOLE_CHECK(pass.new_tile == !kept, "a pass {} tile after one that {}",
                  pass.new_tile ? "with a new" : "that keeps its", kept ? "keeps it" : "was its last use");
}

void MatrixEngine::set_up(Dataflow dataflow) {
    SYSTOLE_CHECK(false, "an array that takes one dataflow was set up for {}", to_string(dataflow));
}

}  // namespace systole
