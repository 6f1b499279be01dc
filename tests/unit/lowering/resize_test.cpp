// SPDX-License-Identifier: Apache-2.0
// Resize on every kind of machine: what it reads, how often, and what that costs.
#include <array>
#include <catch2/catch.hpp>

#include "tests/unit/lowering/fixtures.h"

namespace systole::systolic {
namespace {

using test::check;
using test::GraphOf;
using test::machines;

Resize resize_of(Resize::Kind kind, std::array<std::int64_t, 4> in, std::int64_t out_h, std::int64_t out_w) {
    return {kind, in[0], in[1], in[2], in[3], out_h, out_w};
}

Graph graph_of(const Resize& op, DType dtype) {
    GraphOf g;
    const TensorId in = g.input({op.batch, op.in_h, op.in_w, op.channels}, dtype);
    return g.finish(g.vector({in}, op, {op.batch, op.out_h, op.out_w, op.channels}));
}

/// Of all vector commands together.
VectorWork total_work(const Program& program) {
    VectorWork sum;
    for (const VectorWork& work : program.vector_work) {
        sum.elements += work.elements;
        sum.lane_cycles += work.lane_cycles;
        sum.scratchpad_read += work.scratchpad_read;
        sum.scratchpad_written += work.scratchpad_written;
    }
    return sum;
}

std::int64_t loaded(const Program& program) {
    std::int64_t bytes = 0;
    for (const Transfer& t : program.transfers) bytes += t.to.place == Place::Scratchpad ? t.bytes() : 0;
    return bytes;
}

TEST_CASE("Maps of any size become maps of any other") {
    const std::array<std::int64_t, 4> shapes[] = {{1, 4, 4, 3}, {3, 5, 7, 8}, {2, 1, 1, 5}, {1, 9, 31, 4}};
    for (const SystolicSpec& spec : machines()) {
        for (const auto& in : shapes) {
            for (const Resize::Kind kind : {Resize::Kind::Nearest, Resize::Kind::Bilinear}) {
                check(graph_of(resize_of(kind, in, 2 * in[1], 2 * in[2]), DType::Int8), spec);
                check(graph_of(resize_of(kind, in, 3, 11), DType::Bf16), spec);
                check(graph_of(resize_of(kind, in, 1, 2), DType::Int4), spec);
            }
        }
    }
}

TEST_CASE("Nearest reads a pixel for each output, bilinear four and multiplies three times") {
    SystolicSpec spec = test::large_machine();
    spec.vector.cost.simple = 2;
    spec.vector.cost.mac = 5;
    const std::array<std::int64_t, 4> in = {2, 6, 5, 8};
    // 2 x 12 x 10 outputs of 8 channels, a byte each
    const Program nearest =
        lower(graph_of(resize_of(Resize::Kind::Nearest, in, 12, 10), DType::Int8), spec, Protocol::of_op())
            .program;
    CHECK(total_work(nearest).elements == 240 * 8);
    CHECK(total_work(nearest).scratchpad_read == 240 * 8);
    CHECK(total_work(nearest).scratchpad_written == 240 * 8);
    CHECK(total_work(nearest).lane_cycles == 240 * 8 * 2);
    const Program bilinear =
        lower(graph_of(resize_of(Resize::Kind::Bilinear, in, 12, 10), DType::Int8), spec, Protocol::of_op())
            .program;
    CHECK(total_work(bilinear).scratchpad_read == 4 * 240 * 8);
    CHECK(total_work(bilinear).lane_cycles == 240 * 8 * 3 * 5);
    for (const Program* program : {&nearest, &bilinear}) {
        CHECK(loaded(*program) == 2 * 6 * 5 * 8);  // the input, once
        CHECK(program->layers[0].compulsory_dram == 2 * 6 * 5 * 8 + 240 * 8);
    }
}

TEST_CASE("A block of bilinear outputs stages the rows around it once") {
    // 8 rows of 64 B become 16 of 128 B. Half of the output buffer takes 4 output rows; of outputs 4 … 7 the
    // centres lie at 1.75 … 3.25: input rows 1 … 4.
    SystolicSpec spec = test::small_machine(1);
    const Program program =
        lower(graph_of(resize_of(Resize::Kind::Bilinear, {1, 8, 16, 4}, 16, 32), DType::Int8), spec,
              Protocol::of_op())
            .program;
    std::vector<std::int64_t> rows;
    for (const Transfer& t : program.transfers)
        if (t.to.place == Place::Scratchpad) rows.push_back(t.bytes() / 64);
    CHECK(rows == std::vector<std::int64_t>{3, 4, 4, 3});
}

TEST_CASE("A smaller map needs only the pixels it is made of") {
    SystolicSpec spec = test::large_machine();
    const Program nearest =
        lower(graph_of(resize_of(Resize::Kind::Nearest, {1, 12, 12, 4}, 3, 4), DType::Int8), spec,
              Protocol::of_op())
            .program;
    CHECK(nearest.layers[0].compulsory_dram == 3 * 4 * 4 + 3 * 4 * 4);
    const Program bilinear =
        lower(graph_of(resize_of(Resize::Kind::Bilinear, {1, 12, 12, 4}, 3, 4), DType::Int8), spec,
              Protocol::of_op())
            .program;
    CHECK(bilinear.layers[0].compulsory_dram == 6 * 8 * 4 + 3 * 4 * 4);
}

TEST_CASE("A pixel that fits no buffer is refused with its bytes") {
    SystolicSpec spec = test::small_machine(1);
    CHECK(test::message_of(graph_of(resize_of(Resize::Kind::Bilinear, {1, 4, 4, 3000}, 8, 8), DType::Int8),
                           spec)
              .find("layer 'layer0': one output pixel does not fit: it reads 12000 B, of 2048 B of "
                    "placement.input_buffer, and has 3000 B, of 512 B of placement.output_buffer") !=
          std::string::npos);
}

}  // namespace
}  // namespace systole::systolic
