// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/lowering/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

namespace systole::systolic::test {

void Replay::Cells::resize(std::int64_t size) {
    holds.assign(static_cast<std::size_t>(size), -1);
    writer.assign(holds.size(), Token{});
    readers.assign(holds.size(), Clock{});
}

Replay::Replay(const Graph& graph, const SystolicSpec& spec, const Lowered& lowered)
    : graph_(graph), spec_(spec), lowered_(lowered), layer_macs_(graph.layers.size()) {
    const auto mxus = static_cast<std::size_t>(spec.mxu.count);
    history_.resize(kSharedUnits + 2 * mxus);
    std::int64_t end = 0;
    for (const Transfer& t : lowered.program.transfers) {
        for (const Region& r : {t.from, t.to}) {
            if (r.place == Place::Dram)
                end = std::max(end, r.address + (t.rows - 1) * r.stride + t.row_bytes);
        }
    }
    dram_.resize(end);
    for (std::size_t i = 0; i < dram_.holds.size(); ++i) dram_.holds[i] = static_cast<std::int64_t>(i);
    scratchpad_.resize(spec.scratchpad.capacity.value());
    accumulators_.resize(mxus);
    for (Cells& a : accumulators_) a.resize(spec.mxu.accumulator_rows);
    fifo_.resize(mxus);
    in_array_.resize(mxus);
}

void Replay::fault(const std::string& text) {
    if (faults_.size() >= 5) return;
    faults_.push_back(
        fmt::format("{} #{} of layer {}: {}", unit_name(self_.unit), self_.count, command_.layer, text));
}

void Replay::order(const Command& command) {
    command_ = command;
    auto& mine = history_[command.unit];
    now_ = mine.empty() ? Clock{} : mine.back();
    now_[command.unit] = static_cast<std::uint32_t>(mine.size());
    self_ = {command.unit, static_cast<std::uint32_t>(mine.size() + 1)};
    for (std::size_t i = 0; i < command.token_count; ++i) {
        const Token token = lowered_.program.tokens[command.first_token + i];
        if (token.count == 0 || token.count > history_[token.unit].size()) {
            fault(fmt::format("waits for {} #{}, which is not issued before it", unit_name(token.unit),
                              token.count));
            continue;
        }
        const Clock& known = history_[token.unit][token.count - 1];
        for (std::size_t u = 0; u < kUnits; ++u) now_[u] = std::max(now_[u], known[u]);
        now_[token.unit] = std::max(now_[token.unit], token.count);
    }
    mine.push_back(now_);
}

bool Replay::before(Token earlier) const {
    return earlier.count <= now_[earlier.unit];
}

void Replay::read(Cells& cells, std::int64_t begin, std::int64_t count) {
    if (begin < 0 || begin + count > static_cast<std::int64_t>(cells.holds.size())) {
        return fault(fmt::format("reads [{}, {}) of {}", begin, begin + count, cells.holds.size()));
    }
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(begin + count); ++i) {
        const Token writer = cells.writer[i];
        if (!before(writer)) {
            fault(fmt::format("reads {} before {} #{} wrote it", i, unit_name(writer.unit), writer.count));
        }
        cells.readers[i][self_.unit] = self_.count;
    }
}

void Replay::write(Cells& cells, std::int64_t begin, std::int64_t count) {
    if (begin < 0 || begin + count > static_cast<std::int64_t>(cells.holds.size())) {
        return fault(fmt::format("writes [{}, {}) of {}", begin, begin + count, cells.holds.size()));
    }
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(begin + count); ++i) {
        if (!before(cells.writer[i])) fault(fmt::format("writes {} before its last writer is done", i));
        for (std::size_t u = 0; u < kUnits; ++u) {
            if (u != self_.unit && cells.readers[i][u] > now_[u]) {
                fault(fmt::format("writes {} before {} #{} has read it", i,
                                  unit_name(static_cast<UnitIndex>(u)), cells.readers[i][u]));
            }
        }
        cells.writer[i] = self_;
        cells.readers[i] = {};
    }
}

Replay::Cells* Replay::cells(Place place) {
    if (place == Place::Dram) return &dram_;
    return place == Place::Scratchpad ? &scratchpad_ : nullptr;
}

