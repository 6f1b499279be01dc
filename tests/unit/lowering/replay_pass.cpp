// SPDX-License-Identifier: Apache-2.0
// What a pass reads at the edges of its array, and what it does to accumulators and products.
#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/program/pass_shape.h"
#include "tests/unit/lowering/replay.h"

namespace systole::systolic::test {

std::int64_t Replay::input_address(const MatrixPass& pass, std::int64_t m, std::int64_t k) const {
    if (attention()) return attention_input(pass, m, k);
    if (transposed()) return phase_input(pass, m, k);
    const TensorId id = layer().inputs.at(0);
    if (const auto* op = std::get_if<MatMul>(&layer().op)) {
        return address_of(id, ((pass.origin.batch * op->m + m) * op->k + k) * element_bytes(id));
    }
    const auto& op = std::get<Conv2d>(layer().op);
    const std::int64_t group_c = op.in_c / op.groups;
    const std::int64_t c = pass.origin.batch * group_c + k % group_c;
    const std::int64_t s = k / group_c % op.kernel_w, r = k / group_c / op.kernel_w % op.kernel_h,
                       t = k / group_c / op.kernel_w / op.kernel_h;
    const ConvDepth d = op.depth.value_or(ConvDepth{});
    const std::int64_t out_d = (d.in + 2 * d.pad - d.dilation * (d.kernel - 1) - 1) / d.stride + 1;
    const std::int64_t q = m % op.out_w(), p = m / op.out_w() % op.out_h(), o = m / op.out_w() / op.out_h();
    const std::int64_t z = o % out_d * d.stride + t * d.dilation - d.pad,
                       y = p * op.stride + r * op.dilation - op.pad,
                       x = q * op.uneven.stride_w.value_or(op.stride) +
                           s * op.uneven.dilation_w.value_or(op.dilation) -
                           op.uneven.pad_left.value_or(op.pad);
    if (z < 0 || z >= d.in || y < 0 || y >= op.in_h || x < 0 || x >= op.in_w) return -1;
    const std::int64_t slice = o / out_d * d.in + z;
    return address_of(id, (((slice * op.in_h + y) * op.in_w + x) * op.in_c + c) * element_bytes(id));
}

std::int64_t Replay::weight_address(const MatrixPass& pass, std::int64_t k, std::int64_t n) const {
    if (attention()) return attention_second(pass, k, n);
    if (transposed()) return phase_weight(pass, k, n);
    const auto* matmul = std::get_if<MatMul>(&layer().op);
    if (!layer().weights) {
        const TensorId id = layer().inputs.at(1);
        const std::int64_t row =
            matmul->transposed_b ? pass.origin.batch * matmul->n + n : pass.origin.batch * matmul->k + k;
        const std::int64_t at = matmul->transposed_b ? row * matmul->k + k : row * matmul->n + n;
        return address_of(id, at * element_bytes(id));
    }
    const Placement& p = lowered_.placements[*layer().weights];
    if (p.layout == Layout::RowMajor) {
        const std::int64_t at = matmul->transposed_b ? n * matmul->k + k : k * matmul->n + n;
        return p.address + at * element_bytes(*layer().weights);
    }
    if (weights_turned()) std::swap(k, n);
    std::int64_t all_k = 0, all_n = 0;
    if (const auto* owner = std::get_if<MatMul>(&owner_of_weights().op)) {
        all_k = owner->k;
        all_n = owner->n;
    } else {
        const auto& op = std::get<Conv2d>(owner_of_weights().op);
        all_k = op.kernel_h * op.kernel_w * op.in_c / op.groups;
        if (op.depth) all_k *= op.depth->kernel;
        all_n = op.out_c / op.groups;
    }
    if (p.layout == Layout::ColumnMajor) {
        const std::int64_t width = element_bytes(*layer().weights);
        return p.address + ((pass.origin.batch * all_n + n) * all_k + k) * width;
    }
    const std::int64_t k_tiles = ceil_div(all_k, p.tile_rows), n_tiles = ceil_div(all_n, p.tile_cols);
    const std::int64_t tile = (pass.origin.batch * n_tiles + n / p.tile_cols) * k_tiles + k / p.tile_rows;
    const std::int64_t inside = k % p.tile_rows * p.tile_cols + n % p.tile_cols;
    return p.address + (tile * p.tile_rows * p.tile_cols + inside) * element_bytes(*layer().weights);
}

/// The addresses of every byte of every vector that an edge reads for a fold.
std::vector<std::vector<std::int64_t>> Replay::vectors_of(const EdgeRead& edge, std::int64_t fold) {
    const AddressStream& stream = lowered_.program.streams[edge.stream];
    std::vector<std::vector<std::int64_t>> all;
    std::int64_t t = 0;
    for (std::int64_t i = 0; i < stream.levels[0].count; ++i) {
        for (std::int64_t j = 0; j < stream.levels[1].count; ++j) {
            for (std::int64_t k = 0; k < stream.levels[2].count; ++k, ++t) {
                if (t < edge.first || t >= edge.first + edge.vectors) continue;
                all.emplace_back();
                for (const Segment& s : stream.segments) {
                    const std::int64_t begin = edge.address + fold * edge.fold_step +
                                               i * stream.levels[0].stride.value() +
                                               j * stream.levels[1].stride.value() +
                                               k * stream.levels[2].stride.value() + s.offset.value();
                    if (begin < 0 || begin + s.bytes.value() > spec_.scratchpad.capacity.value()) {
                        fault(fmt::format("streams from {}", begin));
                        return {};
                    }
                    for (std::int64_t b = 0; b < s.bytes.value(); ++b) all.back().push_back(begin + b);
                }
            }
        }
    }
    return all;
}

/// Reads an element at `at` that should hold what lies at `wanted`; -1: padding, the array is fed zeros.
bool Replay::read_element(TensorId tensor, std::int64_t at, std::int64_t wanted) {
    if (wanted == kMade) read(scratchpad(), at, element_bytes(tensor));
    if (wanted < 0) return true;
    const bool resident = lowered_.placements[tensor].space == Space::Scratchpad;
    const std::int64_t got = resident ? at : scratchpad().holds[static_cast<std::size_t>(at)];
    read(scratchpad(), at, element_bytes(tensor));
    if (got != wanted) fault(fmt::format("reads {} instead of {}", got, wanted));
    return got == wanted;
}

/// Rows of M, elements along K.
void Replay::check_inputs(const MatrixPass& pass, const EdgeRead& edge, std::int64_t fold) {
    const TensorId id = layer().inputs.at(0);
    const std::int64_t width = element_bytes(id);
    const auto vectors = vectors_of(edge, fold);
    if (static_cast<std::int64_t>(vectors.size()) != pass.m)
        return fault(fmt::format("reads {} input vectors for {} rows", vectors.size(), pass.m));
    for (std::int64_t m = 0; m < pass.m; ++m) {
        const auto& addresses = vectors[static_cast<std::size_t>(m)];
        if (static_cast<std::int64_t>(addresses.size()) != pass.k * width)
            return fault(fmt::format("a vector of {} B for {} elements", addresses.size(), pass.k));
        for (std::int64_t k = 0; k < pass.k; ++k) {
            const std::int64_t wanted =
                input_address(pass, pass.origin.m0 + m, pass.origin.k0 + fold * pass.k + k);
            if (!read_element(id, addresses[static_cast<std::size_t>(k * width)], wanted)) return;
        }
    }
}

/// Either rows of K, elements along N, or the other way round, as the tensor lies.
void Replay::check_second(const MatrixPass& pass, const EdgeRead& edge, std::int64_t fold) {
    if (packed()) return check_packed_second(pass, edge, fold);
    const TensorId id = second_of(pass);
    const bool by_column = second_by_column(pass);
    const std::int64_t width = element_bytes(id);
    const std::int64_t count = by_column ? pass.n : pass.k, length = by_column ? pass.k : pass.n;
    const auto vectors = vectors_of(edge, fold);
    if (static_cast<std::int64_t>(vectors.size()) != count)
        return fault(fmt::format("reads {} weight vectors instead of {}", vectors.size(), count));
    for (std::int64_t v = 0; v < count; ++v) {
        const auto& addresses = vectors[static_cast<std::size_t>(v)];
        if (static_cast<std::int64_t>(addresses.size()) != length * width)
            return fault(fmt::format("a vector of {} B for {} elements", addresses.size(), length));
        for (std::int64_t i = 0; i < length; ++i) {
            const std::int64_t k = pass.origin.k0 + fold * pass.k + (by_column ? i : v);
            const std::int64_t n = pass.origin.n0 + (by_column ? v : i);
            if (!read_element(id, addresses[static_cast<std::size_t>(i * width)], weight_address(pass, k, n)))
                return;
        }
    }
}

void Replay::check_fifo_tile(const MatrixPass& pass) {
    if (packed()) return check_packed_tile(pass);
    const auto& tile = in_array_[mxu_index()];
    const bool transposed = second_by_column(pass);
    const TensorId id = second_of(pass);
    const std::int64_t width = element_bytes(id);
    const bool tiles = lowered_.placements[id].layout == Layout::Tiled && !weights_turned();
    const std::int64_t pitch = tiles ? spec_.mxu.cols : transposed ? pass.k : pass.n;
    for (std::int64_t k = 0; k < pass.k; ++k) {
        for (std::int64_t n = 0; n < pass.n; ++n) {
            const auto at = static_cast<std::size_t>((transposed ? n * pitch + k : k * pitch + n) * width);
            const std::int64_t wanted = weight_address(pass, pass.origin.k0 + k, pass.origin.n0 + n);
            if (at >= tile.size() || tile[at] != wanted) {
                return fault(fmt::format("weight {},{}: {} instead of {}", k, n,
                                         at < tile.size() ? tile[at] : -2, wanted));
            }
        }
    }
}

/// Both operands through the edges; the stationary one when it changes, and then what stays is what it was.
void Replay::check_edges(const MatrixPass& pass, std::int64_t fold) {
    const bool inputs_stay = dataflow() == Dataflow::InputStationary;
    auto& held = held_[mxu_index()];
    if (inputs_stay)
        check_second(pass, pass.left, fold);
    else
        check_inputs(pass, pass.left, fold);
    if (pass.new_tile) {
        if (pass.top.none()) return fault("a new tile comes from nowhere");
        if (inputs_stay)
            check_inputs(pass, pass.top, fold);
        else
            check_second(pass, pass.top, fold);
        held = {command_.layer,
                pass.origin.batch,
                pass.origin.k0 + fold * pass.k,
                pass.k,
                inputs_stay ? pass.origin.m0 : pass.origin.n0,
                inputs_stay ? pass.m : pass.n};
        return;
    }
    const std::array<std::int64_t, 6> wanted{command_.layer,
                                             pass.origin.batch,
                                             pass.origin.k0,
                                             pass.k,
                                             inputs_stay ? pass.origin.m0 : pass.origin.n0,
                                             inputs_stay ? pass.m : pass.n};
    if (held != wanted) fault("the array holds another tile");
}

void Replay::replay_pass(const MatrixPass& pass) {
    const auto mxu = mxu_index();
    const MacRate rate = spec_.mxu.rate_of(pass.dtype, pass.second_dtype).value_or(MacRate{1});
    const PassShape shape = shape_of(dataflow(), rate, pass);
    if (std::exchange(set_up_[mxu], dataflow()) != dataflow() && !pass.new_tile)
        return fault("it keeps a tile of another dataflow");
    if (shape.rows > spec_.mxu.rows || shape.cols > spec_.mxu.cols)
        return fault(fmt::format("a tile of {}x{}", shape.rows, shape.cols));
    if (spec_.mxu.direct(dataflow())) {
        for (std::int64_t fold = 0; fold < pass.folds; ++fold) check_edges(pass, fold);
    } else {
        check_inputs(pass, pass.left, 0);
        if (pass.new_tile) {
            if (fifo_[mxu].empty()) return fault("no weight tile waits for it");
            in_array_[mxu] = fifo_[mxu].front();
            fifo_[mxu].erase(fifo_[mxu].begin());
        }
        check_fifo_tile(pass);
    }
    const std::int64_t rows = dataflow() == Dataflow::InputStationary ? pass.n : pass.m;
    if (pass.accumulate) read(accumulators_[mxu], pass.accumulator_row, rows);
    write(accumulators_[mxu], pass.accumulator_row, rows);
    layer_macs_[static_cast<std::size_t>(command_.layer)] += pass.macs().value();
    if (attention()) return count_attention(pass);
    const std::int64_t products = pass.m * pass.n * pass.k;
    if (products - pass.masked != products / share_of_products(layer()))
        fault(fmt::format("{} of {} products are with zeros", pass.masked, products));
    for (std::int64_t m = 0; m < pass.m; ++m) {
        for (std::int64_t n = 0; n < pass.n; ++n) {
            for (std::int64_t k = 0; k < pass.k * pass.folds; ++k) {
                ++products_[{command_.layer, pass.origin.batch, pass.origin.m0 + m, pass.origin.n0 + n,
                             pass.origin.k0 + k}];
            }
        }
    }
}

}  // namespace systole::systolic::test
