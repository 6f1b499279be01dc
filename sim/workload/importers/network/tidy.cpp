// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/network/tidy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <set>
#include <string_view>

#include "sim/workload/importers/network/recognize.h"
#include "sim/workload/importers/trace_writer.h"
#include "sim/workload/operators.h"

namespace systole {
namespace {

/// Whether these are all columns of a layer's output, one each.
bool each_column(const Step& step, const Shape& stored) {
    if (!step.columns) return false;
    std::int64_t count = 1;
    for (const std::int64_t extent : stored) count *= extent;
    return count == *step.columns && stored.back() == count;
}

/// `dtype` is what floating-point tensors are of.
std::string_view dtype_text(DType dtype) {
    return dtype == Network::kFloat ? "dtype" : to_string(dtype);
}

bool moves_bits(const Step& step) {
    static constexpr std::array<std::string_view, 5> kMoving = {"reshape", "concat", "slice", "gather",
                                                                "embedding"};
    for (const std::string_view op : kMoving)
        if (op == step.op) return true;
    return false;
}

}  // namespace

Tidy::Tidy(Network& network) : network_(network), dropped_(network.steps_.size(), false) {
    count_readers();
}

void Tidy::count_readers() {
    readers_.assign(network_.tensors_.size(), 0);
    for (const TensorId id : network_.outputs_) ++readers_[id];
    for (std::size_t i = 0; i < network_.steps_.size(); ++i)
        if (!dropped_[i])
            for (const TensorId id : network_.steps_[i].in) ++readers_[id];
    read_.assign(readers_.size(), false);
    for (std::size_t id = 0; id < readers_.size(); ++id) read_[id] = readers_[id] > 0;
}

void Tidy::drop_unread() {
    for (std::size_t i = network_.steps_.size(); i-- > 0;) {
        const Step& step = network_.steps_[i];
        if (dropped_[i] || readers_[step.out] > 0) continue;
        dropped_[i] = true;
        for (const TensorId id : step.in) --readers_[id];
    }
    count_readers();
}

Step* Tidy::producer_of(const Step& step) {
    if (step.in.size() != 1 || readers_[step.in[0]] != 1) return nullptr;
    const auto maker = network_.tensors_[step.in[0]].step;
    return maker ? &network_.steps_[*maker] : nullptr;
}

/// `into` makes what `step` made; `step` is gone.
void Tidy::join(Step& into, Step& step) {
    const std::size_t gone = static_cast<std::size_t>(&step - network_.steps_.data());
    const std::size_t kept = static_cast<std::size_t>(&into - network_.steps_.data());
    dropped_[gone] = true;
    readers_[into.out] = 0;
    into.out = step.out;
    network_.tensors_[into.out].step = kept;
}

void Tidy::join_biases() {
    for (Step& step : network_.steps_) {
        const std::size_t at = static_cast<std::size_t>(&step - network_.steps_.data());
        if (dropped_[at] || step.op != "elementwise" || !step.stored || !step.function.empty()) continue;
        Step* const into = producer_of(step);
        if (!into || !into->function.empty() || !each_column(*into, *step.stored)) continue;
        if (network_.tensors_[into->out].dtype != network_.tensors_[step.out].dtype) continue;
        const bool adds = step.keys == ", kind: add", factor = step.folds && step.keys == ", kind: mul";
        if (!factor && !(adds && (!into->bias || step.folds))) continue;
        if (adds) into->bias = true;
        if (step.folds) ++folded_;
        join(*into, step);
    }
    count_readers();
}

void Tidy::join_functions() {
    for (Step& step : network_.steps_) {
        const std::size_t at = static_cast<std::size_t>(&step - network_.steps_.data());
        if (dropped_[at] || step.op != "activation") continue;
        Step* const into = producer_of(step);
        if (!into || !into->takes_function || !into->function.empty()) continue;
        into->function = step.function;
        join(*into, step);
    }
    count_readers();
}

Imported Network::finish(std::string_view name, const std::vector<std::string>& about,
                         const std::string& file) {
    Tidy unread(*this);
    unread.drop_unread();
    unread_ = unread.dropped();
    Recognizer recognizer(*this, unread.dropped());
    recognizer.run();
    Tidy tidy(*this);
    tidy.drop_unread();
    tidy.join_biases();
    tidy.join_functions();
    tidy.drop_unread();
    TraceWriter trace(name, about, "dtype: bf16");
    std::vector<std::string> names(tensors_.size());
    std::vector<std::string> fed;
    std::set<TensorId> stored;
    for (const auto& [value, input] : fed_) stored.insert(*values_[input.index].tensor);
    for (std::size_t id = 0; id < tensors_.size(); ++id) {
        if (tensors_[id].step || !tidy.read()[id]) continue;
        names[id] = trace.name(tensors_[id].name);
        std::vector<std::string> shape;
        for (const std::int64_t extent : tensors_[id].shape) shape.push_back(fmt::format("{}", extent));
        trace.input(names[id], shape, dtype_text(tensors_[id].dtype));
        if (stored.contains(id)) fed.push_back(names[id]);
    }
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        if (tidy.dropped()[i]) continue;
        const Step& step = steps_[i];
        names[step.out] = trace.name(step.name);
        write_step(trace, step, names);
        written_ += step.op == "reshape" ? 0 : 1;
    }
    if (written_ == 0) throw Unsayable("no layer is left");
    for (const TensorId id : outputs_)
        if (tensors_[id].step) trace.output(names[id]);
    Imported imported{trace.str(), {}};
    for (std::string& text : notes_) imported.notes.push_back({{file, 0, 0}, std::move(text)});
    if (recognizer.found() > 0)
        imported.notes.push_back(
            {{file, 0, 0},
             fmt::format(
                 "{} time{} what is spelled out in the file is one layer (softmax, norms, gated units)",
                 recognizer.found(), recognizer.found() == 1 ? "" : "s")});
    if (tidy.folded() > 0)
        imported.notes.push_back(
            {{file, 0, 0},
             fmt::format("{} factor{} and shift{} of batch norms are in the weights and "
                         "biases before them",
                         tidy.folded(), tidy.folded() == 1 ? "" : "s", tidy.folded() == 1 ? "" : "s")});
    if (!fed.empty())
        imported.notes.push_back(
            {{file, 0, 0},
             fmt::format("{} stored tensor{} stand{} where a trace has none: {} of the trace ({})",
                         fed.size(), fed.size() == 1 ? "" : "s", fed.size() == 1 ? "s" : "",
                         fed.size() == 1 ? "an input" : "inputs", fmt::join(fed, ", "))});
    return imported;
}