void Replay::replay_transfer(const Transfer& t) {
    Cells* from = cells(t.from.place);
    Cells* to = cells(t.to.place);
    const UnitKind kind = unit_kind(command_.unit);
    if (kind == UnitKind::Store && from == &scratchpad_ && spec_.placement.activations == Space::Dram) {
        for (const Token token : undelivered_) {
            if (!before(token)) fault("stores what the vector unit has not written yet");
        }
        undelivered_.clear();
    }
    std::vector<std::int64_t> tile;
    for (std::int64_t row = 0; row < t.rows; ++row) {
        const std::int64_t source = t.from.address + row * t.from.stride;
        const std::int64_t target = t.to.address + row * t.to.stride;
        const auto faults = faults_.size();
        if (from != nullptr) read(*from, source, t.row_bytes);
        if (to != nullptr) write(*to, target, t.row_bytes);
        if (faults != faults_.size()) return;
        for (std::int64_t i = 0; i < t.row_bytes; ++i) {
            const std::int64_t held =
                from != nullptr ? from->holds[static_cast<std::size_t>(source + i)] : -1;
            if (to == &scratchpad_) to->holds[static_cast<std::size_t>(target + i)] = held;
            if (t.to.place == Place::WeightFifo) {
                const bool own = from == &scratchpad_ && held < 0;  // a resident tensor: itself
                tile.push_back(own ? source + i : held);
            }
        }
    }
    if (t.to.place == Place::WeightFifo)
        fifo_[static_cast<std::size_t>(mxu_of(command_.unit))].push_back(tile);
}

std::int64_t Replay::input_address(const MatrixPass& pass, std::int64_t m, std::int64_t k) const {
    const TensorId id = layer().inputs.at(0);
    const std::int64_t base = lowered_.placements[id].address;
    if (const auto* op = std::get_if<MatMul>(&layer().op)) {
        return base + ((pass.origin.batch * op->m + m) * op->k + k) * element_bytes(id);
    }
    const auto& op = std::get<Conv2d>(layer().op);
    const std::int64_t group_c = op.in_c / op.groups;
    const std::int64_t c = pass.origin.batch * group_c + k % group_c;
    const std::int64_t s = k / group_c % op.kernel_w, r = k / group_c / op.kernel_w;
    const std::int64_t q = m % op.out_w(), p = m / op.out_w() % op.out_h(), n = m / op.out_w() / op.out_h();
    const std::int64_t y = p * op.stride + r * op.dilation - op.pad,
                       x = q * op.stride + s * op.dilation - op.pad;
    if (y < 0 || y >= op.in_h || x < 0 || x >= op.in_w) return -1;
    return base + (((n * op.in_h + y) * op.in_w + x) * op.in_c + c) * element_bytes(id);
}

std::int64_t Replay::weight_address(const MatrixPass& pass, std::int64_t k, std::int64_t n) const {
    const auto* matmul = std::get_if<MatMul>(&layer().op);
    if (!layer().weights) {
        const TensorId id = layer().inputs.at(1);
        const std::int64_t row =
            matmul->transposed_b ? pass.origin.batch * matmul->n + n : pass.origin.batch * matmul->k + k;
        const std::int64_t at = matmul->transposed_b ? row * matmul->k + k : row * matmul->n + n;
        return lowered_.placements[id].address + at * element_bytes(id);
    }
    const Placement& p = lowered_.placements[*layer().weights];
    std::int64_t all_k = 0, all_n = 0;
    if (matmul != nullptr) {
        all_k = matmul->k;
        all_n = matmul->n;
    } else {
        const auto& op = std::get<Conv2d>(layer().op);
        all_k = op.kernel_h * op.kernel_w * op.in_c / op.groups;
        all_n = op.out_c / op.groups;
    }
    const std::int64_t k_tiles = ceil_div(all_k, p.tile_rows), n_tiles = ceil_div(all_n, p.tile_cols);
    const std::int64_t tile = (pass.origin.batch * n_tiles + n / p.tile_cols) * k_tiles + k / p.tile_rows;
    const std::int64_t inside = k % p.tile_rows * p.tile_cols + n % p.tile_cols;
    return p.address + (tile * p.tile_rows * p.tile_cols + inside) * element_bytes(*layer().weights);
}

