// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/lowering/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <new>
#include <stdexcept>

namespace systole::systolic::test {

void Replay::Cells::resize(std::int64_t size) {
    holds.assign(static_cast<std::size_t>(size), -1);
    writer.assign(holds.size(), Token{});
    readers.reset(static_cast<Clock*>(std::calloc(holds.size() + 1, sizeof(Clock))));
    if (!readers) throw std::bad_alloc();
}

Replay::Replay(const Graph& graph, const SystolicSpec& spec, const Lowered& lowered)
    : graph_(graph), spec_(spec), lowered_(lowered), layer_macs_(graph.layers.size()) {
    const auto cores = static_cast<std::size_t>(spec.cores);
    const std::size_t mxus = cores * static_cast<std::size_t>(spec.mxu.count);
    history_.resize(cores * units_of_core());
    if (history_.size() > kUnits) throw std::length_error("more units than a clock of the replay has places");
    std::int64_t end = 0;
    for (const Transfer& t : lowered.program.transfers) {
        for (const Region& r : {t.from, t.to}) {
            if (r.place == Place::Dram)
                end = std::max(end, r.address + (t.source_rows() - 1) * r.stride + t.row_bytes);
        }
    }
    dram_.resize(end);
    for (std::size_t i = 0; i < dram_.holds.size(); ++i) dram_.holds[i] = static_cast<std::int64_t>(i);
    scratchpads_.resize(cores);
    for (Cells& pad : scratchpads_) pad.resize(spec.scratchpad.capacity.value());
    undelivered_.resize(cores);
    origins_.resize(cores);
    begun_.resize(cores);
    for (const Layer& layer : graph.layers)
        written_.emplace_back(static_cast<std::size_t>(stored_bytes(graph.tensors[layer.output]).value()));
    accumulators_.resize(mxus);
    for (Cells& a : accumulators_) a.resize(spec.mxu.accumulator_rows);
    fifo_.resize(mxus);
    set_up_.resize(mxus);
    in_array_.resize(mxus);
    held_.resize(mxus);
    find_first_keys();
}

void Replay::fault(const std::string& text) {
    if (faults_.size() >= 5) return;
    faults_.push_back(
        fmt::format("{} #{} of layer {}: {}", name_of(self_.unit), self_.count, command_.layer, text));
}

std::string Replay::name_of(UnitIndex dense) const {
    const auto each = static_cast<int>(units_of_core());
    return unit_name(static_cast<UnitIndex>(dense / each * kUnitsOfCore + dense % each), spec_.cores);
}

std::int64_t Replay::share_bytes(TensorId tensor) const {
    return stored_bytes(graph_.tensors[tensor]).value() / spec_.cores;
}

std::int64_t Replay::share_begin(TensorId tensor) const {
    return static_cast<std::int64_t>(core()) * share_bytes(tensor);
}

std::int64_t Replay::address_of(TensorId tensor, std::int64_t offset) const {
    const Placement& p = lowered_.placements[tensor];
    if (p.space == Space::Dram || spec_.cores == 1) return p.address + offset;
    const std::int64_t own = offset - share_begin(tensor);
    return own < 0 || own >= share_bytes(tensor) ? kNowhere : p.address + own;
}

void Replay::order(const Command& command) {
    command_ = command;
    const UnitIndex unit = dense(command.unit);
    auto& mine = history_[unit];
    now_ = mine.empty() ? Clock{} : mine.back();
    now_[unit] = static_cast<std::uint32_t>(mine.size());
    self_ = {unit, static_cast<std::uint32_t>(mine.size() + 1)};
    for (std::size_t i = 0; i < command.token_count; ++i) {
        Token token = lowered_.program.tokens[command.first_token + i];
        token.unit = dense(token.unit);
        if (token.count == 0 || token.count > history_[token.unit].size()) {
            fault(fmt::format("waits for {} #{}, which is not issued before it", name_of(token.unit),
                              token.count));
            continue;
        }
        const Clock& known = history_[token.unit][token.count - 1];
        for (std::size_t u = 0; u < history_.size(); ++u) now_[u] = std::max(now_[u], known[u]);
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
            fault(fmt::format("reads {} before {} #{} wrote it", i, name_of(writer.unit), writer.count));
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
        for (std::size_t u = 0; u < history_.size(); ++u) {
            if (u != self_.unit && cells.readers[i][u] > now_[u]) {
                fault(fmt::format("writes {} before {} #{} has read it", i,
                                  name_of(static_cast<UnitIndex>(u)), cells.readers[i][u]));
            }
        }
        cells.writer[i] = self_;
        cells.readers[i] = {};
    }
}

Replay::Cells* Replay::cells(Place place) {
    if (place == Place::Dram) return &dram_;
    return place == Place::Scratchpad ? &scratchpad() : nullptr;
}

void Replay::replay_transfer(const Transfer& t) {
    Cells* from = cells(t.from.place);
    Cells* to = cells(t.to.place);
    const UnitKind kind = unit_kind(command_.unit);
    if (kind == UnitKind::Store && from == &scratchpad() &&
        !std::holds_alternative<CacheAppend>(layer().op) &&
        t.from.address >= spec_.placement.activation_bytes.value()) {  // not a resident tensor that leaves
        for (const Token token : undelivered_[core()]) {
            if (!before(token)) fault("stores what the vector unit has not written yet");
        }
        undelivered_[core()].clear();
    }
    if (writes_output(t) && !optimizer()) check_moved(t);
    check_training(t);
    if (writes_output(t) && turns()) check_turned(t);
    if (takes_indices()) note_lookups(t);
    std::vector<std::int64_t> tile;
    for (std::int64_t row = 0; row < t.rows; ++row) {
        const std::int64_t source = t.from.address + t.source_of(row);
        const std::int64_t target = t.to.address + row * t.to.stride;
        const auto faults = faults_.size();
        if (from != nullptr) read(*from, source, t.row_bytes);
        if (to != nullptr) write(*to, target, t.row_bytes);
        if (faults != faults_.size()) return;
        for (std::int64_t i = 0; t.to.place == Place::Host && i < t.row_bytes; ++i) ++left_[target + i];
        for (std::int64_t i = 0; i < t.row_bytes; ++i) {
            const std::int64_t held =
                from != nullptr ? from->holds[static_cast<std::size_t>(source + i)] : -1;
            if (to == &scratchpad()) to->holds[static_cast<std::size_t>(target + i)] = held;
            if (t.to.place == Place::WeightFifo) {
                // A resident tensor, also one that came from DRAM: itself.
                const bool resident = source + i < spec_.placement.activation_bytes.value();
                const bool own = from == &scratchpad() && (held < 0 || resident);
                tile.push_back(own ? source + i : held);
            }
        }
    }
    if (t.to.place == Place::WeightFifo) fifo_[mxu_index()].push_back(tile);
}

void Replay::visit_rows(const EdgeRead& access,
                        const std::function<void(std::int64_t, std::int64_t)>& visit) const {
    const AddressStream& pattern = lowered_.program.streams[access.stream];
    for (std::int64_t vector = 0; vector < access.vectors; ++vector)
        for (const Segment& segment : pattern.segments)
            visit(access.address + pattern.offset_of(vector).value() + segment.offset.value(),
                  segment.bytes.value());
}

/// Of `count` bytes from `begin` on, those that are not padding beyond the end of an input read in place.
std::int64_t Replay::inside_input(std::int64_t begin, std::int64_t count) const {
    if (begin >= spec_.placement.activation_bytes.value()) return count;
    for (const TensorId input : layer().inputs) {
        const Placement& in = lowered_.placements[input];
        const std::int64_t end = in.address + share_bytes(input);
        if (begin >= in.address && begin < end) return std::min(count, end - begin);
    }
    return 0;
}

void Replay::replay_accesses(const VectorWork& work) {
    std::int64_t bytes_read = 0, bytes_written = 0;
    for (const EdgeRead& access : work.reads)
        visit_rows(access, [&](std::int64_t at, std::int64_t count) {
            bytes_read += count;
            const bool drain = work.source == VectorWork::Source::Accumulator;
            const std::int64_t real = drain ? count : inside_input(at, count);
            if (real > 0) read(scratchpad(), at, real);
        });
    visit_rows(work.write, [&](std::int64_t at, std::int64_t count) {
        bytes_written += count;
        write(scratchpad(), at, count);
        const Placement& out = lowered_.placements[layer().output];
        // Between commands.
        const bool tiles = attention() || std::holds_alternative<Collective>(layer().op) || sums();
        const bool own = tiles && at >= spec_.placement.activation_bytes.value();
        if (out.space != Space::Scratchpad || own) return;
        for (std::int64_t i = 0; i < count; ++i)
            note_written(share_begin(layer().output) + at + i - out.address);
    });
    if (bytes_read != work.scratchpad_read || bytes_written != work.scratchpad_written)
        fault(fmt::format("reads {} and writes {} bytes where it names {} and {}", bytes_read, bytes_written,
                          work.scratchpad_read, work.scratchpad_written));
}

void Replay::replay_vector(const VectorWork& work) {
    layer_macs_[static_cast<std::size_t>(command_.layer)] += work.macs;
    if (layer().joined) check_joined(work);
    replay_accesses(work);
    if (moves()) check_copied(work);
    check_training(work);
    if (turns()) note_turned(work);
    if (std::holds_alternative<Gather>(layer().op))
        read_indices(work.elements / graph_.tensors[layer().inputs[0]].shape.back());
    // What is written in place no store of a tile delivers.
    if (work.write.none() || work.write.address >= spec_.placement.activation_bytes.value())
        undelivered_[core()].push_back(self_);
    if (work.source != VectorWork::Source::Accumulator) return;
    read(accumulators_[mxu_index(work.mxu)], work.accumulator_row, work.accumulator_rows);
    const bool resident = lowered_.placements[layer().output].space == Space::Scratchpad;
    // Fused attention drains into tiles of its own.
    if (resident && !(attention() && attention()->part == Attention::Part::Whole)) check_drain(work);
}

void Replay::check_coverage() {
    std::vector<std::int64_t> distinct(graph_.layers.size());
    for (const auto& [product, times] : products_) {
        ++distinct[static_cast<std::size_t>(product[0])];
        if (times != 1)
            faults_.push_back(fmt::format("layer {}: a product is computed {} times", product[0], times));
    }
    for (std::size_t i = 0; i < written_.size(); ++i)
        if (std::holds_alternative<CacheAppend>(graph_.layers[i].op)
                ? !writes_of_cache_are_right(i)
                : std::ranges::any_of(written_[i], [](int times) { return times != 1; }))
            faults_.push_back(fmt::format("layer {}: not every byte of its output is written once", i));
    for (std::size_t i = 0; i < graph_.layers.size(); ++i) {
        const std::int64_t wanted = macs(graph_.layers[i].op).value();
        if (layer_macs_[i] != wanted)
            faults_.push_back(fmt::format("layer {}: {} MACs instead of {}", i, layer_macs_[i], wanted));
        const auto* conv = std::get_if<Conv2d>(&graph_.layers[i].op);
        if (!(conv != nullptr && conv->depthwise()) &&
            distinct[i] != wanted * share_of_products(graph_.layers[i])) {
            faults_.push_back(fmt::format("layer {}: {} products instead of {}", i, distinct[i], wanted));
        }
    }
}

/// Where outputs go to the host, each of their bytes does once.
void Replay::check_left() {
    if (lowered_.program.outputs_to != "host") return;
    std::map<TensorId, std::int64_t> outputs;
    for (const TensorId output : graph_.outputs) {
        const TensorId whole = graph_.tensors[output].view_of.value_or(output);
        outputs[whole] = stored_bytes(graph_.tensors[whole]).value();
    }
    std::int64_t bytes = 0;
    for (const auto& [tensor, count] : outputs) bytes += count;
    if (static_cast<std::int64_t>(left_.size()) != bytes)
        faults_.push_back(
            fmt::format("{} bytes of outputs reach the host instead of {}", left_.size(), bytes));
    if (std::ranges::any_of(left_, [](const auto& byte) { return byte.second != 1; }))
        faults_.push_back("a byte of an output is sent to the host more than once");
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
        if (!fifo.empty()) faults_.emplace_back("weight tiles are left over in a FIFO");
    }
    check_coverage();
    check_left();
    check_trained();
    return faults_;
}

