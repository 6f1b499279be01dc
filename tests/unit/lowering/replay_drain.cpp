// SPDX-License-Identifier: Apache-2.0
// What leaves the accumulators: to its place, and joined by what belongs to it.
#include <fmt/format.h>

#include "tests/unit/lowering/replay.h"

namespace systole::systolic::test {

std::int64_t Replay::drained_rows(const VectorWork& work) const {
    return dataflow() == Dataflow::InputStationary ? work.cols : work.accumulator_rows;
}

std::int64_t Replay::drained_cols(const VectorWork& work) const {
    return dataflow() == Dataflow::InputStationary ? work.accumulator_rows : work.cols;
}

/// Where in the output a row of results belongs, in bytes.
std::int64_t Replay::drained_to(const VectorWork& work, std::int64_t row) const {
    std::int64_t m = 0, n = 0, column = work.origin.n0;
    if (const auto* op = std::get_if<MatMul>(&layer().op)) {
        m = layer().weights && op->experts == 0 ? 0 : op->m;
        n = op->n;
    } else if (const Attention* op = attention()) {
        m = op->q_len * op->group();
        n = op->kv_len;
    } else if (!transposed()) {
        const auto& conv = std::get<Conv2d>(layer().op);
        n = conv.out_c;
        column += work.origin.batch * conv.out_c / conv.groups;
    }
    const std::int64_t width = element_bytes(layer().output);
    if (const Attention* op = attention(); op && op->part == Attention::Part::Context) {
        const std::int64_t dim = op->value_width == 0 ? op->head_dim : op->value_width;
        return query_element(work.origin.batch, work.origin.m0 + row, column, dim) * width;
    }
    if (const Attention* op = attention(); op && op->part == Attention::Part::Keys) {
        const std::int64_t dim = op->of_values && op->value_width > 0 ? op->value_width : op->head_dim;
        return key_element(work.origin.batch, work.origin.m0 + row, column, dim) * width;
    }
    if (const ConvTranspose* op = transposed()) {
        const auto [image, y, x] = phase_pixel(work.origin.batch, work.origin.m0 + row);
        return (((image * op->out_h() + y) * op->out_w() + x) * op->out_c + column) * width;
    }
    return ((work.origin.batch * m + work.origin.m0 + row) * n + column) * width;
}

/// Into a tensor in place: each row where it belongs.
void Replay::check_drain(const VectorWork& work) {
    const AddressStream& named = lowered_.program.streams[work.write.stream];
    for (std::int64_t row = 0; row < drained_rows(work); ++row) {
        const std::int64_t at = address_of(layer().output, drained_to(work, row));
        if (work.write.address + named.offset_of(row).value() != at)
            fault(fmt::format("drains row {} to {}, not to {}", row,
                              work.write.address + named.offset_of(row).value(), at));
        if (at == kNowhere) return;
        for (std::int64_t b = 0; b < drained_cols(work) * element_bytes(layer().output); ++b)
            scratchpad().holds[static_cast<std::size_t>(at + b)] = -1;
    }
}

/// Every result meets its own element of the tensor that joins: read in place, or where it was brought to.
void Replay::check_joined(const VectorWork& work) {
    if (work.reads.empty()) return fault("drains without what joins");
    const Placement& other = lowered_.placements[layer().inputs.back()];
    const EdgeRead& access = work.reads.back();
    const AddressStream& named = lowered_.program.streams[access.stream];
    const std::int64_t bytes = drained_cols(work) * element_bytes(layer().output);
    if (access.vectors != drained_rows(work))
        fault(fmt::format("is joined by {} rows, not {}", access.vectors, drained_rows(work)));
    for (std::int64_t row = 0; row < drained_rows(work); ++row)
        for (std::int64_t b = 0; b < bytes; ++b) {
            const std::int64_t at = access.address + named.offset_of(row).value() + b;
            const std::int64_t from =
                other.space == Space::Scratchpad ? at : scratchpad().holds[static_cast<std::size_t>(at)];
            const std::int64_t wanted = address_of(layer().inputs.back(), drained_to(work, row) + b);
            if (from != wanted)
                return fault(fmt::format("row {} is joined by byte {}, not by {}", row, from, wanted));
        }
}

}  // namespace systole::systolic::test
