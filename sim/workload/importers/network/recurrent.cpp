// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/network/recurrent.h"

#include <fmt/format.h>

#include "sim/workload/importers/network/movements.h"
#include "sim/workload/importers/network/products.h"
#include "sim/workload/importers/network/vectors.h"

namespace systole {
namespace {

constexpr std::int64_t kMostWritten = 512;  // steps

class Recurring {
public:
    Recurring(Network& network, const std::string& name, Value x, const Recurrence& how)
        : network_(network),
          name_(name),
          how_(how),
          steps_(network.shape(x)[0]),
          batch_(network.shape(x)[1]),
          dtype_(network.dtype(x)),
          columns_(how.hidden * (how.cell == Cell::Lstm  ? 4
                                 : how.cell == Cell::Gru ? 3
                                                         : 1)) {
        x = network.active(x);
        const Value weights =
            network.stored(name + "_input_weights", {network.shape(x)[2], columns_}, dtype_);
        gates_ = contract(network, name + "_from_input", x, weights, {{}, {}, {2}, {0}});
        gates_ = network.moved_to_dims(with_bias(gates_), {0, 1, 2});
    }

    Recurred repeated(std::optional<Value> h, std::optional<Value> c);
    Recurred written_out(std::optional<Value> h, std::optional<Value> c);

private:
    Value with_bias(Value x) {
        if (!how_.bias) return x;
        return elementwise(network_, name_ + "_bias", "add", x,
                           network_.stored(name_ + "_bias", {columns_}, dtype_));
    }
    Value state(std::optional<Value> given, const char* what) {
        if (!given) return network_.input(name_ + what, {batch_, how_.hidden}, dtype_);
        return network_.reshape(network_.active(*given), {batch_, how_.hidden});
    }
    /// One step; h and c become what it makes.
    void step(std::int64_t number, Value& h, Value& c);

