// SPDX-License-Identifier: Apache-2.0
// A tiling that the mapper considers: what it needs of the buffers, and how long it takes by estimate.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "models/devices/systolic/lowering/tiling.h"

namespace systole::systolic {

/// Stands for sizes that leave 64 bits (windows far apart cover more than there is): no buffer holds them.
constexpr std::int64_t kBeyond = std::numeric_limits<std::int64_t>::max();
/// a * b, kBeyond where that leaves 64 bits. Of sizes: neither is negative.
std::int64_t product(std::int64_t a, std::int64_t b);

/// `tiling`, but for its steps along K, which are asked for one by one. Refers to both.
class Candidate {
public:
    Candidate(const TilingRequest& request, const Tiling& tiling);

    /// Whether all units that the tiling deals have a block; and these are all that there are; or as many as
    /// deal the blocks in no more rounds than all would, for these wait less for their first tiles, and end
    /// together; or a single one has.
    bool worth_its_idle_units() const;

    /// Whether blocks of both rows and columns come in more than one round: otherwise either nesting of the
    /// loops is the same.
    bool order_matters() const { return m_rounds_ > 1 && n_rounds_ > 1; }

    // Steps of so many K tiles: bytes that one stages.
    std::int64_t input_step(std::int64_t k_tiles) const;
    std::int64_t weight_step(std::int64_t k_tiles) const;
    /// Whether two of them find room.
    bool fits(std::int64_t k_tiles) const;
    /// K tiles of a step, evenly dealt: one, two, four and so on, up to as many as fit. Where a step gains by
    /// length only as many as fit, and all. Empty if not even one fits.
    std::vector<std::int64_t> k_tiles_per_step() const;

    /// Loads run ahead of the arrays, drains and stores behind them. Either the arrays wait for the first
    /// step only and work without a pause from then on; or the memory does, and the arrays take the last step
    /// after it; and behind them come the results of the last round. Or results leave without a pause from
    /// the first round on; or the sequencer issues without a pause. Behind all comes the pipeline of the
    /// array.
    TilingTime time(std::int64_t k_tiles) const;
    double cycles(std::int64_t k_tiles) const { return time(k_tiles).cycles; }

private:
    std::int64_t busy_units() const;
    bool gains_by_length() const;
    double rounds() const;
    double k_steps(std::int64_t k_tiles) const;

    // Time on the arrays, in cycles.
    bool keeps_weights() const;
    double stream_cycles(double vectors) const;
    double fifo_cycles() const;
    double pass_cycles(double vectors) const;
    double compute_cycles(std::int64_t k_tiles) const;
    double last_shift() const;
    double drain_cycles() const;

    // Traffic.
    double first_bytes(std::int64_t k_tiles) const;
    double row_openings(std::int64_t k_tiles) const;
    double weight_openings(std::int64_t k_tiles) const;
    double openings(std::int64_t pitch, std::int64_t piece, double used) const;
    double spread(std::int64_t pitch, std::int64_t bytes) const;
    double output_bytes() const;
    double dram_bytes(std::int64_t k_tiles) const;
    double input_reads() const;
    double weight_reads() const;
    double results() const;
    double descriptors(std::int64_t k_tiles) const;
    double commands(std::int64_t k_tiles) const;

    const TilingRequest& r_;
    const Tiling& t_;
    const RowBlocking& b_;
    std::int64_t n_blocks_ = 1, item_rounds_ = 1, m_rounds_ = 1, n_rounds_ = 1;
};

}  // namespace systole::systolic
