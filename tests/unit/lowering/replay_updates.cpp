// SPDX-License-Identifier: Apache-2.0
// What a step of training adds up and writes back: the sums of columns, the gradients of tables, state and
// weights. Every byte that goes into a result is one that the operator's definition names, and goes in once.
#include <fmt/format.h>

#include <algorithm>

#include "tests/unit/lowering/replay.h"

namespace systole::systolic::test {

const Reduce* Replay::column_sums() const {
    const auto* reduce = std::get_if<Reduce>(&layer().op);
    return reduce && reduce->columns ? reduce : nullptr;
}

/// The bytes of the layer's inputs (and of an optimizer's state) that the vector unit reads, wherever they
/// are by now: tensor and offset.
void Replay::note_origins(const VectorWork& work) {
    std::vector<TensorId> tensors = layer().inputs;
    if (optimizer()) tensors.push_back(layer().output);
    std::ranges::sort(tensors);
    tensors.erase(std::unique(tensors.begin(), tensors.end()), tensors.end());
    for (const EdgeRead& access : work.reads)
        visit_rows(access, [&](std::int64_t begin, std::int64_t count) {
            for (std::int64_t at = begin; at < begin + count; ++at) {
                const bool in_place = at < spec_.placement.activation_bytes.value();
                const std::int64_t from = in_place ? at : scratchpad().holds[static_cast<std::size_t>(at)];
                for (const TensorId tensor : tensors) {
                    const Placement& p = lowered_.placements[tensor];
                    const std::int64_t offset = from - p.address;
                    if ((p.space == Space::Scratchpad) == in_place && from >= 0 && offset >= 0 &&
                        offset < stored_bytes(graph_.tensors[tensor]).value())
                        origins_[core()].emplace_back(tensor, offset);
                }
            }
        });
}

/// The last reader of what belongs to bytes [begin, end) of the output writes them, or has written them.
void Replay::check_sum(std::int64_t begin, std::int64_t end) {
    Origins found = std::move(origins_[core()]);
    origins_[core()].clear();
    begun_[core()].reset();
    std::ranges::sort(found);
    Origins wanted;
    const Tensor& out = graph_.tensors[layer().output];
    const std::int64_t bits = bits_of(out.dtype).value();
    if (const Reduce* op = column_sums()) {
        std::vector<TensorId> inputs = layer().inputs;
        if (inputs.size() == 2 && inputs[0] == inputs[1]) inputs.pop_back();
        const std::int64_t bytes = row_bytes(out.dtype, op->cols).value();
        for (std::int64_t item = begin / bytes; item * bytes < end; ++item) {
            const std::int64_t first = std::max<std::int64_t>(0, begin - item * bytes) * 8 / bits;
            const std::int64_t behind = std::min(op->cols, (end - item * bytes) * 8 / bits);
            for (const TensorId input : inputs) {
                const DType dtype = graph_.tensors[input].dtype;
                const std::int64_t pitch = row_bytes(dtype, op->cols).value(), own = bits_of(dtype).value();
                for (std::int64_t row = item * op->rows; row < (item + 1) * op->rows; ++row)
                    for (std::int64_t at = first * own / 8; at < ceil_div(behind * own, 8); ++at)
                        wanted.emplace_back(input, row * pitch + at);
            }
        }
    } else {
        const auto& table = std::get<EmbeddingGradient>(layer().op);
        const std::int64_t row = row_bytes(out.dtype, table.width).value();
        if (begin % row != 0 || end % row != 0) return fault("writes a part of a row of a table's gradient");
        wanted = gradients_of(table, begin / row, end / row, found);
    }
    std::ranges::sort(wanted);
    if (found != wanted)
        fault(fmt::format(
            "bytes [{}, {}) are made of {} bytes, not of the {} that belong to them, or of others", begin,
            end, found.size(), wanted.size()));
}

/// Of the lookups that met rows [first, behind) of the table. At random it may be any of as many, for all of
/// them together each once.
Replay::Origins Replay::gradients_of(const EmbeddingGradient& op, std::int64_t first, std::int64_t behind,
                                     const Origins& found) {
    const TensorId gradient = layer().inputs[0];
    const std::int64_t row = row_bytes(graph_.tensors[gradient].dtype, op.width).value();
    const std::int64_t step = std::max<std::int64_t>(1, op.vocabulary / op.lookups);
    const std::int64_t reach = (op.vocabulary - 1) / step + 1;
    std::vector<std::int64_t> rows;
    std::int64_t last = -2, last_row = -1;
    std::size_t lookups = 0;
    for (std::int64_t i = 0; i < op.lookups; ++i) {
        const bool random = op.spread == Spread::Random;
        const std::int64_t met = random ? Lookup{op.vocabulary, 0}.row(i) : i % reach * step;
        if (met < first || met >= behind) continue;
        ++lookups;
        // Lookups of a bag that follow each other find its gradient there already.
        if (!(i == last + 1 && i / op.bag == last_row)) rows.push_back(i / op.bag);
        last = i;
        last_row = i / op.bag;
    }
    if (op.spread == Spread::Random) {
        std::map<std::int64_t, std::size_t> bytes;
        for (const auto& [tensor, offset] : found) ++bytes[offset / row];
        std::size_t sum = 0;
        for (const auto& [number, count] : bytes) {
            if (count % static_cast<std::size_t>(row) != 0) fault("reads a part of a gradient");
            sum += count / static_cast<std::size_t>(row);
            gathered_[{command_.layer, number}] += static_cast<std::int64_t>(count) / row;
        }
        if (sum != lookups) fault(fmt::format("adds {} gradients of {} lookups", sum, lookups));
        return found;
    }
    Origins wanted;
    for (const std::int64_t number : rows)
        for (std::int64_t byte = 0; byte < row; ++byte) wanted.emplace_back(gradient, number * row + byte);
    return wanted;
}

/// Where byte 0 of a weight lies, by its number in the order of its tensor's shape.
std::int64_t Replay::place_of_weight(TensorId tensor, std::int64_t number) const {
    const Placement& p = lowered_.placements[tensor];
    const std::int64_t width = element_bytes(tensor);
    if (p.layout == Layout::RowMajor) return p.address + number * width;
    std::int64_t item = 0, k = 0, n = 0, all_k = 0, all_n = 0;
    for (const Layer& user : graph_.layers) {
        if (user.weights != tensor) continue;
        if (const auto* matmul = std::get_if<MatMul>(&user.op)) {
            all_k = matmul->k, all_n = matmul->n;
            item = number / (all_k * all_n);
            const std::int64_t inside = number % (all_k * all_n);
            k = matmul->transposed_b ? inside % all_k : inside / all_n;
            n = matmul->transposed_b ? inside / all_k : inside % all_n;
        } else {
            const auto& conv = std::get<Conv2d>(user.op);
            all_k = conv.kernel_h * conv.kernel_w * conv.in_c / conv.groups, all_n = conv.out_c / conv.groups;
            k = number % all_k, n = number / all_k % all_n, item = number / all_k / all_n;
        }
        break;
    }
    if (p.layout == Layout::ColumnMajor) return p.address + ((item * all_n + n) * all_k + k) * width;
    const std::int64_t k_tiles = ceil_div(all_k, p.tile_rows), n_tiles = ceil_div(all_n, p.tile_cols);
    const std::int64_t tile = (item * n_tiles + n / p.tile_cols) * k_tiles + k / p.tile_rows;
    const std::int64_t inside = k % p.tile_rows * p.tile_cols + n % p.tile_cols;
    return p.address + (tile * p.tile_rows * p.tile_cols + inside) * width;
}

/// State goes back to where it came from, weights to where the elements of the gradient belong that were
/// read.
void Replay::check_update(const Transfer& t) {
    const TensorId weights = *layer().weights, gradient = layer().inputs[0];
    const Placement& state = lowered_.placements[layer().output];
    const bool of_state = t.operand == Operand::OptimizerState;
    std::vector<std::int64_t> to, wanted;
    for (std::int64_t row = 0; row < t.rows; ++row)
        for (std::int64_t byte = 0; byte < t.row_bytes; ++byte) {
            to.push_back(t.to.address + row * t.to.stride + byte);
            if (!of_state) continue;
            note_written(to.back() - state.address);
            const auto from = static_cast<std::size_t>(t.from.address + row * t.from.stride + byte);
            if (scratchpad().holds[from] != to.back()) fault("writes state to where other state was");
        }
    const std::int64_t width = element_bytes(gradient);
    for (const auto& [tensor, offset] : origins_[core()]) {
        if (of_state && tensor == layer().output) wanted.push_back(state.address + offset);
        if (of_state || tensor != gradient || offset % width != 0) continue;
        for (std::int64_t byte = 0; byte < element_bytes(weights); ++byte)
            wanted.push_back(place_of_weight(weights, offset / width) + byte);
    }
    std::ranges::sort(to);
    std::ranges::sort(wanted);
    if (to != wanted)
        fault(fmt::format("writes {} bytes of {}, not the {} that were made", to.size(),
                          of_state ? "state" : "weights", wanted.size()));
    if (of_state) return;
    const auto elements = wanted.size() / static_cast<std::size_t>(element_bytes(weights));
    const auto slots = static_cast<std::size_t>(optimizer()->slots());
    if (origins_[core()].size() != elements * (static_cast<std::size_t>(width) + 4 * slots))
        fault(fmt::format("{} bytes are read for {} weights", origins_[core()].size(), elements));
    updated_[command_.layer] += static_cast<std::int64_t>(elements);
    origins_[core()].clear();
}

/// A command that adds to what others have begun reads what the last of them wrote.
void Replay::check_sums_go_on(const VectorWork& work) {
    auto& begun = begun_[core()];
    const bool reads = !begun || std::ranges::any_of(work.reads, [&](const EdgeRead& access) {
        std::int64_t bytes = 0;
        visit_rows(access, [&](std::int64_t, std::int64_t count) { bytes += count; });
        return std::pair(access.address, bytes) == *begun;
    });
    if (!reads) fault("adds to sums that it does not read");
    begun = {work.write.address, work.scratchpad_written};
}

/// A store, or a command that writes in place.
void Replay::check_training(const Transfer& t) {
    // Of an optimizer, not of a resident output on its way out.
    const bool leaves = t.operand == Operand::Outputs;
    if (optimizer() && unit_kind(command_.unit) == UnitKind::Store && !leaves) return check_update(t);
    if (!sums() || !writes_output(t)) return;
    const std::int64_t begin = t.to.address - lowered_.placements[layer().output].address;
    check_sum(begin, begin + t.row_bytes);
}

void Replay::check_training(const VectorWork& work) {
    if (!optimizer() && !sums()) return;
    note_origins(work);
    if (sums()) check_sums_go_on(work);
    const Placement& out = lowered_.placements[layer().output];
    if (out.space != Space::Scratchpad || work.write.address >= spec_.placement.activation_bytes.value())
        return;
    const std::int64_t begin = work.write.address - out.address;
    check_sum(begin, begin + work.scratchpad_written);
}

/// At the end: every weight was written, every gradient of a lookup was added.
void Replay::check_trained() {
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
        const auto number = static_cast<std::int32_t>(i);
        if (const auto* op = std::get_if<Optimizer>(&graph_.layers[i].op);
            op && updated_[number] != op->elements)
            faults_.push_back(
                fmt::format("layer {}: {} of {} weights are written", i, updated_[number], op->elements));
        const auto* table = std::get_if<EmbeddingGradient>(&graph_.layers[i].op);
        if (!table || table->spread != Spread::Random) continue;
        for (std::int64_t row = 0; row < table->lookups / table->bag; ++row)
            if (gathered_[{number, row}] != table->bag)
                faults_.push_back(fmt::format("layer {}: gradient {} is added {} times, not {}", i, row,
                                              gathered_[{number, row}], table->bag));
    }
}

}  // namespace systole::systolic::test
