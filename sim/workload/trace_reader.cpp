// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/trace_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "sim/base/text.h"
#include "sim/config/schema.h"
#include "sim/workload/batch_reader.h"
#include "sim/workload/layer_dtypes.h"
#include "sim/workload/serving_reader.h"
#include "sim/workload/training_reader.h"

namespace systole {
namespace {

/// What stands where a list is wanted.
std::string_view found(const config::YamlNode& node) {
    return node.kind == config::YamlNode::Kind::Sequence ? "an empty one" : config::to_string(node.kind);
}

using config::YamlEntry;
using config::YamlNode;

// A bound on hostile input, as kMaxLayers is. The deepest published networks have some thousand layers and
// two levels of blocks.
constexpr int kMaxDepth = 16;

std::string subject_of(const YamlNode& item, std::string_view kind) {
    const YamlNode* name = item.find("name");
    const bool named = name && name->kind == YamlNode::Kind::Scalar;
    return named ? fmt::format("{} '{}'", kind, excerpt(name->scalar)) : std::string(kind);
}

}  // namespace

TraceReader::TraceReader(const YamlNode& document, const std::vector<TraceOverride>& overrides)
    : document_(&config::of_schema(document, kTraceSchema)),
      parameters_(document.find("params"), overrides, mistakes_),
      builder_("", mistakes_) {}

Graph TraceReader::read() {
    Keys keys(*document_, parameters_, mistakes_, "trace");
    builder_.rename(keys.text("trace", "the network's name"));
    keys.optional(config::kSchemaKey);  // checked already, and so was
    keys.optional("params");
    builder_.set_parameters(parameters_.declared());
    if (const YamlNode* serving = keys.optional("serving"))
        if (const auto step = read_serving(*serving, parameters_, mistakes_)) builder_.set_serving(*step);
    if (const YamlNode* batch = keys.optional("batch_of"))
        if (const auto of = read_batch_of(*batch, parameters_, mistakes_)) take_batch(*of, batch->where);
    if (const YamlNode* training = keys.optional("training"))
        if (auto how = read_training(*training, parameters_, mistakes_)) take_training(*how);
    const YamlNode* inputs =
        keys.required("inputs", "a map of tensors: {image: {shape: [1, 8, 8, 3], dtype: int8}}");
    const YamlNode* layers = keys.required("layers", "a list of layers");
    const YamlNode* outputs = keys.required("outputs", "a list of the layers that the outside reads");
    keys.finish();

    Scope scope;
    if (inputs) read_inputs(inputs, scope);
    if (layers) read_items(*layers, scope);
    if (outputs) read_outputs(outputs, scope);
    return builder_.finish(document_->where);
}

void TraceReader::take_training(const Training& how) {
    const std::optional<ServingStep>& step = builder_.serving();
    if (step && step->data_parallel != how.data_parallel)
        mistakes_.add(how.where, fmt::format("'serving' has {} replicas, but 'training' {}: 'data_parallel'",
                                             step->data_parallel, how.data_parallel));
    builder_.set_training(how);
}

void TraceReader::take_batch(const BatchOf& batch, const SourceMark& where) {
    if (builder_.serving())
        mistakes_.add(where,
                      "'serving' says already what is in the batch; expected one of 'serving' and "
                      "'batch_of'");
    builder_.set_batch_of(batch);
}

void TraceReader::read_inputs(const YamlNode* inputs, Scope& scope) {
    if (inputs->kind != YamlNode::Kind::Map || inputs->entries.empty()) {
        mistakes_.add(inputs->where,
                      fmt::format("'inputs' must be a map of tensors, not {}",
                                  inputs->kind == YamlNode::Kind::Map ? "an empty one"
                                                                      : config::to_string(inputs->kind)));
        return;
    }
    for (const YamlEntry& entry : inputs->entries) {
        const std::string subject = fmt::format("input '{}'", excerpt(entry.key));
        if (!is_name(entry.key))
            mistakes_.add(entry.where,
                          fmt::format("{}: a name has up to 100 letters, digits and '_'", subject));
        Named named;
        if (entry.value.kind == YamlNode::Kind::Map) {
            const std::size_t before = mistakes_.count();
            Keys keys(entry.value, parameters_, mistakes_, subject);
            const Shape shape = keys.integers("shape", 1);
            keys.required("dtype", "a dtype");
            const DType dtype = keys.dtype("dtype").value_or(DType::Bf16);
            const WeightFormat format = read_input_format(keys);
            if (format.among_numbers() && !shape.empty() && shape.back() % format.group != 0)
                keys.fail(fmt::format("blocks of {} that share a scale do not divide the {} columns",
                                      format.group, shape.back()),
                          "group");
            keys.finish();
            if (mistakes_.count() == before)
                named.tensor =
                    builder_.add_input(entry.key, shape, dtype, entry.where, TensorRole::Input, format);
        } else {
            mistakes_.add(entry.value.where, fmt::format("{} must be a map with 'shape' and 'dtype', not {}",
                                                         subject, config::to_string(entry.value.kind)));
        }
        declare(entry.key, named, entry.where, scope);
        if (inputs->entries.size() == 1)
            scope.previous = named;  // the first layer need not name the only input
    }
}

void TraceReader::read_outputs(const YamlNode* outputs, const Scope& scope) {
    if (outputs->kind != YamlNode::Kind::Sequence || outputs->items.empty()) {
        mistakes_.add(outputs->where,
                      fmt::format("'outputs' must be a list of layers, not {}", found(*outputs)));
        return;
    }
    std::set<TensorId> seen;
    for (const YamlNode& item : outputs->items) {
        const std::optional<Named> named = resolve(item, "outputs", scope);
        if (!named || !named->tensor) continue;
        if (builder_.is_input(*named->tensor))
            mistakes_.add(item.where,
                          fmt::format("outputs: '{}' is an input; expected a layer", item.scalar));
        else if (!seen.insert(*named->tensor).second)
            mistakes_.add(item.where, fmt::format("outputs: '{}' is listed twice", item.scalar));
        else
            builder_.add_output(*named->tensor);
    }
}

void TraceReader::read_items(const YamlNode& layers, Scope& scope) {
    if (layers.kind != YamlNode::Kind::Sequence || layers.items.empty()) {
        mistakes_.add(layers.where,
                      fmt::format("'layers' must be a list of at least one layer, not {}", found(layers)));
        return;
    }
    for (const YamlNode& item : layers.items) read_item(item, scope);
}

void TraceReader::give_up(const SourceMark& where) {
    mistakes_.add(where, fmt::format("more than {} layers, every turn of a repeated block counted",
                                     with_thousands(kMaxLayers)));
    mistakes_.throw_if_any();
}

void TraceReader::read_item(const YamlNode& item, Scope& scope) {
    if (++items_ > kMaxLayers) give_up(item.where);
    if (item.kind != YamlNode::Kind::Map) {
        mistakes_.add(item.where,
                      fmt::format("a layer must be a map with 'name' and 'op', or a block with 'name', "
                                  "'repeat' and 'layers', not {}",
                                  config::to_string(item.kind)));
        scope.previous = Named{};
    } else if (item.find("repeat")) {
        read_block(item, scope);
    } else {
        read_layer(item, scope);
    }
}

void TraceReader::read_block(const YamlNode& item, Scope& scope) {
    const std::size_t before = mistakes_.count();
    Keys keys(item, parameters_, mistakes_, subject_of(item, "block"));
    const std::string name = keys.name("name");
    const std::int64_t turns = keys.integer("repeat", 1);
    const std::string index = keys.has("index") ? keys.name("index") : "";
    keys.optional("index");
    const YamlNode* layers = keys.required("layers", "a list of layers");
    keys.finish();
    if (parameters_.has(index) || parse_dtype(index))
        keys.fail(fmt::format("the index '{}' has the name of a parameter or dtype", index), "index");
    // Told before the first turn, not after a million layers; both factors are below 2^31.
    if (layers && turns * static_cast<std::int64_t>(layers->items.size()) > kMaxLayers - items_)
        give_up(item.where);
    if (scope.depth() >= kMaxDepth)
        keys.fail(fmt::format("blocks nested deeper than {}", kMaxDepth), "repeat");

    Named result;
    if (mistakes_.count() == before) result = read_turns(*layers, turns, name, index, scope);
    declare(name, result, item.where, scope);
    scope.previous = result;
}

Named TraceReader::read_turns(const YamlNode& layers, std::int64_t turns, const std::string& name,
                              const std::string& index, Scope& scope) {
    const std::size_t before = mistakes_.count();
    std::optional<Named> flow = scope.previous;
    RepeatedBlock block{name, builder_.layers(), 0, builder_.tensors(), 0, static_cast<std::size_t>(turns)};
    for (std::int64_t turn = 0; turn < turns; ++turn) {
        Scope inner{&scope, fmt::format("{}{}.{}.", scope.prefix, name, turn), flow, flow, {}};
        if (!index.empty()) parameters_.bind(index, turn);
        read_items(layers, inner);
        flow = inner.previous;
        if (mistakes_.count() != before) {  // the next turn would only repeat them
            flow = Named{};
            break;
        }
        if (turn > 0) continue;
        block.layers = builder_.layers() - block.first_layer;
        block.tensors = builder_.tensors() - block.first_tensor;
    }
    if (!index.empty()) parameters_.unbind(index);
    const bool even = builder_.layers() == block.first_layer + block.layers * block.turns &&
                      builder_.tensors() == block.first_tensor + block.tensors * block.turns;
    if (scope.depth() == 0 && turns > 1 && even) builder_.add_block(std::move(block));
    return flow.value_or(Named{});
}

void TraceReader::read_layer(const YamlNode& item, Scope& scope) {
    const std::size_t before = mistakes_.count();
    Keys plain(item, parameters_, mistakes_, subject_of(item, "layer"));
    const std::string name = plain.name("name");
    const std::string op = plain.text("op", "an operator");
    const OpSyntax* syntax = find_op_syntax(op);
    if (!syntax && !op.empty()) {
        const std::vector<std::string> known = op_syntax_names();
        plain.fail(fmt::format("unknown operator '{}'{}; expected one of: {}", excerpt(op),
                               did_you_mean(op, known), fmt::join(known, ", ")),
                   "op");
    }
    Named result;
    if (syntax) {
        Keys keys(item, parameters_, mistakes_, subject_of(item, syntax->name));
        keys.optional("name"), keys.optional("op");
        const std::vector<TensorId> inputs = read_operands(keys, *syntax, scope);
        std::vector<const Tensor*> operands;
        for (const TensorId input : inputs) operands.push_back(&builder_.tensor(input));
        const LayerDtypes dtypes = read_dtypes(keys, op, operands.empty() ? nullptr : operands.front());
        LayerText text(keys, mistakes_, operands);
        const std::optional<LayerMeaning> meaning = syntax->read(text);
        keys.finish();
        if (meaning && mistakes_.count() == before)
            result.tensor = add(*meaning, {scope.prefix + name,
                                           {},
                                           inputs,
                                           meaning->output,
                                           dtypes.weights,
                                           meaning->dtype.value_or(dtypes.output),
                                           item.where});
    }
    declare(name, result, item.where, scope);
    scope.previous = result;
}

std::optional<TensorId> TraceReader::add(const LayerMeaning& meaning, LayerPlan plan) {
    if (meaning.replicas > 0)
        return builder_.add_replica(plan.name, plan.inputs.front(), meaning.replicas, plan.where);
    if (!meaning.op) return builder_.add_view(plan.name, plan.inputs.front(), plan.output, plan.where);
    plan.op = *meaning.op;
    return meaning.unfused ? builder_.add_unfused(plan) : builder_.add_layer(std::move(plan));
}

std::vector<TensorId> TraceReader::read_operands(Keys& keys, const OpSyntax& syntax, const Scope& scope) {
    std::vector<std::optional<Named>> found;
    const YamlNode* in = keys.optional("in");
    const bool list = in && in->kind == YamlNode::Kind::Sequence;
    const std::size_t count = list ? in->items.size() : 1;
    if (!in && syntax.operands == 1 && !scope.previous) {
        keys.fail("'in' is missing: there is no layer before, and not exactly one input");
        return {};
    }
    if (count < syntax.operands || (count > syntax.operands && !syntax.or_more)) {
        keys.fail(
            fmt::format("reads {}{} tensor{}, not {}{}", syntax.operands, syntax.or_more ? " or more" : "",
                        syntax.operands == 1 ? "" : "s", count, in ? "" : ": name them with 'in: [a, b]'"),
            "in");
        return {};
    }
    if (!in)
        found.push_back(scope.previous);
    else if (!list)
        found.push_back(resolve(*in, keys.subject(), scope));
    else
        for (const YamlNode& item : in->items) found.push_back(resolve(item, keys.subject(), scope));

    std::vector<TensorId> operands;
    for (const std::optional<Named>& named : found) {
        if (!named || !named->tensor) return {};
        operands.push_back(*named->tensor);
    }
    return operands;
}

std::optional<Named> TraceReader::resolve(const YamlNode& name, const std::string& subject,
                                          const Scope& scope) {
    if (name.kind != YamlNode::Kind::Scalar) {
        mistakes_.add(name.where, fmt::format("{}: expected the name of a tensor, not {}", subject,
                                              config::to_string(name.kind)));
        return std::nullopt;
    }
    const std::optional<Named> found = scope.find(name.scalar);
    if (found) return found;
    if (name.scalar == "block_in") {
        mistakes_.add(name.where, fmt::format("{}: nothing enters here as 'block_in': {}", subject,
                                              scope.outer ? "no layer stands before the block"
                                                          : "it stands only inside a repeated block"));
        return std::nullopt;
    }
    mistakes_.add(name.where,
                  fmt::format("{}: unknown tensor '{}'{}; expected an input or an earlier layer", subject,
                              excerpt(name.scalar), did_you_mean(name.scalar, scope.visible())));
    return std::nullopt;
}

void TraceReader::declare(const std::string& name, Named named, const SourceMark& where, Scope& scope) {
    if (name.empty()) return;
    if (name == "block_in")
        mistakes_.add(where, "'block_in' is what enters a repeated block; choose another name");
    else if (!scope.names.emplace(name, named).second)
        mistakes_.add(where, fmt::format("'{}' is the name of an input, layer or block already", name));
}

}  // namespace systole
