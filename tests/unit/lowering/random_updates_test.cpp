// SPDX-License-Identifier: Apache-2.0
// Steps of training that nobody thought of, on random machines: products, norms and tables with the gradients
// of their biases, gains and rows, and the optimizers that write them back. Whatever is cut, every byte of a
// result is made of what belongs to it, in order, and no weight is written while somebody may still read it.
#include <catch2/catch.hpp>

#include "sim/base/error.h"
#include "tests/support/seeds.h"
#include "tests/unit/lowering/fixtures.h"
#include "tests/unit/lowering/random_layers.h"
#include "tests/unit/lowering/replay.h"

namespace systole::systolic {
namespace {

using test::Dice;
using test::GraphOf;
using test::random_machine;

class RandomStep {
public:
    /// With gradients of what only moves numbers, or with those of tables.
    RandomStep(Dice& dice, bool moves)
        : dice_(dice), moves_(moves), dtype_(dice.coin() ? DType::Bf16 : DType::Int8) {
        rows_ = dice.pick(1, 40);
        width_ = dice.pick(1, 90);
        at_ = g_.input({rows_, width_}, dtype_);
    }

    Graph take() {
        for (std::int64_t layers = dice_.pick(1, 3); layers > 0; --layers) {
            switch (dice_.pick(0, moves_ ? 7 : 4)) {
                case 0:
                    add_product();
                    break;
                case 1:
                    add_norm();
                    break;
                case 2:
                    add_rows();
                    break;
                case 3:
                    add_convolution();
                    break;
                case 4:
                    moves_ ? add_place() : add_table();
                    break;
                case 5:
                    add_greatest();
                    break;
                case 6:
                    add_average();
                    break;
                default:
                    add_sums();
            }
        }
        for (const auto& [weights, gradient] : learnt_) optimize(weights, gradient);
        return g_.finish(at_);
    }

private:
    Shape shape() const { return {rows_, width_}; }
    TensorId weights() const { return *g_.graph.layers.back().weights; }
    /// From outside, or made by a layer, so that it may live on chip.
    TensorId gradient(const Shape& shape) {
        const TensorId given = g_.input(shape, dtype_);
        if (dice_.coin()) return given;
        return g_.vector({given}, Activation{Function::Relu, elements(shape)}, shape);
    }
    TensorId with_weights(Operator op, const std::vector<TensorId>& in, TensorId stored, const Shape& out) {
        const TensorId made = g_.vector(in, std::move(op), out);
        g_.graph.layers.back().weights = stored;
        return made;
    }
    void optimize(TensorId stored, TensorId from) {
        Optimizer op{static_cast<Optimizer::Kind>(dice_.pick(0, 2)),
                     elements(g_.graph.tensors[stored].shape)};
        const TensorId state = with_weights(op, {from}, stored, {op.slots(), op.elements});
        g_.graph.tensors[state].dtype = DType::Fp32;
        g_.graph.tensors[state].role = TensorRole::OptimizerState;
    }
    TensorId columns(const std::vector<TensorId>& in) {
        Reduce op{Reduce::Kind::Sum, rows_, width_};
        op.columns = true;
        return g_.vector(in, op, {width_});
    }