bool Replay::completes_with_shallow_queues() const {
    const Program& p = lowered_.program;
    std::vector<std::deque<std::size_t>> queues(history_.size());
    std::vector<std::uint32_t> done(history_.size());
    std::vector<int> tiles(fifo_.size());
    const auto mxu_at = [&](const Command& c) {
        return static_cast<std::size_t>(core_of(c.unit) * spec_.mxu.count + mxu_of(c.unit));
    };
    const auto ready = [&](const Command& c) {
        for (std::size_t i = 0; i < c.token_count; ++i) {
            const Token token = p.tokens[c.first_token + i];
            if (done[dense(token.unit)] < token.count) return false;
        }
        if (unit_kind(c.unit) == UnitKind::Weights) return tiles[mxu_at(c)] == 0;
        if (unit_kind(c.unit) == UnitKind::Matrix && p.pass(c).new_tile &&
            !spec_.mxu.direct(p.dataflow_of(c)))
            return tiles[mxu_at(c)] > 0;
        return true;
    };
    std::vector<std::size_t> next(static_cast<std::size_t>(spec_.cores));  // by core
    std::size_t completed = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t core = 0; core < next.size(); ++core) {
            std::size_t& at = next[core];
            while (at < p.commands.size() && static_cast<std::size_t>(core_of(p.commands[at].unit)) != core)
                ++at;
            if (at == p.commands.size() || !queues[dense(p.commands[at].unit)].empty()) continue;
            queues[dense(p.commands[at].unit)].push_back(at);
            ++at;
            moved = true;
        }
        for (std::size_t unit = 0; unit < queues.size(); ++unit) {
            if (queues[unit].empty() || !ready(p.commands[queues[unit].front()])) continue;
            const Command& c = p.commands[queues[unit].front()];
            if (unit_kind(c.unit) == UnitKind::Weights) ++tiles[mxu_at(c)];
            if (unit_kind(c.unit) == UnitKind::Matrix && p.pass(c).new_tile &&
                !spec_.mxu.direct(p.dataflow_of(c)))
                --tiles[mxu_at(c)];
            queues[unit].pop_front();
            ++done[unit];
            ++completed;
            moved = true;
        }
    }
    return completed == p.commands.size();
}

}  // namespace systole::systolic::test