void Replay::check_vector(const MatrixPass& pass, std::int64_t t,
                          const std::vector<std::int64_t>& addresses) {
    const std::int64_t width = element_bytes(layer().inputs.at(0));
    if (static_cast<std::int64_t>(addresses.size()) != pass.k * width) {
        return fault(fmt::format("a vector of {} B for {} elements", addresses.size(), pass.k));
    }
    const bool resident = lowered_.placements[layer().inputs.at(0)].space == Space::Scratchpad;
    for (std::int64_t k = 0; k < pass.k; ++k) {
        const std::int64_t wanted = input_address(pass, pass.origin.m0 + t, pass.origin.k0 + k);
        const std::int64_t at = addresses[static_cast<std::size_t>(k * width)];
        const std::int64_t got = resident ? at : scratchpad_.holds[static_cast<std::size_t>(at)];
        if (wanted < 0) continue;  // padding: the array is fed zeros
        read(scratchpad_, at, width);
        if (got != wanted) {
            return fault(fmt::format("vector {} element {}: reads {} instead of {}", t, k, got, wanted));
        }
    }
}

void Replay::check_weights(const MatrixPass& pass) {
    const auto& tile = in_array_[static_cast<std::size_t>(mxu_of(command_.unit))];
    const auto* matmul = std::get_if<MatMul>(&layer().op);
    const bool transposed = !layer().weights && matmul->transposed_b;
    const TensorId id = layer().weights ? *layer().weights : layer().inputs.at(1);
    const std::int64_t width = element_bytes(id);
    const std::int64_t pitch = layer().weights ? spec_.mxu.cols : transposed ? pass.k : pass.n;
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

void Replay::replay_pass(const MatrixPass& pass) {
    const auto mxu = static_cast<std::size_t>(mxu_of(command_.unit));
    const AddressStream& stream = lowered_.program.streams[pass.left.stream];
    if (stream.vectors() != pass.m) return fault("its stream has another number of vectors");
    std::int64_t t = 0;
    for (std::int64_t i = 0; i < stream.levels[0].count; ++i) {
        for (std::int64_t j = 0; j < stream.levels[1].count; ++j) {
            for (std::int64_t k = 0; k < stream.levels[2].count; ++k, ++t) {
                std::vector<std::int64_t> addresses;
                for (const Segment& s : stream.segments) {
                    const std::int64_t begin = pass.left.address + i * stream.levels[0].stride.value() +
                                               j * stream.levels[1].stride.value() +
                                               k * stream.levels[2].stride.value() + s.offset.value();
                    if (begin < 0 || begin + s.bytes.value() > spec_.scratchpad.capacity.value()) {
                        return fault(fmt::format("streams from {}", begin));
                    }
                    for (std::int64_t b = 0; b < s.bytes.value(); ++b) addresses.push_back(begin + b);
                }
                check_vector(pass, t, addresses);
            }
        }
    }
    if (pass.new_tile) {
        if (fifo_[mxu].empty()) return fault("no weight tile waits for it");
        in_array_[mxu] = fifo_[mxu].front();
        fifo_[mxu].erase(fifo_[mxu].begin());
    }
    check_weights(pass);
    if (pass.accumulate) read(accumulators_[mxu], pass.accumulator_row, pass.m);
    write(accumulators_[mxu], pass.accumulator_row, pass.m);
    for (std::int64_t m = 0; m < pass.m; ++m) {
        for (std::int64_t n = 0; n < pass.n; ++n) {
            for (std::int64_t k = 0; k < pass.k; ++k) {
                ++products_[{command_.layer, pass.origin.batch, pass.origin.m0 + m, pass.origin.n0 + n,
                             pass.origin.k0 + k}];
            }
        }
    }
    layer_macs_[static_cast<std::size_t>(command_.layer)] += pass.macs().value();
}

void Replay::replay_vector(const VectorWork& work) {
    layer_macs_[static_cast<std::size_t>(command_.layer)] += work.macs;
    undelivered_.push_back(self_);
    if (work.source != VectorWork::Source::Accumulator) return;
    read(accumulators_[static_cast<std::size_t>(work.mxu)], work.accumulator_row, work.accumulator_rows);
    const Placement& out = lowered_.placements[layer().output];
    if (out.space != Space::Scratchpad) return;
    std::int64_t m = 0, n = 0, column = work.origin.n0;
    if (const auto* op = std::get_if<MatMul>(&layer().op)) {
        m = layer().weights ? 0 : op->m;
        n = op->n;
    } else {
        const auto& conv = std::get<Conv2d>(layer().op);
        n = conv.out_c;
        column += work.origin.batch * conv.out_c / conv.groups;
    }
    const std::int64_t width = element_bytes(layer().output);
    for (std::int64_t row = 0; row < work.accumulator_rows; ++row) {
        const std::int64_t at = ((work.origin.batch * m + work.origin.m0 + row) * n + column) * width;
        write(scratchpad_, out.address + at, work.cols * width);
        for (std::int64_t b = 0; b < work.cols * width; ++b)
            scratchpad_.holds[static_cast<std::size_t>(out.address + at + b)] = -1;
    }
}

void Replay::check_coverage() {
    std::vector<std::int64_t> distinct(graph_.layers.size());
    for (const auto& [product, times] : products_) {
        ++distinct[static_cast<std::size_t>(product[0])];
        if (times != 1)
            faults_.push_back(fmt::format("layer {}: a product is computed {} times", product[0], times));
    }
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
        const std::int64_t wanted = macs(graph_.layers[i].op).value();
        if (layer_macs_[i] != wanted)
            faults_.push_back(fmt::format("layer {}: {} MACs instead of {}", i, layer_macs_[i], wanted));
        const auto* conv = std::get_if<Conv2d>(&graph_.layers[i].op);
        if (!(conv != nullptr && conv->depthwise()) && distinct[i] != wanted) {
            faults_.push_back(fmt::format("layer {}: {} products instead of {}", i, distinct[i], wanted));
        }
    }
}

