// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/onnx/translator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "sim/base/error.h"
#include "sim/base/utf8.h"
#include "sim/workload/importers/onnx/infer.h"
#include "sim/workload/importers/onnx/node.h"
#include "sim/workload/importers/onnx/ops.h"
#include "sim/workload/operator_shapes.h"
#include "sim/workload/parameters.h"

namespace systole {
namespace {

constexpr int kDeepest = 32;  // graphs within graphs

std::string shown(const std::string& name) {
    return printable(excerpt(name));
}

/// "ai.onnx" is the domain without a name.
std::string plain_domain(const std::string& domain) {
    return domain == "ai.onnx" ? "" : domain;
}

}  // namespace

Translator::Translator(const onnx::ModelProto& model, const std::string& file, const OnnxChoices& choices)
    : model_(model), file_(file), choices_(choices) {
    for (const onnx::OperatorSetIdProto& import : model.opset_import())
        opsets_[plain_domain(import.domain())] = import.version();
    for (const onnx::FunctionProto& function : model.functions())
        functions_[function.domain() + "\n" + function.name()] = &function;
    count_readers(model.graph().node());
    for (const onnx::FunctionProto& function : model.functions()) {
        count_readers(function.node());
        for (const std::string& name : function.output()) ++readers_[name];
    }
    for (const onnx::ValueInfoProto& value : model.graph().output()) ++readers_[value.name()];
    add_known_shapes(model.graph());
}

void Translator::add_known_shapes(const onnx::GraphProto& graph) {
    for (const onnx::ValueInfoProto& value : graph.value_info()) recorded_[value.name()] = &value.type();
    for (const onnx::ValueInfoProto& value : graph.output()) recorded_[value.name()] = &value.type();
}

void Translator::count_readers(const NodeList& nodes) {
    for (const onnx::NodeProto& node : nodes) {
        for (const std::string& name : node.input()) ++readers_[name];
        for (const onnx::AttributeProto& attribute : node.attribute()) {
            if (!attribute.has_g()) continue;
            count_readers(attribute.g().node());
            for (const onnx::ValueInfoProto& value : attribute.g().output()) ++readers_[value.name()];
        }
    }
}

std::int64_t Translator::opset(const std::string& domain) const {
    const auto found = opsets_.find(plain_domain(domain));
    return found == opsets_.end() ? 0 : found->second;
}

const onnx::FunctionProto* Translator::function(const onnx::NodeProto& node) const {
    const auto found = functions_.find(node.domain() + "\n" + node.op_type());
    return found == functions_.end() ? nullptr : found->second;
}

Value Translator::value_of(Held& held) {
    if (held.source == Held::Source::Unknown)
        throw Unsayable(fmt::format("it reads '{}', {}", shown(held.name), held.why));
    if (held.zeros_before) {
        // What reads it is no convolution: the zeros are joined to it.
        Shape before(2, 0), behind(2, 0);
        before.insert(before.end(), held.zeros_before->begin(), held.zeros_before->end());
        behind.insert(behind.end(), held.zeros_behind->begin(), held.zeros_behind->end());
        held.value = materialized(network_, held.name, *held.value, before, behind);
        held.zeros_before.reset(), held.zeros_behind.reset();
    }
    if (held.value) return *held.value;
    const std::optional<DType> dtype = dtype_of(held.type);
    if (!dtype) throw Unsayable(fmt::format("'{}' holds no numbers that a trace has", shown(held.name)));
    held.value = held.source == Held::Source::Input ? network_.input(held.name, held.shape, *dtype)
                                                    : network_.stored(held.name, held.shape, *dtype);
    return *held.value;
}

std::vector<const onnx::NodeProto*> Translator::ordered(const NodeList& nodes) const {
    return ordered_nodes(nodes, file_);
}

void Translator::walk(const std::vector<const onnx::NodeProto*>& nodes, OnnxScope& scope) {
    if (depth_ >= kDeepest) throw Unsayable(fmt::format("graphs are nested deeper than {}", kDeepest));
    ++depth_;
    for (const onnx::NodeProto* const node : nodes) translate(*node, scope);
    --depth_;
}

void Translator::walk_function(const onnx::FunctionProto& function, const NodeList& nodes, OnnxScope& scope) {
    const std::map<std::string, std::int64_t> around = opsets_;
    if (function.opset_import_size() > 0) opsets_.clear();
    for (const onnx::OperatorSetIdProto& import : function.opset_import())
        opsets_[plain_domain(import.domain())] = import.version();
    try {
        walk(ordered(nodes), scope);
    } catch (const Unsayable&) {
        opsets_ = around;
        throw;
    }
    opsets_ = around;
}

void Translator::count_turn() {
    ++turns_;
    expect_few();
}

void Translator::expect_few() const {
    constexpr std::size_t kMost = 200'000;
    if (nodes_ + turns_ > kMost)
        throw UserError({file_}, fmt::format("more than {} nodes, every turn of a loop counted", kMost));
}

void Translator::translate(const onnx::NodeProto& proto, OnnxScope& scope) {
    ++nodes_;
    expect_few();
    const std::size_t before = network_.layers();
    const int depth = depth_;
    try {
        Node node(proto, *this, scope);
        if (!fold(node)) {
            const Meaning meaning = meaning_of(proto, function(proto) != nullptr);
            if (meaning == nullptr) throw Unsayable("a trace has no such operator");
            meaning(node);
        }
        if (network_.layers() > before)
            mapped_.emplace_back(before, network_.layers());
        else
            ++views_;
        if (&scope == &top_) compare_shapes(proto);
    } catch (const Unsayable& reason) {
        depth_ = depth;
        if (is_stored(proto, scope))
            ++views_;
        else
            list(proto, scope, reason.what());
    }
}

void Translator::compare_shapes(const onnx::NodeProto& node) {
    constexpr std::size_t kMostTold = 8;
    for (const std::string& name : node.output()) {
        const auto recorded = recorded_.find(name);
        const auto made = top_.names.find(name);
        if (recorded == recorded_.end() || made == top_.names.end()) continue;
        const std::optional<Shape> shape = whole_shape(*recorded->second, choices_.dims);
        if (!shape || *shape == made->second.shape || ++different_ > kMostTold) continue;
        network_.note(fmt::format("{} ({}): what it makes, '{}', is {}, and the file records {}",
                                  node_title(node), shown(node.op_type()), shown(name),
                                  to_string(made->second.shape), to_string(*shape)));
    }
}

/// Whether all that the node reads is stored: then what it makes is a constant, too. Puts it, if its shape is
/// known.
bool Translator::is_stored(const onnx::NodeProto& node, OnnxScope& scope) {
    if (node.input_size() == 0 || node.op_type().starts_with("Random") || node.op_type() == "Bernoulli" ||
        node.op_type() == "Multinomial")
        return false;
    for (const std::string& name : node.input()) {
        const Held* const held = name.empty() ? nullptr : scope.find(name);
        if (!name.empty() && (held == nullptr || held->source != Held::Source::Stored)) return false;
    }
    const auto inferred = inferred_outputs(node, scope);
    for (const auto& output : inferred)
        if (!output || !dtype_of(output->type)) return false;
    for (int i = 0; i < node.output_size(); ++i) {
        const InferredOutput& output = *inferred[static_cast<std::size_t>(i)];
        if (!node.output(i).empty())
            scope.names[node.output(i)] = {node.output(i), Held::Source::Stored, output.shape, output.type};
    }
    return true;
}

void Translator::list(const onnx::NodeProto& node, OnnxScope& scope, const std::string& why) {
    const std::string domain = plain_domain(node.domain());
    listed_.push_back(fmt::format("{} ({}{}{}): {}", node_title(node), shown(domain),
                                  domain.empty() ? "" : ".", shown(node.op_type()), why));
    for (const std::string& name : node.input()) {
        const Held* const held = name.empty() ? nullptr : scope.find(name);
        if (held != nullptr && held->source == Held::Source::Made) network_.keep(*held->value);
    }
    std::optional<std::vector<std::optional<InferredOutput>>> inferred;
    for (int i = 0; i < node.output_size(); ++i) {
        const std::string& name = node.output(i);
        if (name.empty()) continue;
        Held held{name};
        std::optional<InferredOutput> known;
        const auto recorded = recorded_.find(name);
        if (recorded != recorded_.end())
            if (const auto shape = whole_shape(*recorded->second, choices_.dims))
                known = InferredOutput{*shape, recorded->second->tensor_type().elem_type()};
        if (!known) {
            if (!inferred) inferred = inferred_outputs(node, scope);
            known = (*inferred)[static_cast<std::size_t>(i)];
        }
        if (known && dtype_of(known->type) && elements(known->shape) > 0) {
            held.source = Held::Source::Input;
            held.shape = known->shape;
            held.type = known->type;
        } else {
            held.why = fmt::format("whose shape is not known: {} is not in the trace", node_title(node));
        }
        scope.names[name] = std::move(held);
    }
}

std::vector<std::optional<InferredOutput>> Translator::inferred_outputs(const onnx::NodeProto& node,
                                                                        OnnxScope& scope) {
    constexpr std::size_t kMostAsked = 1000;  // nodes: each takes some milliseconds
    if (++asked_ > kMostAsked)
        return std::vector<std::optional<InferredOutput>>(static_cast<std::size_t>(node.output_size()));
    return infer_outputs(node, scope, opset(node.domain()));
}

void Translator::put_outputs() {
    std::vector<std::string> missing;
    for (const onnx::ValueInfoProto& output : model_.graph().output()) {
        Held* const held = top_.find(output.name());
        const bool made = held != nullptr && held->source == Held::Source::Made;
        if (!made) {
            missing.push_back(fmt::format("'{}'", shown(output.name())));
            continue;
        }
        try {
            if (!network_.output(value_of(*held)))
                missing.push_back(fmt::format("'{}' (a view of an input)", shown(output.name())));
        } catch (const Unsayable& reason) {
            missing.push_back(fmt::format("'{}' ({})", shown(output.name()), reason.what()));
        }
    }
    if (!missing.empty())
        listed_.push_back(fmt::format("output{} {}: not made by any layer", missing.size() == 1 ? "" : "s",
                                      fmt::join(missing, ", ")));
}

void Translator::expect_used_choices() const {
    for (const auto& [node, branch] : choices_.branches)
        if (std::ranges::find(used_branches_, node) == used_branches_.end())
            throw UserError({file_},
                            fmt::format("--branch {}: no If node that needs a choice has that name{}",
                                        shown(node), did_you_mean(node, used_branches_)));
}

std::string Translator::counts(std::size_t listed) const {
    const auto lost = static_cast<std::size_t>(std::ranges::count_if(
        mapped_, [&](const auto& layers) { return !network_.reaches_output(layers.first, layers.second); }));
    std::string text = fmt::format("{} of {} nodes became {} layer{}; {} are views or constants; {} listed",
                                   mapped_.size() - lost, nodes_, network_.written(),
                                   network_.written() == 1 ? "" : "s", views_, listed);
    if (lost > 0)
        text += fmt::format("; {} reach{} no output and {} not in the trace", lost, lost == 1 ? "es" : "",
                            lost == 1 ? "is" : "are");
    return text;
}

Imported Translator::run() {
    add_initializers(model_.graph(), top_);
    bind_inputs();
    try {
        walk(ordered(model_.graph().node()), top_);
    } catch (const Unsayable& reason) {
        throw UserError({file_}, reason.what());
    }
    const std::size_t nodes = listed_.size();
    put_outputs();
    expect_used_choices();
    Imported imported;
    try {
        imported = network_.finish(std::filesystem::path(file_).stem().string(),
                                   {"Imported from an ONNX model."}, file_);
    } catch (const Unsayable& reason) {
        throw UserError({file_}, fmt::format("nothing of it could be mapped: {}{}", reason.what(),
                                             listed_.empty() ? "" : fmt::format("; {}", listed_.front())));
    }
    std::vector<ImportNote> notes;
    for (std::string& text : listed_) notes.push_back({{file_, 0, 0}, std::move(text)});
    notes.insert(notes.end(), imported.notes.begin(), imported.notes.end());
    notes.push_back({{file_, 0, 0}, counts(nodes)});
    imported.notes = std::move(notes);
    return imported;
}

}  // namespace systole