    void add_product() {
        const std::int64_t k = width_;
        width_ = dice_.pick(1, 30);
        at_ = g_.matmul(at_, rows_, width_, k, true);
        const Layer product = g_.graph.layers.back();
        learnt_.emplace_back(*product.weights, gradient({k, width_}));
        learnt_.emplace_back(*product.bias, columns({gradient(shape())}));
    }
    void add_norm() {
        Norm op{dice_.coin() ? Norm::Kind::Layer : Norm::Kind::Rms, rows_, width_};
        const TensorId before = at_;
        g_.graph.tensors.push_back({"gains", {width_}, dtype_, TensorRole::Weights});
        const TensorId gains = g_.graph.tensors.size() - 1;
        at_ = with_weights(op, {before}, gains, shape());
        op.gradient = true;
        const TensorId back = gradient(shape());
        with_weights(op, {back, before}, gains, shape());
        learnt_.emplace_back(gains, columns({back, dice_.pick(0, 3) > 0 ? before : back}));
    }
    void add_rows() {
        const TensorId back = gradient(shape());
        Softmax softmax{rows_, width_};
        softmax.gradient = true;
        const TensorId scores = g_.vector({back, at_}, softmax, shape());
        Elementwise slope{Elementwise::Kind::Mul, rows_ * width_};
        slope.slope = Function::Gelu;
        at_ = g_.vector({scores, at_}, slope, shape());
    }
    void add_convolution() {
        Conv2d op;
        op.in_h = rows_;
        op.groups = width_ % 2 == 0 && dice_.coin() ? 2 : 1;
        op.in_c = width_;
        op.out_c = op.groups * dice_.pick(1, 9);
        op.kernel_h = op.kernel_w = rows_ > 2 && dice_.coin() ? 3 : 1;
        op.pad = op.kernel_h / 2;
        if (op.depthwise()) return add_rows();
        at_ = g_.conv(g_.view(at_, {1, rows_, 1, width_}), op);
        const TensorId kernel = weights();
        learnt_.emplace_back(kernel, gradient({op.out_c, op.kernel_h, op.kernel_w, op.in_c / op.groups}));
        width_ = op.out_c;
        at_ = g_.view(at_, shape());
    }
    /// The gradient of a slice of columns, or of rows.
    void add_place() {
        const bool columns = dice_.coin();
        std::int64_t& extent = columns ? width_ : rows_;
        Slice op{columns ? rows_ : 1, columns ? 1 : width_, extent + dice_.pick(0, 20), 0, extent, true};
        op.begin = dice_.pick(0, op.in - op.size);
        extent = op.in;
        at_ = g_.vector({at_}, op, shape());
    }
    void add_greatest() {
        TopK op{rows_, width_ + dice_.pick(0, 20), width_};
        op.gradient = true;
        const TensorId indices = g_.input(shape(), DType::Int32);
        width_ = op.cols;
        at_ = g_.vector({at_, indices}, op, shape());
    }
    void add_average() {
        Pool op{Pool::Kind::Average, rows_, dice_.pick(1, 3), dice_.pick(1, 2), width_};
        op.window_h = op.in_h, op.window_w = op.in_w;
        op.gradient = true;
        rows_ *= op.in_h * op.in_w;
        at_ = g_.vector({at_}, op, shape());
    }
    /// Of columns of several matrices each, and of products of two.
    void add_sums() {
        Reduce op{Reduce::Kind::Sum, dice_.pick(1, rows_), width_, true};
        while (rows_ % op.rows != 0) --op.rows;
        op.items = rows_ / op.rows;
        std::vector<TensorId> in{at_};
        if (dice_.coin()) in.push_back(gradient(shape()));
        rows_ = op.items;
        at_ = g_.vector(in, op, shape());
    }
    void add_table() {
        EmbeddingGradient op;
        op.vocabulary = dice_.pick(1, 60);
        op.width = dice_.pick(1, 12);
        op.bag = dice_.pick(1, 3);
        op.lookups = op.bag * dice_.pick(1, 40);
        op.spread = dice_.coin() ? Spread::Even : Spread::Random;
        const TensorId indices = g_.input({op.lookups}, DType::Int32);
        g_.embedding(indices, {op.vocabulary, op.width, op.lookups, op.spread, op.bag}, dtype_);
        const TensorId table = weights();
        const TensorId back = gradient({op.lookups / op.bag, op.width});
        learnt_.emplace_back(table, g_.vector({back, indices}, op, {op.vocabulary, op.width}));
    }

