// SPDX-License-Identifier: Apache-2.0
// How long a tiling takes, by estimate.
#include <algorithm>
#include <string_view>
#include <utility>

#include "models/devices/systolic/lowering/real.h"
#include "models/devices/systolic/lowering/tiling_candidate.h"
#include "sim/base/units.h"

namespace systole::systolic {
namespace {

/// Opening a DRAM row costs as much as so many bytes from it: FAW and the row bus let a pseudo-channel of
/// HBM2 open one every four to seven clocks, of which each moves 16 bytes. A row-major input cut along K is
/// read in pieces, and uses only a part of each row that it opens.
constexpr double kRowOpening = 128;
constexpr double kRowBytes = 1024;

}  // namespace

TilingTime Candidate::time(std::int64_t k_tiles) const {
    const double per_byte = r_.dram_bytes_per_cycle > 0 ? 1 / r_.dram_bytes_per_cycle : 0;
    const double setup = real(r_.dma_setup_cycles);
    TilingTime t;
    t.first = first_bytes(k_tiles) * per_byte;
    t.memory = dram_bytes(k_tiles) * per_byte + descriptors(k_tiles) * setup;
    t.arrays = compute_cycles(k_tiles);
    const double round = t.arrays / rounds(), step = round / k_steps(k_tiles);
    const double outputs = output_bytes() * per_byte;
    const double stores = r_.output_bytes == 0 ? 0 : std::max(outputs, results() * setup);
    t.issue = commands(k_tiles) * real(r_.issue_cycles);
    const double drain = drain_cycles();
    t.results = std::max(stores, drain);
    const double last = (drain + outputs) / rounds() - last_shift();
    const double hidden = t.memory + t.arrays + drain - std::max({t.memory, t.arrays, drain});
    const double first_results =
        t.first + (keeps_weights() ? stream_cycles(real(b_.rows)) : round - last_shift());
    const std::pair<double, std::string_view> bounds[] = {{t.first + t.arrays + last, "arrays"},
                                                          {t.memory + step + last, "memory"},
                                                          {first_results + t.results, "results"},
                                                          {t.issue, "issue"}};
    const auto& longest = *std::ranges::max_element(bounds, {}, &std::pair<double, std::string_view>::first);
    t.cycles = longest.first + kExposed * hidden + real(r_.array_rows + r_.array_cols);
    t.bound = longest.second;
    return t;
}

double Candidate::rounds() const {
    return real(item_rounds_ * m_rounds_ * n_rounds_);
}

double Candidate::k_steps(std::int64_t k_tiles) const {
    return real(ceil_div(r_.k_tiles, k_tiles));
}

/// Whether the array still holds the tile that the next block needs.
bool Candidate::keeps_weights() const {
    return r_.dataflow == Dataflow::WeightStationary && r_.k_tiles == 1 && t_.n_tiles == 1 && !t_.m_outer;
}

double Candidate::stream_cycles(double vectors) const {
    double each = std::max(1.0, real(t_.split_items * t_.split_m) / real(r_.activation_ports));
    if (r_.dataflow == Dataflow::OutputStationary)
        each *= std::max(1.0, real(r_.weight_port_cycles) / real(r_.array_rows));
    return vectors * std::max(each, real(r_.vector_cycles));
}

/// A tile keeps its place in the FIFO while it is filled and while it is shifted in.
double Candidate::fifo_cycles() const {
    if (r_.weight_fifo_tiles == 0) return 0;
    return real(r_.weight_fill_cycles + r_.array_rows) / real(r_.weight_fifo_tiles);
}

/// Over one output tile: T vectors stream, a tile of R rows is shifted in (os: out).
double Candidate::pass_cycles(double vectors) const {
    const double rows = real(r_.array_rows);
    const bool outputs_stay = r_.dataflow == Dataflow::OutputStationary;
    const double shift = outputs_stay ? rows : std::max({rows, real(r_.weight_port_cycles), fifo_cycles()});
    const double stream = stream_cycles(vectors);
    if (r_.shadow_register) return std::max(stream, shift);
    return stream + shift + (r_.direct ? rows + real(r_.array_cols) - 2 : 0.0);
}

double Candidate::compute_cycles(std::int64_t k_tiles) const {
    const double n_tiles = real(r_.n_tiles * (r_.shared_input ? r_.items : 1)) / real(n_blocks_);  // a block
    const double m_tiles = real(r_.tile.m_tiles(b_.rows));
    const double folds = real(r_.k_tiles);
    if (r_.dataflow == Dataflow::InputStationary) {
        const double vectors = std::min(real(r_.n), n_tiles * real(r_.tile.n_unit));
        return rounds() * folds * m_tiles * pass_cycles(vectors);
    }
    if (r_.dataflow == Dataflow::OutputStationary) {
        const double steps = k_steps(k_tiles);
        return rounds() * steps * n_tiles * m_tiles * pass_cycles(real(r_.k_vectors) / steps);
    }
    const double pass = pass_cycles(real(b_.rows));
    if (keeps_weights())
        return real(item_rounds_ * n_rounds_) * (pass + real(m_rounds_ - 1) * stream_cycles(real(b_.rows)));
    return rounds() * folds * n_tiles * pass;
}

/// By how much the last pass is shorter than those before it: no tile is shifted in behind it.
double Candidate::last_shift() const {
    if (r_.dataflow != Dataflow::WeightStationary || !r_.shadow_register) return 0;
    return pass_cycles(real(b_.rows)) - stream_cycles(real(b_.rows));
}

/// All results on their way out of the arrays or accumulators.
double Candidate::drain_cycles() const {
    if (r_.direct) return rounds() * real(b_.rows) / real(r_.drain_rows);
    const double columns = real(std::min(r_.n, t_.n_tiles * r_.tile.n_unit));
    return rounds() * real(busy_units()) * columns * real(b_.rows) / real(r_.drain_elements);
}

/// What the first step reads: of a resident input that is on its way, whole rows.
double Candidate::first_bytes(std::int64_t k_tiles) const {
    const double arriving = std::min(1.0, real(t_.split_m) / real(b_.blocks)) * real(r_.arriving_bytes);
    return real(input_step(k_tiles) + weight_step(k_tiles)) + arriving;
}

/// How much longer the input takes because of the DRAM rows that are opened for parts of them, and of buses
/// that its pieces do not reach.
double Candidate::row_openings(std::int64_t k_tiles) const {
    if (b_.k_tile_bytes == 0 || b_.tile_bytes == 0) return 1;
    const double used = std::min(1.0, real(b_.k_tile_bytes) * real(k_tiles) / real(b_.tile_bytes));
    return openings(b_.tile_bytes / b_.rows, b_.k_tile_bytes * k_tiles / b_.rows, used);
}

/// The same of a second operand that lies row by row.
double Candidate::weight_openings(std::int64_t k_tiles) const {
    if (r_.weight_pitch == 0) return 1;
    const std::int64_t tiles = r_.weights_by_column ? k_tiles : t_.n_tiles;
    const std::int64_t piece = std::min(r_.weight_pitch, tiles * r_.weight_piece_bytes);
    return openings(r_.weight_pitch, piece, real(piece) / real(r_.weight_pitch));
}

/// Of pieces of rows, which are a share `used` of them.
double Candidate::openings(std::int64_t pitch, std::int64_t piece, double used) const {
    return (1 + kRowOpening / (kRowBytes * used)) / (1 + kRowOpening / kRowBytes) / spread(pitch, piece);
}

/// Of the bandwidth, the share that pieces of rows have.
double Candidate::spread(std::int64_t pitch, std::int64_t bytes) const {
    return r_.spread ? r_.spread(pitch, bytes) : 1;
}

/// Of outputs, and of what joins them, as many as would take as long if they reached all buses. Blocks beside
/// each other leave together.
double Candidate::output_bytes() const {
    const std::int64_t columns = std::min(t_.split_n, n_blocks_) * t_.n_tiles * r_.tile.n_unit;
    const std::int64_t all = r_.n * (r_.shared_input ? r_.items : 1);
    const std::int64_t row = r_.output_pitch * std::min(columns, all) / all;
    return real(r_.output_bytes + r_.joined_bytes) / spread(r_.output_pitch, row);
}

double Candidate::dram_bytes(std::int64_t k_tiles) const {
    const double input = real(b_.load_bytes) * real(r_.shared_input ? 1 : r_.items);
    const double weights = real(r_.items) * real(r_.n_tiles * r_.k_tiles * r_.weight_tile_bytes);
    return input * input_reads() * row_openings(k_tiles) +
           weights * weight_reads() * weight_openings(k_tiles) + output_bytes() + real(r_.arriving_bytes);
}

double Candidate::input_reads() const {
    if (r_.input_capacity == 0) return 0;
    const double kept =
        real(t_.split_items) * real(t_.m_outer ? 2 * t_.split_m * b_.tile_bytes : b_.load_bytes);
    return kept <= real(r_.input_capacity) ? 1 : real(n_rounds_);
}

double Candidate::weight_reads() const {
    if (r_.weight_capacity == 0) return real(b_.blocks);
    const std::int64_t tiles =
        t_.m_outer ? r_.n_tiles * (r_.shared_input ? r_.items : 1) : 2 * t_.split_n * t_.n_tiles;
    const double kept = real(t_.split_items * tiles * r_.k_tiles) * real(r_.weight_tile_bytes);
    return kept <= real(r_.weight_capacity) ? 1 : real(m_rounds_);
}

/// Descriptors by which results leave: one for each block, or for some rows of it.
double Candidate::results() const {
    return real(r_.store_rows == 0 ? 1 : ceil_div(b_.rows, r_.store_rows)) * real(b_.blocks) *
           real(n_blocks_) * real(r_.shared_input ? 1 : r_.items);
}

/// Of the engine that loads: one for each column of weight tiles, and for each block of inputs, of a step;
/// and one for what joins each of the results.
double Candidate::descriptors(std::int64_t k_tiles) const {
    const double steps = real(r_.items) * k_steps(k_tiles);
    const double inputs = b_.k_tile_bytes > 0 ? steps : real(r_.shared_input ? 1 : r_.items);
    return (r_.weight_capacity > 0 ? real(r_.n_tiles) * steps * weight_reads() : 0) +
           real(b_.blocks) * inputs * input_reads() + (r_.joined_bytes > 0 ? results() : 0);
}

/// A pass and, mostly, a weight tile for each fold; a drain and a store for each block of results.
double Candidate::commands(std::int64_t k_tiles) const {
    const double tiles = real(r_.n_tiles * r_.items) * real(b_.blocks);
    return tiles * real(r_.k_tiles) * (keeps_weights() ? 1 : 2) + 2 * tiles + descriptors(k_tiles);
}

}  // namespace systole::systolic
