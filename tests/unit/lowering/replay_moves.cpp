// SPDX-License-Identifier: Apache-2.0
// Operators that only move bytes: every byte of the output comes from where the operator's definition says,
// once.
#include <fmt/format.h>

#include "tests/unit/lowering/replay.h"

namespace systole::systolic::test {

bool Replay::moves() const {
    const Operator& op = layer().op;
    return std::holds_alternative<Concat>(op) || std::holds_alternative<Slice>(op) ||
           std::holds_alternative<CacheAppend>(op) || looks_up();
}

/// Rows of a table, as they are.
bool Replay::looks_up() const {
    const auto* embedding = std::get_if<Embedding>(&layer().op);
    const bool whole = embedding != nullptr && embedding->bag == 1 &&
                       graph_.tensors[*layer().weights].dtype == graph_.tensors[layer().output].dtype;
    return whole || std::holds_alternative<Gather>(layer().op);
}

/// Which row a lookup takes is nobody's promise, but it is a row, whole and inside the table.
bool Replay::is_row_of_table(std::int64_t at, std::int64_t from) const {
    const TensorId table = layer().weights ? *layer().weights : layer().inputs[0];
    const std::int64_t row =
        row_bytes(graph_.tensors[table].dtype, graph_.tensors[table].shape.back()).value();
    const std::int64_t offset = from - lowered_.placements[table].address;
    return offset >= 0 && offset < stored_bytes(graph_.tensors[table]).value() && offset % row == at % row;
}

/// The address of the input's byte that belongs to byte `at` of the output, from the indices of its element.
/// For tensors whose rows fill their bytes.
std::int64_t Replay::origin_of(std::int64_t at) const {
    const std::int64_t bits = bits_of(graph_.tensors[layer().output].dtype).value();
    const std::int64_t element = at * 8 / bits, within = at * 8 % bits / 8;
    const auto address = [&](TensorId input, std::int64_t of) {
        return lowered_.placements[input].address + of * bits / 8 + within;
    };
    if (const auto* slice = std::get_if<Slice>(&layer().op)) {
        const std::int64_t inner = element % slice->inner;
        if (slice->gradient) {  // of an element outside the slice: from nowhere
            const std::int64_t all = element / slice->inner % slice->in - slice->begin;
            const std::int64_t row = element / slice->inner / slice->in;
            if (all < 0 || all >= slice->size) return -1;
            return address(layer().inputs[0], (row * slice->size + all) * slice->inner + inner);
        }
        const std::int64_t along = element / slice->inner % slice->size;
        const std::int64_t outer = element / slice->inner / slice->size;
        return address(layer().inputs[0], (outer * slice->in + slice->begin + along) * slice->inner + inner);
    }
    if (const auto* append = std::get_if<CacheAppend>(&layer().op)) {
        const std::int64_t dim = element % append->dim, head = element / append->dim / append->length;
        const std::int64_t row = element / append->dim % append->length - append->length + append->rows;
        const std::int64_t position = head / append->heads * append->rows + row;
        if (row < 0) return -1;
        return address(layer().inputs[0],
                       (position * append->heads + head % append->heads) * append->dim + dim);
    }
    const auto& concat = std::get<Concat>(layer().op);
    std::int64_t all = 0;
    for (const std::int64_t size : concat.sizes) all += size;
    const std::int64_t inner = element % concat.inner, outer = element / concat.inner / all;
    std::int64_t along = element / concat.inner % all;
    std::size_t input = 0;
    for (; along >= concat.sizes[input]; ++input) along -= concat.sizes[input];
    return address(layer().inputs[input], (outer * concat.sizes[input] + along) * concat.inner + inner);
}

void Replay::note_written(std::int64_t at) {
    std::vector<int>& times = written_[static_cast<std::size_t>(command_.layer)];
    if (at < 0 || at >= static_cast<std::int64_t>(times.size()))
        return fault(fmt::format("writes byte {} of an output of {}", at, times.size()));
    ++times[static_cast<std::size_t>(at)];
}

void Replay::note_moved(std::int64_t at, std::int64_t from) {
    if (looks_up()) {
        if (!is_row_of_table(at, from)) fault(fmt::format("writes byte {} from {}, no row's", at, from));
        return;
    }
    if (from != origin_of(at))
        fault(fmt::format("writes byte {} from {}, not from {}", at, from, origin_of(at)));
}

/// Of the layer's own output, in its place; not a copy of it on its way out, nor an input on its way in.
bool Replay::writes_output(const Transfer& transfer) const {
    const Placement& out = lowered_.placements[layer().output];
    const UnitKind unit = unit_kind(command_.unit);
    if (unit == UnitKind::LinkIn) {  // into it, and not into a tile
        const bool into = transfer.to.place == (out.space == Space::Dram ? Place::Dram : Place::Scratchpad);
        return into && transfer.to.address >= out.address &&
               transfer.to.address < out.address + stored_bytes(graph_.tensors[layer().output]).value();
    }
    const bool leaves = transfer.from.place == Place::Scratchpad &&
                        transfer.from.address < spec_.placement.activation_bytes.value() &&
                        !std::holds_alternative<CacheAppend>(layer().op);  // a resident output of the network
    if (out.space == Space::Dram)
        return unit == UnitKind::Store && transfer.to.place == Place::Dram && !leaves;
    return unit == UnitKind::Load && looks_up() && transfer.to.address >= out.address &&
           transfer.to.address < out.address + stored_bytes(graph_.tensors[layer().output]).value();
}

/// Out of a staging tile, whose bytes know where in DRAM they came from; or from a table in DRAM into place.
void Replay::check_moved(const Transfer& t) {
    for (std::int64_t row = 0; row < t.rows; ++row) {
        for (std::int64_t byte = 0; byte < t.row_bytes; ++byte) {
            const std::int64_t from = t.from.address + t.source_of(row) + byte;
            const std::int64_t at =
                t.to.address + row * t.to.stride + byte - lowered_.placements[layer().output].address;
            note_written(at);
            if (!moves()) continue;
            const bool in_place = std::holds_alternative<CacheAppend>(layer().op) &&
                                  lowered_.placements[layer().inputs[0]].space == Space::Scratchpad;
            const bool staged = t.from.place == Place::Scratchpad && !in_place;
            note_moved(at, staged ? scratchpad().holds[static_cast<std::size_t>(from)] : from);
        }
    }
}

bool Replay::takes_indices() const {
    return std::holds_alternative<Embedding>(layer().op) || std::holds_alternative<Gather>(layer().op);
}

/// A list of indices on its way into the scratchpad, or rows that it names on theirs.
void Replay::note_lookups(const Transfer& t) {
    const auto begins_in = [&](TensorId tensor) {
        const Placement& p = lowered_.placements[tensor];
        const std::int64_t offset = t.from.address - p.address;
        return p.space == Space::Dram && t.from.place == Place::Dram && offset >= 0 &&
               offset < stored_bytes(graph_.tensors[tensor]).value();
    };
    const TensorId indices = layer().inputs.back();
    const std::int64_t first = (t.from.address - lowered_.placements[indices].address) / 4;
    if (begins_in(indices)) {
        lists_[{command_.layer, first}] = {t.bytes() / 4, t.to.address};
        looked_up_.try_emplace({command_.layer, core()}, first);  // a core's begin with its first list
    } else if (begins_in(layer().weights ? *layer().weights : layer().inputs[0])) {
        read_indices(t.rows);
    }
}

/// Of the core's next lookups, in the order of their numbers.
void Replay::read_indices(std::int64_t lookups) {
    std::int64_t& done = looked_up_[{command_.layer, core()}];
    const Placement& indices = lowered_.placements[layer().inputs.back()];
    for (const std::int64_t end = done + lookups; done < end; ++done) {
        if (indices.space == Space::Scratchpad) {
            read(scratchpad(), indices.address + 4 * done, 4);
            continue;
        }
        const auto behind = lists_.upper_bound({command_.layer, done});
        const auto list = behind == lists_.begin() ? lists_.end() : std::prev(behind);
        if (list == lists_.end() || list->first.first != command_.layer ||
            done >= list->first.second + list->second.first)
            return fault(fmt::format("looks up row {} before its index is staged", done));
        read(scratchpad(), list->second.second + 4 * (done - list->first.second), 4);
    }
}

/// By the vector unit: what is read first is written first.
void Replay::check_copied(const VectorWork& work) {
    std::vector<std::int64_t> from, to;
    for (const EdgeRead& read : work.reads)
        visit_rows(read, [&](std::int64_t at, std::int64_t count) {
            for (std::int64_t i = 0; i < count; ++i) from.push_back(at + i);
        });
    visit_rows(work.write, [&](std::int64_t at, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) to.push_back(at + i);
    });
    const auto* slice = std::get_if<Slice>(&layer().op);
    if (slice != nullptr && slice->gradient && from.empty()) from.assign(to.size(), -1);  // zeros
    if (from.size() != to.size()) return fault("does not write as much as it reads");
    const Placement& out = lowered_.placements[layer().output];
    for (std::size_t i = 0; i < to.size(); ++i) {
        const bool in_place = from[i] < spec_.placement.activation_bytes.value();
        const std::int64_t origin =
            in_place || from[i] < 0 ? from[i] : scratchpad().holds[static_cast<std::size_t>(from[i])];
        if (out.space == Space::Scratchpad)
            note_moved(to[i] - out.address, origin);
        else
            scratchpad().holds[static_cast<std::size_t>(to[i])] = origin;  // for the store to carry on
    }
}

}  // namespace systole::systolic::test