std::vector<std::string> Replay::run() {
    for (const Command& command : lowered_.program.commands) {
        order(command);
        switch (unit_kind(command.unit)) {
            case UnitKind::Matrix:
                replay_pass(lowered_.program.pass(command));
                break;
            case UnitKind::Vector:
                replay_vector(lowered_.program.vector(command));
                break;
            default:
                replay_transfer(lowered_.program.transfer(command));
        }
    }
    for (const auto& fifo : fifo_) {
        if (!fifo.empty()) faults_.push_back("weight tiles are left over in a FIFO");
    }
    check_coverage();
    return faults_;
}

bool Replay::completes_with_shallow_queues() const {
    const Program& p = lowered_.program;
    std::vector<std::deque<std::size_t>> queues(history_.size());
    std::vector<std::uint32_t> done(history_.size());
    std::vector<int> tiles(static_cast<std::size_t>(spec_.mxu.count));
    const auto ready = [&](const Command& c) {
        for (std::size_t i = 0; i < c.token_count; ++i) {
            const Token token = p.tokens[c.first_token + i];
            if (done[token.unit] < token.count) return false;
        }
        if (unit_kind(c.unit) == UnitKind::Weights)
            return tiles[static_cast<std::size_t>(mxu_of(c.unit))] == 0;
        if (unit_kind(c.unit) == UnitKind::Matrix && p.pass(c).new_tile)
            return tiles[static_cast<std::size_t>(mxu_of(c.unit))] > 0;
        return true;
    };
    std::size_t next = 0, completed = 0;
    for (bool moved = true; moved;) {
        moved = false;
        if (next < p.commands.size() && queues[p.commands[next].unit].empty()) {
            queues[p.commands[next].unit].push_back(next);
            ++next;
            moved = true;
        }
        for (std::size_t unit = 0; unit < queues.size(); ++unit) {
            if (queues[unit].empty() || !ready(p.commands[queues[unit].front()])) continue;
            const Command& c = p.commands[queues[unit].front()];
            if (unit_kind(c.unit) == UnitKind::Weights) ++tiles[static_cast<std::size_t>(mxu_of(c.unit))];
            if (unit_kind(c.unit) == UnitKind::Matrix && p.pass(c).new_tile)
                --tiles[static_cast<std::size_t>(mxu_of(c.unit))];
            queues[unit].pop_front();
            ++done[unit];
            ++completed;
            moved = true;
        }
    }
    return completed == p.commands.size();
}

}  // namespace systole::systolic::test