void Network::write_step(TraceWriter& trace, const Step& step, const std::vector<std::string>& names) const {
    if (step.turns > 0) {
        TraceBlock block = trace.repeat(names[step.out], step.keys, "turn");
        for (const auto& [inner, keys] : step.inside) {
            std::string text;
            for (std::size_t at = 0; at < keys.size(); ++at) {
                if (keys[at] == '@')
                    text += names[step.in[static_cast<std::size_t>(keys[++at] - '0')]];
                else
                    text += keys[at];
            }
            block.layer(inner, text);
        }
        return;
    }
    std::string text = fmt::format("op: {}, in: ", step.op);
    std::vector<std::string> in;
    for (const TensorId id : step.in) in.push_back(names[id]);
    text += in.size() == 1 ? in[0] : fmt::format("[{}]", fmt::join(in, ", "));
    text += step.keys;
    if (step.stored) text += fmt::format(", stored: [{}]", fmt::join(*step.stored, ", "));
    if (step.bias) text += ", bias: true";
    if (step.weight_dtype) text += fmt::format(", weight_dtype: {}", dtype_text(*step.weight_dtype));
    if (!step.function.empty())
        text += fmt::format(", {}: {}", step.op == "activation" ? "function" : "activation", step.function);
    const DType usual = tensors_[step.in[0]].dtype, made = tensors_[step.out].dtype;
    const bool decided = step.op == "top_k" && made == DType::Int32;
    if (made != usual && !moves_bits(step) && !decided)
        text += fmt::format(", out_dtype: {}", dtype_text(made));
    trace.layer(names[step.out], text);
}

}  // namespace systole
