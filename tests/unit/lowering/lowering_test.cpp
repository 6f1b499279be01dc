// SPDX-License-Identifier: Apache-2.0
// Each kind of operator by itself, on every kind of machine, held to the promises that Replay checks.
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

#include "models/devices/systolic/lowering/vector_cost.h"
#include "tests/unit/lowering/fixtures.h"

namespace systole::systolic {
namespace {

using test::check;
using test::direct_machine;
using test::GraphOf;
using test::machines;
using test::message_of;
using test::resident_machine;
using test::small_machine;

Conv2d conv_of(std::int64_t size, std::int64_t in_c, std::int64_t out_c, std::int64_t kernel,
               std::int64_t stride, std::int64_t pad) {
    Conv2d c;
    c.in_h = c.in_w = size;
    c.in_c = in_c;
    c.out_c = out_c;
    c.kernel_h = c.kernel_w = kernel;
    c.stride = stride;
    c.pad = pad;
    return c;
}

TEST_CASE("A matmul with ragged edges and a bias reaches the arrays element by element") {
    for (const SystolicSpec& spec : machines()) {
        for (const DType dtype : {DType::Int8, DType::Bf16}) {
            GraphOf g;
            const TensorId in = g.input({37, 21}, dtype);
            check(g.finish(g.matmul(in, 37, 14, 21, true)), spec);
        }
    }
}

TEST_CASE("Convolutions with padding, stride, dilation and few channels read the right pixels") {
    for (const SystolicSpec& spec : machines()) {
        for (Conv2d op : {conv_of(9, 3, 5, 3, 1, 1), conv_of(8, 4, 6, 3, 2, 1), conv_of(10, 2, 4, 7, 2, 3),
                          conv_of(8, 8, 8, 1, 1, 0), conv_of(8, 8, 8, 1, 2, 0), conv_of(5, 6, 9, 5, 1, 2)}) {
            for (const std::int64_t batch : {1, 3}) {
                op.batch = batch;
                GraphOf g;
                const TensorId in = g.input({batch, op.in_h, op.in_w, op.in_c}, DType::Int8);
                check(g.finish(g.conv(in, op)), spec);
            }
        }
        Conv2d dilated = conv_of(9, 5, 3, 3, 1, 2);
        dilated.dilation = 2;
        GraphOf g;
        check(g.finish(g.conv(g.input({1, 9, 9, 5}, DType::Bf16), dilated)), spec);
    }
}

TEST_CASE("Grouped convolution runs group by group, depthwise convolution on the vector unit") {
    for (const SystolicSpec& spec : machines()) {
        Conv2d op = conv_of(6, 8, 12, 3, 1, 1);
        op.groups = 2;
        op.bias = true;
        GraphOf g;
        check(g.finish(g.conv(g.input({1, 6, 6, 8}, DType::Int8), op)), spec);

        op.groups = 8;
        op.out_c = 8;
        GraphOf d;
        const Lowered lowered = check(d.finish(d.conv(d.input({1, 6, 6, 8}, DType::Int8), op)), spec);
        CHECK(lowered.program.passes.empty());
        CHECK(lowered.program.layers[0].mapping.find("vector unit: depthwise") != std::string::npos);
    }
}

TEST_CASE("Batched products take either operand from activations, stored straight or transposed") {
    for (const SystolicSpec& spec : machines()) {
        for (const bool transposed : {false, true}) {
            GraphOf g;
            MatMul op{3, 10, 9, 7, false, false, transposed};
            const TensorId a = g.input({3, 10, 7}, DType::Int8);
            const TensorId b = g.input(transposed ? Shape{3, 9, 7} : Shape{3, 7, 9}, DType::Int8);
            check(g.finish(g.batched(a, b, op)), spec);
        }
    }
}

TEST_CASE("Operators of the vector unit and the DMA chain through memory and views") {
    for (const SystolicSpec& spec : machines()) {
        GraphOf g;
        const TensorId in = g.input({2, 8, 8, 4}, DType::Int8);
        Pool pool;
        pool.batch = 2;
        pool.in_h = pool.in_w = 8;
        pool.channels = 4;
        pool.window_h = pool.window_w = pool.stride = 2;
        const TensorId pooled = g.vector({in}, pool, {2, 4, 4, 4});
        const TensorId turned =
            g.vector({g.view(pooled, {8, 4, 4})}, Transpose{{8, 4, 4}, {2, 0, 1}}, {4, 8, 4});
        const TensorId sum =
            g.vector({turned, turned}, Elementwise{Elementwise::Kind::Add, 128, Function::Relu}, {32, 4});
        const TensorId product = g.matmul(sum, 32, 6, 4);
        check(g.finish(g.vector({product}, Softmax{32, 6}, {32, 6})), spec);
    }
}

TEST_CASE("An embedding fetches one row for each lookup") {
    for (const SystolicSpec& spec : machines()) {
        GraphOf g;
        const TensorId out = g.embedding(g.input({40}, DType::Int32), {100, 12, 40}, DType::Int8);
        const Lowered lowered = check(g.finish(out), spec);
        std::int64_t rows = 0;
        for (const Transfer& t : lowered.program.transfers)
            rows += t.operand == Operand::Weights ? t.rows : 0;
        CHECK(rows == 40);
    }
}

TEST_CASE("Every protocol brings inputs in and takes outputs away exactly once") {
    for (const SystolicSpec& spec : {small_machine(2), resident_machine()}) {
        const bool resident = spec.placement.activations == Space::Scratchpad;
        GraphOf g;
        const TensorId in = g.input({20, 12}, DType::Int8);
        const Graph graph = g.finish(g.matmul(in, 20, 8, 12));
        for (const auto where : {Protocol::Where::Host, Protocol::Where::Dram}) {
            const Lowered lowered = check(graph, spec, {where, where, Protocol::Launch::None, Ticks(0)});
            std::int64_t in_bytes = 0, out_bytes = 0;
            for (const Command& c : lowered.program.commands) {
                const bool moves = c.unit < kSharedUnits && unit_kind(c.unit) != UnitKind::Vector;
                if (!moves) continue;
                const Transfer& t = lowered.program.transfer(c);
                const Place outside = where == Protocol::Where::Host ? Place::Host : Place::Dram;
                if (t.from.place == outside && t.operand == Operand::Activations) in_bytes += t.bytes();
                if (t.to.place == outside) out_bytes += t.bytes();
            }
            CHECK(in_bytes == 20 * 12);
            CHECK(out_bytes >= 20 * 8);
            if (where == Protocol::Where::Host) CHECK(out_bytes == 20 * 8);
        }
        const Protocol onchip{Protocol::Where::OnChip, Protocol::Where::OnChip, Protocol::Launch::None,
                              Ticks(0)};
        if (resident) {
            check(graph, spec, onchip);
        } else {
            CHECK(message_of(graph, spec, onchip).find("run.inputs_at: onchip") != std::string::npos);
        }
    }
}

TEST_CASE("An input that is read only in part has arrived before its place is used again") {
    GraphOf g;
    const Shape megabyte{1, 1024, 64, 16};
    const TensorId x = g.input(megabyte, DType::Int8), y = g.input(megabyte, DType::Int8);
    Conv2d first_pixel;
    first_pixel.in_h = 1024;
    first_pixel.in_w = 64;
    first_pixel.in_c = 16;
    first_pixel.out_c = 4;
    first_pixel.stride = 1024;
    g.conv(x, first_pixel);
    // x is dead from here on, and its place free.
    const TensorId out = g.vector({y}, Activation{Function::Relu, 1 << 20}, megabyte);
    SystolicSpec spec = small_machine(1);
    spec.memory.rows *= 64;
    spec.memory.flat_capacity = Bytes(1 << 26);
    const Graph graph = g.finish(out);
    const Lowered lowered = check(graph, spec);
    REQUIRE(lowered.placements[x].address == lowered.placements[out].address);
}

TEST_CASE("What cannot be mapped is refused with names and numbers") {
    GraphOf g;
    Graph graph = g.finish(g.matmul(g.input({8, 8}, DType::Fp32), 8, 8, 8));
    graph.layers[0].where = {"net.yaml", 7, 3};
    const std::string dtype = message_of(graph, small_machine());
    CHECK(dtype.find("net.yaml:7:3") != std::string::npos);
    CHECK(dtype.find("'layer0'") != std::string::npos);
    CHECK(dtype.find("dtype 'fp32'; the matrix units have: int8, bf16") != std::string::npos);

    SystolicSpec tight = small_machine();
    tight.placement.weight_buffer = Bytes(32);
    GraphOf b;
    const std::string small = message_of(b.finish(b.matmul(b.input({8, 8}, DType::Bf16), 8, 8, 8)), tight);
    CHECK(small.find("64 B of placement.weight_buffer (32 B)") != std::string::npos);

    SystolicSpec crowded = small_machine();
    crowded.scratchpad.capacity = Bytes(4096);
    CHECK(message_of(graph, crowded).find("the scratchpad has 4096 B") != std::string::npos);
}

TEST_CASE("Windows farther apart than 64 bits of bytes are staged one by one") {
    for (const std::int64_t kernel : {3, 49}) {
        Conv2d far = conv_of(kernel + 1, 4, 4, kernel, std::numeric_limits<std::int32_t>::max(), 0);
        far.round_up = true;  // the last window of each dimension lies beyond the input
        REQUIRE(far.out_h() == 2);
        SystolicSpec spec = small_machine(1);
        spec.placement.input_buffer = Bytes(1 << 16);
        spec.scratchpad.capacity = Bytes(1 << 17);
        GraphOf g;
        const Graph graph = g.finish(g.conv(g.input({1, kernel + 1, kernel + 1, 4}, DType::Int8), far));
        const Program program = lower(graph, spec, Protocol::of_op()).program;
        CHECK(std::ranges::all_of(program.passes, [](const MatrixPass& pass) { return pass.m == 1; }));
    }
}

/// So many commands of the vector unit have ended when the first command of `unit` in a layer begins.
std::uint32_t ended_before(const Program& program, UnitIndex unit, std::int32_t layer) {
    std::uint32_t ended = 0;
    for (const Command& command : program.commands) {
        if (command.unit != unit) continue;
        for (std::uint32_t i = 0; i < command.token_count; ++i) {
            const Token token = program.tokens[command.first_token + i];
            if (token.unit == unit_index(UnitKind::Vector)) ended = std::max(ended, token.count);
        }
        if (command.layer == layer) break;
    }
    return ended;
}

TEST_CASE("With explicit synchronization a layer begins, and outputs leave, when all is written") {
    GraphOf g;
    const TensorId middle = g.matmul(g.input({40, 12}, DType::Int8), 40, 12, 12);
    const Graph graph = g.finish(g.matmul(middle, 40, 12, 12));
    SystolicSpec spec = resident_machine();
    const Program bytes = check(graph, spec).program;
    spec.sequencer.whole_tensors = true;
    const Program tensors = check(graph, spec).program;
    std::uint32_t written = 0, all = 0;  // commands of the vector unit: of the first layer, of both
    for (const Command& command : tensors.commands) {
        if (command.unit != unit_index(UnitKind::Vector)) continue;
        ++all;
        if (command.layer == 0) ++written;
    }
    REQUIRE(written > 1);
    CHECK(ended_before(tensors, unit_index(UnitKind::Matrix), 1) == written);
    CHECK(ended_before(bytes, unit_index(UnitKind::Matrix), 1) < written);
    CHECK(ended_before(tensors, unit_index(UnitKind::HostOut), 1) == all);
    CHECK(ended_before(bytes, unit_index(UnitKind::HostOut), 1) < all);
}

TEST_CASE("A drain costs all that is done to a result, or the slowest stage of a pipeline") {
    SystolicSpec spec = small_machine(1);
    spec.vector.cost.simple = 2;
    spec.vector.cost.transcendental = 7;
    const auto each = [&](bool pipelined, Function post) {
        spec.vector.pipelined_drains = pipelined;
        return drain_cost(spec.vector, true, post);
    };
    CHECK(each(false, Function::None) == 2 + 2);  // bias, conversion
    CHECK(each(false, Function::Relu) == 2 + 2 + 2);
    CHECK(each(false, Function::Tanh) == 2 + 2 + 7);
    CHECK(each(true, Function::None) == 2);
    CHECK(each(true, Function::Tanh) == 7);
}

TEST_CASE("What reaches beyond resident activations is called by its name") {
    Conv2d far = conv_of(8, 4, 4, 1, 1'000'000, 0);
    far.round_up = true;
    GraphOf strided;
    CHECK(message_of(strided.finish(strided.conv(strided.input({1, 8, 8, 4}, DType::Int8), far)),
                     resident_machine())
              .find("with round_up and a stride of 1000000 its last window reaches further than "
                    "placement.activation_space") != std::string::npos);
    Conv2d padded = conv_of(8, 4, 4, 3, 1, 500);
    GraphOf wide;
    CHECK(
        message_of(wide.finish(wide.conv(wide.input({1, 8, 8, 4}, DType::Int8), padded)), resident_machine())
            .find("its zero padding of 500 reaches further") != std::string::npos);
}

TEST_CASE("A K of too many tiles is refused before it is cut") {
    SystolicSpec flat = direct_machine(Dataflow::WeightStationary, false);
    flat.mxu.rows = 1;
    flat.memory.kind = DramSpec::Kind::Ideal;
    flat.memory.flat_capacity = Bytes(std::int64_t{1} << 40);
    GraphOf g;
    const std::int64_t k = 1'000'000'000;
    const std::string why = message_of(g.finish(g.matmul(g.input({1, k}, DType::Bf16), 1, 1, k)), flat);
    CHECK(why.find("K of 1000000000 makes 1000000000 tiles of at most 1") != std::string::npos);
}

TEST_CASE("What bounds an operator are its commands, and its folds only where there are ever so many") {
    SystolicSpec spec = direct_machine(Dataflow::WeightStationary, false);
    spec.mxu.count = 1;
    spec.mxu.accumulator_rows = 1 << 30;
    spec.scratchpad.capacity = Bytes(std::int64_t{1} << 40);
    spec.placement.input_buffer = spec.placement.weight_buffer = spec.placement.output_buffer =
        Bytes(std::int64_t{1} << 38);
    spec.memory.kind = DramSpec::Kind::Ideal;
    spec.memory.flat_capacity = Bytes(std::int64_t{1} << 40);
    const auto matmul = [](std::int64_t n, std::int64_t k) {
        GraphOf g;
        return g.finish(g.matmul(g.input({4, k}, DType::Bf16), 4, n, k));
    };
    const Graph many = matmul(400, 1'000'000);  // 100 x 250,000 folds in 100 runs
    CHECK(lower(many, spec, Protocol::of_op()).program.passes.size() == 100);
    spec.sequencer.queue_depth = 64;  // one command for each of them
    CHECK(message_of(many, spec).find("more than 16777216 passes") != std::string::npos);
    spec.sequencer.queue_depth = kUnboundedQueue;
    CHECK(message_of(matmul(4000, 1'000'000), spec).find("folds, which are simulated one by one") !=
          std::string::npos);
}

TEST_CASE("Runs of folds are written only where a command costs neither time nor room") {
    const auto longest = [](const SystolicSpec& spec) {
        GraphOf g;
        const Graph graph = g.finish(g.matmul(g.input({8, 64}, DType::Bf16), 8, 8, 64));
        const Program program = lower(graph, spec, Protocol::of_op()).program;
        return std::ranges::max(program.passes, {}, &MatrixPass::folds).folds;
    };
    SystolicSpec spec = direct_machine(Dataflow::InputStationary, false);
    CHECK(longest(spec) > 1);
    spec.sequencer.queue_depth = kUnboundedQueue - 1;
    CHECK(longest(spec) == 1);
    spec.sequencer = {.issue_cycles = Cycles(1), .queue_depth = kUnboundedQueue, .launch_latency = {}};
    CHECK(longest(spec) == 1);
}

}  // namespace
}  // namespace systole::systolic
