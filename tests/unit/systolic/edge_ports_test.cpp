// SPDX-License-Identifier: Apache-2.0
// By hand. The left edge has two banks of lines of 4 bytes: 8 bytes a cycle where lines share out evenly. The
// upper edge's port has 4 bytes a cycle.
#include "models/devices/systolic/machine/edge_ports.h"

#include <catch2/catch.hpp>

namespace systole::systolic {
namespace {

ScratchpadSpec two_banks() {
    ScratchpadSpec spec;
    spec.capacity = Bytes(4096);
    spec.banks = 2;
    spec.bank_bytes = Bytes(4);
    spec.weight_port_bytes = Bytes(4);
    return spec;
}

/// So many vectors, one every `stride` bytes.
AddressStream vectors_of(std::int64_t bytes, std::int64_t count, std::int64_t stride) {
    AddressStream stream;
    stream.segments = {{Bytes(0), Bytes(bytes)}};
    stream.levels[2] = {count, Bytes(stride)};
    return stream;
}

struct Edges {
    Program program;
    MatrixPass pass;

    Edges(AddressStream left, AddressStream top) {
        pass.left = {0, 0, 0, left.vectors(), 0};
        pass.top = {1, 0, 0, top.vectors(), 0};
        program.streams = {std::move(left), std::move(top)};
    }
    Rational rate(Dataflow dataflow, std::int64_t vectors, std::int32_t fold = 0) const {
        return EdgePorts(two_banks(), program).rate(dataflow, pass, fold, vectors);
    }
};

}  // namespace

TEST_CASE("Operands that come faster than vectors stream make no pass faster than a vector a cycle",
          "[systolic]") {
    const Edges edges(vectors_of(4, 4, 4), vectors_of(2, 4, 2));  // 16 bytes and 8: 2 cycles either
    CHECK(edges.rate(Dataflow::OutputStationary, 4) == Rational{1, 1});
    CHECK(edges.rate(Dataflow::WeightStationary, 8) == Rational{1, 1});
}

TEST_CASE("Where outputs stay, a pass streams as fast as the slower of its edges", "[systolic]") {
    const Edges left(vectors_of(16, 4, 16), vectors_of(2, 4, 2));  // 64 bytes: 8 cycles; 8 bytes: 2
    CHECK(left.rate(Dataflow::OutputStationary, 4) == Rational{2, 1});
    const Edges top(vectors_of(4, 4, 4), vectors_of(12, 4, 12));  // 16 bytes: 2 cycles; 48 bytes: 12
    CHECK(top.rate(Dataflow::OutputStationary, 4) == Rational{3, 1});
    CHECK(EdgePorts(two_banks(), top.program).top_cycles(top.pass, 0) == 12);
    CHECK(EdgePorts(two_banks(), top.program).bytes(top.pass.top) == Bytes(48));
}

TEST_CASE("Where weights stay, the upper edge's tile does not slow down what streams", "[systolic]") {
    // Two vectors of 24 bytes that lie the other way round: 48 bytes take 6 cycles, for 4 that stream.
    const Edges edges(vectors_of(24, 2, 24), vectors_of(12, 4, 12));
    CHECK(edges.rate(Dataflow::WeightStationary, 4) == Rational{3, 2});
}

TEST_CASE("Lines of one bank come one by one, in a buffer and vector by vector", "[systolic]") {
    const Edges buffered(vectors_of(4, 4, 8), vectors_of(2, 1, 2));  // four lines, all in the first bank
    CHECK(buffered.rate(Dataflow::WeightStationary, 2) == Rational{2, 1});
    const Edges streamed(vectors_of(12, 4, 16),
                         vectors_of(2, 1, 2));  // three lines each, two of them in one bank
    CHECK(streamed.rate(Dataflow::WeightStationary, 4) == Rational{2, 1});
}

TEST_CASE("A later fold reads where it lies: off the lines it touches one more", "[systolic]") {
    Edges edges(vectors_of(16, 1, 16), vectors_of(2, 1, 2));
    edges.pass.left.fold_step = 2;
    CHECK(edges.rate(Dataflow::OutputStationary, 1, 0) == Rational{2, 1});
    CHECK(edges.rate(Dataflow::OutputStationary, 1, 1) ==
          Rational{3, 1});  // lines 0 to 4: three in the first bank
}

TEST_CASE("A later fold streams from where it lies: off the lines each vector touches one more",
          "[systolic]") {
    Edges edges(vectors_of(8, 4, 16), vectors_of(2, 1, 2));
    edges.pass.left.fold_step = 2;
    CHECK(edges.rate(Dataflow::WeightStationary, 4, 0) == Rational{1, 1});
    CHECK(edges.rate(Dataflow::WeightStationary, 4, 1) == Rational{2, 1});  // three lines, two of one bank
}

TEST_CASE("Vectors that read the same bytes over again take as long as others", "[systolic]") {
    const Edges edges(vectors_of(4, 4, 4), vectors_of(4, 4, 0));
    CHECK(EdgePorts(two_banks(), edges.program).top_cycles(edges.pass, 0) == 4);
    CHECK(edges.rate(Dataflow::OutputStationary, 2) == Rational{2, 1});
}

}  // namespace systole::systolic
