// SPDX-License-Identifier: Apache-2.0
// Collectives: a ring of chips runs one program, in step, on memories of real values, and every chip must end
// with what the collective promises. Where tensors lie, a chip's own part is the first, so each chip's memory
// begins with its own.
#include <catch2/catch.hpp>

#include <functional>
#include <map>
#include <random>
#include <vector>

#include "sim/workload/trace.h"
#include "tests/unit/lowering/fixtures.h"

namespace systole::systolic {
namespace {

using Kind = Collective::Kind;

/// Bytes of one chip, each a number of its own; sums are of bytes.
struct Memory {
    std::map<std::pair<Place, std::int64_t>, std::int64_t> cells;
    std::int64_t& at(Place place, std::int64_t address) { return cells[{place, address}]; }
};

class Ring {
public:
    /// `away`: to the how manyth chip on goes what is sent from there.
    Ring(std::int64_t chips, const Lowered& lowered, std::function<std::int64_t(std::int64_t)> away)
        : program_(lowered.program), memories_(static_cast<std::size_t>(chips)), away_(std::move(away)) {}

    Memory& chip(std::int64_t index) { return memories_[static_cast<std::size_t>(index)]; }
    void run() {
        for (const Command& command : program_.commands)
            if (unit_kind(command.unit) == UnitKind::Vector)
                for (Memory& memory : memories_) compute(memory, program_.vector(command));
            else if (unit_kind(command.unit) == UnitKind::LinkOut)
                send(program_.transfer(command));
            else if (unit_kind(command.unit) == UnitKind::LinkIn)
                receive(program_.transfer(command));
            else
                for (Memory& memory : memories_)
                    store(memory, program_.transfer(command), load(memory, program_.transfer(command)));
        CHECK(wire_.empty());
    }

private:
    using Bytes = std::vector<std::int64_t>;

    static Bytes load(Memory& memory, const Transfer& t) {
        Bytes bytes;
        for (std::int64_t row = 0; row < t.rows; ++row)
            for (std::int64_t i = 0; i < t.row_bytes; ++i)
                bytes.push_back(memory.at(t.from.place, t.from.address + row * t.from.stride + i));
        return bytes;
    }
    static void store(Memory& memory, const Transfer& t, const Bytes& bytes) {
        for (std::int64_t i = 0; i < t.bytes(); ++i)
            memory.at(t.to.place, t.to.address + i / t.row_bytes * t.to.stride + i % t.row_bytes) =
                bytes[static_cast<std::size_t>(i)];
    }
    std::vector<std::int64_t> addresses(const EdgeRead& access) const {
        const AddressStream& pattern = program_.streams[access.stream];
        std::vector<std::int64_t> all;
        for (std::int64_t vector = 0; vector < access.vectors; ++vector)
            for (const Segment& segment : pattern.segments)
                for (std::int64_t i = 0; i < segment.bytes.value(); ++i)
                    all.push_back(access.address + pattern.offset_of(vector).value() +
                                  segment.offset.value() + i);
        return all;
    }
    /// The sum of what it reads.
    void compute(Memory& memory, const VectorWork& work) const {
        const auto to = addresses(work.write);
        Bytes sum(to.size());
        for (const EdgeRead& read : work.reads) {
            const auto from = addresses(read);
            REQUIRE(from.size() == to.size());
            for (std::size_t i = 0; i < to.size(); ++i) sum[i] += memory.at(Place::Scratchpad, from[i]);
        }
        for (std::size_t i = 0; i < to.size(); ++i) memory.at(Place::Scratchpad, to[i]) = sum[i];
    }
    void send(const Transfer& t) {
        if (t.from.place == Place::ChipLink) return;  // passes through
        senders_.push_back(away_(t.from.address));
        std::vector<Bytes> all;
        for (Memory& memory : memories_) all.push_back(load(memory, t));
        wire_.push_back(std::move(all));
    }
    /// From the chip before, or from further away.
    void receive(const Transfer& t) {
        REQUIRE(!wire_.empty());
        for (std::size_t chip = 0; chip < memories_.size(); ++chip) {
            const auto back = static_cast<std::size_t>(senders_.front());
            const Bytes& bytes = wire_.front()[(chip + memories_.size() - back) % memories_.size()];
            REQUIRE(static_cast<std::int64_t>(bytes.size()) == t.bytes());
            store(memories_[chip], t, bytes);
        }
        wire_.erase(wire_.begin());
        senders_.erase(senders_.begin());
    }

