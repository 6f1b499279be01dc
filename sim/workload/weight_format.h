// SPDX-License-Identifier: Apache-2.0
// How stored weights lie where they are not one number of their dtype after the other: with scales that turn
// narrow numbers into those they stand for, or without the zeros of a regular pattern.
#pragma once

#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/workload/dtype.h"

namespace systole {

/// What shares a scale: nothing has one, the whole tensor, a column of N, a group of rows of a column, or a
/// block of neighbours along K, of both operands of a product (OCP Microscaling Formats 1.0; NVFP4).
enum class Scales { None, Tensor, Channel, Group, Block };
/// "none", "tensor", "channel", "group", "block", in the order of the enum.
const std::vector<std::string>& scales_names();

struct WeightFormat {
    Scales scales = Scales::None;
    std::int64_t group = 0;  ///< Scales::Group, Block: rows of K that share a scale
    DType scale_dtype = DType::Bf16;
    std::int64_t kept = 0;  ///< of every `of` weights along K, so many are stored, with their places; 0: all
    std::int64_t of = 1;

    bool sparse() const { return kept > 0; }
    /// Weights do not lie as one number of their dtype after the other.
    bool packed() const { return sparse() || among_numbers(); }
    /// Scales are stored among what they scale.
    bool among_numbers() const { return scales == Scales::Group || scales == Scales::Block; }
    /// Weights that are stored, of so many.
    std::int64_t stored(std::int64_t weights) const { return sparse() ? weights / of * kept : weights; }
    friend bool operator==(const WeightFormat&, const WeightFormat&) = default;
};

/// What a weight takes in memory: `bits` bits for every `weights` of them.
struct BitsPerWeight {
    std::int64_t bits = 8, weights = 1;
    friend bool operator==(const BitsPerWeight&, const BitsPerWeight&) = default;
};

/// Of weights of `dtype` that are stored so: their numbers, the places of kept ones (as many bits each as
/// tell `of` places apart), and scales of groups or blocks, one for each min(group, `depth`) rows. `depth`:
/// rows that are stored together, each time with the scales that they need; 0: no bound. Scales of tensors
/// and channels are tensors of their own.
BitsPerWeight bits_per_weight(DType dtype, const WeightFormat& format, std::int64_t depth = 0);

/// Bytes that so many weights in a row take, padded to whole bytes.
Bytes row_bytes(BitsPerWeight each, std::int64_t weights);

}  // namespace systole