    Dice& dice_;
    bool moves_;
    DType dtype_;
    GraphOf g_;
    std::int64_t rows_ = 1, width_ = 1;
    TensorId at_ = 0;
    std::vector<std::pair<TensorId, TensorId>> learnt_;  ///< weights and their gradient
};

Graph random_step(std::uint64_t seed, bool moves = false) {
    Dice dice(seed);
    return RandomStep(dice, moves).take();
}

SystolicSpec random_chip(Dice& dice) {
    SystolicSpec spec = random_machine(dice);
    spec.cores = static_cast<int>(dice.pick(2, 3));
    spec.mxu.count = std::min(spec.mxu.count, 3);
    if (spec.placement.activations == Space::Scratchpad) spec.placement.choose = true;
    spec.placement.activations = Space::Dram;
    return spec;
}

/// Lowers and replays; false where buffers are too short, and nothing else may be wrong.
bool keeps_promises(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol) {
    Lowered lowered;
    try {
        lowered = lower(graph, spec, protocol, {.cores = spec.cores});
    } catch (const UserError& refused) {
        INFO(refused.what());
        REQUIRE_THAT(refused.what(),
                     Catch::Contains("room") || Catch::Contains("fit") || Catch::Contains("chunks may have"));
        return false;
    }
    test::Replay replay(graph, spec, lowered);
    const std::vector<std::string> none;
    REQUIRE(replay.run() == none);
    REQUIRE(replay.completes_with_shallow_queues());
    return true;
}

TEST_CASE("Random steps of training keep every promise on every small machine") {
    int ran = 0, tried = 0;
    for (const SystolicSpec& spec : test::machines()) {
        for (std::uint64_t seed = 1; seed <= systole::test::enough(30); ++seed, ++tried) {
            INFO("seed " << seed << " on " << to_string(spec.mxu.dataflow));
            ran += keeps_promises(random_step(seed), spec, Protocol::of_run()) ? 1 : 0;
        }
    }
    CHECK(ran > tried / 2);
}

TEST_CASE("Random gradients of moved numbers keep every promise") {
    int ran = 0;
    for (const SystolicSpec& spec : test::machines())
        for (std::uint64_t seed = 1; seed <= systole::test::enough(15); ++seed) {
            INFO("seed " << seed << " on " << to_string(spec.mxu.dataflow));
            ran += keeps_promises(random_step(3000 + seed, true), spec, Protocol::of_run()) ? 1 : 0;
        }
    for (std::uint64_t seed = 1; seed <= systole::test::enough(300); ++seed) {
        INFO("seed " << seed);
        Dice dice(seed);
        const SystolicSpec spec = dice.coin() ? random_machine(dice) : random_chip(dice);
        const Protocol protocol = dice.coin() ? Protocol::of_run() : Protocol::of_op();
        ran += keeps_promises(random_step(4000 + seed, true), spec, protocol) ? 1 : 0;
    }
    CHECK(ran > static_cast<int>(systole::test::enough(250)));
}

TEST_CASE("Random steps of training keep every promise on random machines") {
    int ran = 0;
    for (std::uint64_t seed = 1; seed <= systole::test::enough(450); ++seed) {
        INFO("seed " << seed);
        Dice dice(seed);
        const SystolicSpec spec = random_machine(dice);
        const Protocol protocol = dice.coin() ? Protocol::of_run() : Protocol::of_op();
        ran += keeps_promises(random_step(1000 + seed), spec, protocol) ? 1 : 0;
    }
    CHECK(ran > static_cast<int>(systole::test::enough(300)));
}

TEST_CASE("Random steps of training keep every promise on chips of several cores") {
    int ran = 0;
    for (std::uint64_t seed = 1; seed <= systole::test::enough(300); ++seed) {
        INFO("seed " << seed);
        Dice dice(seed);
        const SystolicSpec spec = random_chip(dice);
        const Protocol protocol = dice.coin() ? Protocol::of_run() : Protocol::of_op();
        ran += keeps_promises(random_step(2000 + seed), spec, protocol) ? 1 : 0;
    }
    CHECK(ran > static_cast<int>(systole::test::enough(200)));
}

}  // namespace
}  // namespace systole::systolic