    const Program& program_;
    std::vector<Memory> memories_;
    std::function<std::int64_t(std::int64_t)> away_;
    std::vector<std::vector<Bytes>> wire_;
    std::vector<std::int64_t> senders_;
};

Graph graph_of(Kind kind, std::int64_t chips, const Shape& shape, std::int64_t axis, DType dtype) {
    test::GraphOf g;
    const TensorId in = g.input(shape, dtype);
    Collective op{kind, chips, 1, 1};
    Shape out = shape;
    for (std::size_t d = 0; d < shape.size(); ++d)
        (kind != Kind::AllReduce && d < static_cast<std::size_t>(axis) ? op.outer : op.row) *= shape[d];
    if (kind == Kind::AllGather) out[static_cast<std::size_t>(axis)] *= chips;
    if (kind == Kind::ReduceScatter) out[static_cast<std::size_t>(axis)] /= chips;
    return g.finish(g.vector({in}, op, out));
}

SystolicSpec linked(SystolicSpec spec) {
    spec.chip_link = ChipLinkSpec{BytesPerSecond(1'000'000'000), Ticks(1000)};
    return spec;
}

/// Inputs and outputs where tensors live.
Protocol in_place(const SystolicSpec& spec) {
    Protocol protocol = Protocol::of_op();
    const bool resident = spec.placement.activations == Space::Scratchpad;
    protocol.inputs_at = protocol.outputs_to = resident ? Protocol::Where::OnChip : Protocol::Where::Dram;
    return protocol;
}

void check_values(const Graph& graph, const SystolicSpec& spec, std::uint64_t seed) {
    const Protocol protocol = in_place(spec);
    const Lowered lowered = lower(graph, spec, protocol);
    const auto& op = std::get<Collective>(graph.layers[0].op);
    const std::int64_t chips = op.chips;
    const auto place = [&](TensorId id) {
        return lowered.placements[id].space == Space::Dram ? Place::Dram : Place::Scratchpad;
    };
    const TensorId in = graph.layers[0].inputs[0], out = graph.layers[0].output;
    const std::int64_t in_bytes = stored_bytes(graph.tensors[in]).value(),
                       out_bytes = stored_bytes(graph.tensors[out]).value();
    // Rows of all parts, by number of the part as all chips count: bytes of a part's row.
    const std::int64_t row = std::max(in_bytes, out_bytes) / op.outer / chips;
    const bool scattered = op.kind != Kind::AllGather;
    std::mt19937_64 random(seed);
    std::vector<std::vector<std::int64_t>> inputs(static_cast<std::size_t>(chips));
    const bool exchanged = op.kind == Kind::AllToAll;
    Ring ring(chips, lowered, [&](std::int64_t from) {
        return exchanged ? (from - lowered.placements[in].address) / row % chips : 1;
    });
    for (std::int64_t chip = 0; chip < chips; ++chip) {
        auto& own = inputs[static_cast<std::size_t>(chip)];
        for (std::int64_t i = 0; i < in_bytes; ++i) own.push_back(static_cast<std::int64_t>(random() % 1000));
        for (std::int64_t i = 0; i < in_bytes; ++i) {
            // A chip's own part lies first.
            const std::int64_t outer = i / (in_bytes / op.outer), at = i % (in_bytes / op.outer);
            const std::int64_t turned = scattered ? (at + chip * row) % (chips * row) : at;
            ring.chip(chip).at(place(in), lowered.placements[in].address + i) =
                own[static_cast<std::size_t>(outer * (in_bytes / op.outer) + turned)];
        }
    }
    ring.run();
    for (std::int64_t chip = 0; chip < chips; ++chip)
        for (std::int64_t i = 0; i < out_bytes; ++i) {
            const std::int64_t outer = i / (out_bytes / op.outer), at = i % (out_bytes / op.outer);
            const std::int64_t part = (at / row + chip) % chips, byte = at % row;
            std::int64_t wanted = 0;
            if (exchanged)
                wanted = inputs[static_cast<std::size_t>(part)]
                               [static_cast<std::size_t>((outer * chips + chip) * row + byte)];
            else if (scattered)
                for (const auto& own : inputs)
                    wanted += own[static_cast<std::size_t>((outer * chips + part) * row + byte)];
            else
                wanted = inputs[static_cast<std::size_t>(part)][static_cast<std::size_t>(outer * row + byte)];
            const std::int64_t got = ring.chip(chip).at(place(out), lowered.placements[out].address + i);
            if (got != wanted) FAIL("chip " << chip << ", byte " << i << ": " << got << ", not " << wanted);
        }
    test::check(graph, spec, protocol);
}

}  // namespace

TEST_CASE("Every chip of a ring ends with what a collective promises") {
    for (const SystolicSpec& machine : test::machines()) {
        const SystolicSpec spec = linked(machine);
        for (const Kind kind : {Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter, Kind::AllToAll})
            for (const std::int64_t chips : {2, 3, 4, 8}) {
                CAPTURE(static_cast<int>(kind), chips);
                check_values(graph_of(kind, chips, {3, 24}, 1, DType::Int8), spec, 1);
                check_values(graph_of(kind, chips, {24, 5}, 0, DType::Bf16), spec, 2);
                check_values(graph_of(kind, chips, {2, 24, 3}, 1, DType::Bf16), spec, 3);
            }
    }
}

TEST_CASE("Collectives whose parts travel in many pieces keep their promises") {
    for (const bool resident : {false, true}) {
        SystolicSpec spec = linked(resident ? test::resident_machine() : test::small_machine(1));
        for (const Kind kind : {Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter, Kind::AllToAll}) {
            CAPTURE(resident, static_cast<int>(kind));
            const std::int64_t less = resident && kind == Kind::AllGather ? 4 : 1;
            check_values(graph_of(kind, 4, {1200 / less}, 0, DType::Bf16), spec, 4);
            check_values(graph_of(kind, 3, {7, 120 / less}, 1, DType::Bf16), spec, 5);
        }
    }
}

TEST_CASE("A ring moves no more than it must") {
    const auto crossed = [](Kind kind) {
        const SystolicSpec spec = linked(test::large_machine());
        const Graph graph = graph_of(kind, 8, {1 << 20}, 0, DType::Bf16);
        const Lowered lowered = lower(graph, spec, Protocol::of_op());
        std::int64_t out = 0, in = 0;
        for (const Transfer& transfer : lowered.program.transfers) {
            if (transfer.to.place == Place::ChipLink) out += transfer.bytes();
            if (transfer.from.place == Place::ChipLink) in += transfer.bytes();
        }
        CHECK(in == out);
        return out;
    };
    constexpr std::int64_t kBytes = 2 << 20;
    CHECK(crossed(Kind::AllReduce) == 2 * 7 * kBytes / 8);
    CHECK(crossed(Kind::ReduceScatter) == 7 * kBytes / 8);
    CHECK(crossed(Kind::AllGather) == 7 * kBytes);
    // Parts go 1, 2, 3, 4, 3, 2 and 1 hops.
    CHECK(crossed(Kind::AllToAll) == 16 * kBytes / 8);
}

TEST_CASE("Without a chip link there are no collectives") {
    CHECK_THAT(test::message_of(graph_of(Kind::AllReduce, 4, {64}, 0, DType::Int8), test::small_machine(1)),
               Catch::Contains("this machine has no link to other chips"));
}

}  // namespace systole::systolic
