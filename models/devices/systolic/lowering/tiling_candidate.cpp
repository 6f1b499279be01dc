// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/tiling_candidate.h"

#include <algorithm>

#include "sim/base/checked.h"
#include "sim/base/units.h"

namespace systole::systolic {
namespace {

std::int64_t sum(std::int64_t a, std::int64_t b) {
    return checked_add(a, b).value_or(kBeyond);
}

std::int64_t aligned(std::int64_t bytes, std::int64_t alignment) {
    return bytes > kBeyond - alignment ? kBeyond : round_up(bytes, alignment);
}

}  // namespace

std::int64_t product(std::int64_t a, std::int64_t b) {
    return checked_mul(a, b).value_or(kBeyond);
}

Candidate::Candidate(const TilingRequest& request, const Tiling& tiling)
    : r_(request), t_(tiling), b_(request.row_blockings[tiling.blocking]) {
    const std::int64_t groups = r_.shared_input ? r_.items : 1;
    n_blocks_ = ceil_div(r_.n_tiles, t_.n_tiles) * groups;
    item_rounds_ = r_.shared_input ? 1 : ceil_div(r_.items, t_.split_items);
    m_rounds_ = ceil_div(b_.blocks, t_.split_m);
    n_rounds_ = ceil_div(n_blocks_, t_.split_n);
}

std::int64_t Candidate::busy_units() const {
    return std::min(t_.split_items, r_.items) * std::min(t_.split_m, b_.blocks) *
           std::min(t_.split_n, n_blocks_);
}

bool Candidate::worth_its_idle_units() const {
    const std::int64_t blocks = (r_.shared_input ? 1 : r_.items) * b_.blocks * n_blocks_;
    const std::int64_t units = t_.split_items * t_.split_m * t_.split_n;
    if (busy_units() < units) return false;
    return units == r_.mxus || units == 1 ||
           item_rounds_ * m_rounds_ * n_rounds_ <= ceil_div(blocks, r_.mxus);
}

std::int64_t Candidate::input_step(std::int64_t k_tiles) const {
    if (r_.input_capacity == 0) return 0;
    const std::int64_t block = b_.k_tile_bytes ? product(b_.k_tile_bytes, k_tiles) : b_.tile_bytes;
    return product(t_.split_items * t_.split_m, aligned(block, r_.alignment));
}

std::int64_t Candidate::weight_step(std::int64_t k_tiles) const {
    const std::int64_t tiles =
        r_.weight_capacity > 0 ? product(product(t_.n_tiles, k_tiles), r_.weight_tile_bytes) : 0;
    const std::int64_t beside = product(t_.n_tiles, r_.parameter_bytes);
    return product(t_.split_items * t_.split_n,
                   sum(aligned(tiles, r_.alignment), aligned(beside, r_.alignment)));
}

bool Candidate::fits(std::int64_t k_tiles) const {
    return input_step(k_tiles) <= r_.input_capacity / 2 &&
           weight_step(k_tiles) <= (r_.weight_capacity > 0 ? r_.weight_capacity : r_.parameter_capacity) / 2;
}

/// Where outputs stay in the array, a step is a pass, whose ends are paid once; where memory takes no time,
/// nothing is gained by bringing less.
bool Candidate::gains_by_length() const {
    return r_.direct && (r_.dataflow == Dataflow::OutputStationary || r_.dram_bytes_per_cycle == 0);
}

std::vector<std::int64_t> Candidate::k_tiles_per_step() const {
    std::vector<std::int64_t> all;
    for (std::int64_t most = 1; fits(most); most *= 2) {
        all.push_back(ceil_div(r_.k_tiles, ceil_div(r_.k_tiles, most)));
        if (most >= r_.k_tiles) break;
    }
    if (all.empty() || !gains_by_length()) return all;
    return {fits(r_.k_tiles) ? r_.k_tiles : all.back(), all.back()};
}

}  // namespace systole::systolic