    Network& network_;
    const std::string name_;
    const Recurrence how_;
    const std::int64_t steps_, batch_;
    const DType dtype_;
    const std::int64_t columns_;
    Value gates_;  // what the input adds to them, of all steps
};

void Recurring::step(std::int64_t number, Value& h, Value& c) {
    const std::string name = fmt::format("{}_{}", name_, number);
    const std::int64_t at = how_.reverse ? steps_ - 1 - number : number;
    const Value x = network_.reshape(slice(network_, name + "_input", gates_, 0, at, 1), {batch_, columns_});
    const Value weights = network_.stored(name + "_weights", {how_.hidden, columns_}, dtype_);
    Value from_state = contract(network_, name + "_from_state", h, weights, {{}, {}, {1}, {0}});
    if (how_.cell == Cell::Gru) from_state = with_bias(from_state);
    const Shape two{batch_, 2 * how_.hidden}, one{batch_, how_.hidden}, all{batch_, columns_};
    if (how_.cell == Cell::Gru) {
        h = network_.make(
            {name,
             "gru_cell",
             {network_.tensor(x, all), network_.tensor(from_state, all), network_.tensor(h, one)}},
            one, Arrangement(one), dtype_);
        return;
    }
    const Value sum = elementwise(network_, name + "_gates", "add", from_state, x);
    if (how_.cell == Cell::Simple) {
        h = apply(network_, name, "tanh", sum);
        return;
    }
    const Value both =
        network_.make({name, "lstm_cell", {network_.tensor(sum, all), network_.tensor(c, one)}}, two,
                      Arrangement(two), dtype_);
    h = slice(network_, name + "_h", both, 1, 0, how_.hidden);
    c = slice(network_, name + "_c", both, 1, how_.hidden, how_.hidden);
}

Recurred Recurring::written_out(std::optional<Value> first_h, std::optional<Value> first_c) {
    if (steps_ > kMostWritten)
        throw Unsayable(fmt::format("all of its {} states are read, and a trace writes out up to {} steps",
                                    steps_, kMostWritten));
    Value h = state(first_h, "_h"), c = h;
    if (how_.cell == Cell::Lstm) c = state(first_c, "_c");
    std::vector<Value> states(static_cast<std::size_t>(steps_));
    for (std::int64_t number = 0; number < steps_; ++number) {
        step(number, h, c);
        states[static_cast<std::size_t>(how_.reverse ? steps_ - 1 - number : number)] =
            network_.reshape(h, {1, batch_, how_.hidden});
    }
    Recurred result;
    if (how_.all_steps) result.steps = concat(network_, name_ + "_states", states, 0);
    result.h = h;
    if (how_.cell == Cell::Lstm) result.c = c;
    return result;
}

Recurred Recurring::repeated(std::optional<Value> first_h, std::optional<Value> first_c) {
    const bool lstm = how_.cell == Cell::Lstm;
    Value first = state(first_h, "_h");
    if (lstm) first = concat(network_, name_ + "_state", {first, state(first_c, "_c")}, 1);
    const Shape shape{batch_, (lstm ? 2 : 1) * how_.hidden};
    // The layer before a block is what enters its first turn: views of what else it reads come before that.
    const TensorId gates = network_.tensor(gates_, {steps_, batch_, columns_});
    const TensorId held = network_.tensor(first, shape);
    Step before{name_ + "_first", "reshape", {held}};
    before.keys = fmt::format(", shape: [{}, {}]", shape[0], shape[1]);
    const Value begin = network_.make(std::move(before), shape, Arrangement(shape), dtype_);
    Step block{name_, "block", {network_.tensor(begin), gates}};
    block.turns = steps_;
    block.keys = fmt::format("{}", steps_);
    const std::string turn = how_.reverse ? fmt::format("{} - turn", steps_ - 1) : "turn";
    const std::string h = lstm ? "h" : "block_in",
                      bias = how_.bias && how_.cell == Cell::Gru ? ", bias: true" : "";
    auto& inside = block.inside;
    inside.emplace_back("step", fmt::format("op: slice, in: @1, axis: 0, begin: {}, size: 1", turn));
    inside.emplace_back("input", fmt::format("op: reshape, shape: [{}, {}]", batch_, columns_));
    if (lstm) {
        inside.emplace_back("h", fmt::format("op: slice, in: block_in, begin: 0, size: {}", how_.hidden));
        inside.emplace_back("c", fmt::format("op: slice, in: block_in, begin: {0}, size: {0}", how_.hidden));
    }
    inside.emplace_back("from_state", fmt::format("op: matmul, in: {}, n: {}{}", h, columns_, bias));
    if (how_.cell == Cell::Gru) {
        inside.emplace_back("cell", "op: gru_cell, in: [input, from_state, block_in]");
    } else {
        inside.emplace_back("gates", fmt::format("op: elementwise, kind: add, in: [from_state, input]{}",
                                                 lstm ? "" : ", activation: tanh"));
        if (lstm) inside.emplace_back("cell", "op: lstm_cell, in: [gates, c]");
    }
    const Value last = network_.make(std::move(block), shape, Arrangement(shape), dtype_);
    Recurred result;
    result.h = lstm ? slice(network_, name_ + "_h", last, 1, 0, how_.hidden) : last;
    if (lstm) result.c = slice(network_, name_ + "_c", last, 1, how_.hidden, how_.hidden);
    return result;
}

}  // namespace

Recurred recur(Network& network, const std::string& name, Value x, const Recurrence& how,
               std::optional<Value> h, std::optional<Value> c) {
    Recurring recurring(network, name, x, how);
    const std::int64_t steps = network.shape(x)[0];
    if (steps > 1)
        network.note(
            fmt::format("'{}': each of its {} steps stores the weights of its state again, for no two "
                        "layers of a trace share any",
                        name, steps));
    return how.all_steps || steps == 1 ? recurring.written_out(h, c) : recurring.repeated(h, c);
}

}  // namespace systole
