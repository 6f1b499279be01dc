// SPDX-License-Identifier: Apache-2.0
#include "sim/reference/trace_pages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "sim/base/batch_of.h"
#include "sim/reference/key_pages.h"
#include "sim/reference/operators.h"
#include "sim/reference/schema_number.h"
#include "sim/workload/dtype.h"
#include "sim/workload/key_meanings.h"
#include "sim/workload/operators.h"
#include "sim/workload/training_reader.h"

namespace systole::reference {
namespace {

using Json = nlohmann::ordered_json;

std::string takes(const KeyQuestion& key) {
    switch (key.kind) {
        case KeyKind::Integer:
            return fmt::format("an integer, {} or more", key.low);
        case KeyKind::Pair:
            return "n or [h, w]";
        case KeyKind::Triple:
            return "n or [d, h, w]";
        case KeyKind::Sides:
            return "n or [top, left, bottom, right]";
        case KeyKind::Integers:
            return fmt::format("a list of integers, {} or more", key.low);
        case KeyKind::Flag:
        case KeyKind::Choice:
            return fmt::format("`{}`", fmt::join(key.names, "`, `"));
        case KeyKind::DType:
            return "a number format";
        case KeyKind::Name:
            return "a name";
        case KeyKind::Text:
        case KeyKind::Other:
            break;
    }
    return "text";
}

std::string default_of(const KeyQuestion& key) {
    if (key.fallback) return fmt::format("`{}`", *key.fallback);
    return key.is_required ? "**required**" : "optional";
}

std::string meaning_of(const OperatorKeys& op, const KeyQuestion& key) {
    const KeyMeaning* const known = find_key_meaning(op.name, key.key);
    return known ? std::string(known->text) : "";
}

Json reference_to(const std::string& name) {
    return {{"$ref", "#/$defs/" + name}};
}

Json integer(std::int64_t low) {
    return {{"anyOf", {Json{{"type", "integer"}, {"minimum", low}}, reference_to("expression")}}};
}

Json schema_of(const KeyQuestion& key) {
    const auto or_list = [&](int length) {
        Json list{{"type", "array"}, {"items", integer(key.low)}, {"minItems", length}, {"maxItems", length}};
        return Json{{"anyOf", {integer(key.low), std::move(list)}}};
    };
    Json schema;
    switch (key.kind) {
        case KeyKind::Integer:
            return integer(key.low);
        case KeyKind::Pair:
            return or_list(2);
        case KeyKind::Triple:
            return or_list(3);
        case KeyKind::Sides:
            return or_list(4);
        case KeyKind::Integers:
            return {{"type", "array"}, {"items", integer(key.low)}, {"minItems", 1}, {"maxItems", 8}};
        case KeyKind::Flag:
            return {{"type", "boolean"}};
        case KeyKind::Choice:
            return {{"enum", key.names}};
        case KeyKind::DType:
            return reference_to("dtype");
        case KeyKind::Name:
            return reference_to("name");
        case KeyKind::Text:
        case KeyKind::Other:
            break;
    }
    return {{"type", "string"}};
}

/// A map with these keys and no others.
Json map_of(Json properties, const std::vector<std::string>& required = {}) {
    Json schema{{"type", "object"}, {"properties", std::move(properties)}};
    if (!required.empty()) schema["required"] = required;
    schema["additionalProperties"] = false;
    return schema;
}

Json layer_of(const OperatorKeys& op) {
    Json properties{
        {"name", reference_to("name")}, {"op", {{"const", op.name}}}, {"in", reference_to("tensors")}};
    std::vector<std::string> required{"name", "op"};
    for (const KeyQuestion& key : op.keys) {
        std::string description = meaning_of(op, key);
        if (key.fallback) description += fmt::format("; {} unless given", *key.fallback);
        properties[key.key] = schema_of(key);
        properties[key.key]["description"] = std::move(description);
        if (key.is_required) required.push_back(key.key);
    }
    if (op.operands > 1) required.emplace_back("in");
    return map_of(std::move(properties), required);
}

/// Each layer by its own operator, so that an editor names the key that is wrong.
Json layer(const std::vector<OperatorKeys>& ops) {
    Json names = Json::array(), all = Json::array();
    for (const OperatorKeys& op : ops) {
        names.push_back(op.name);
        all.push_back({{"if", {{"properties", {{"op", {{"const", op.name}}}}}, {"required", {"op"}}}},
                       {"then", layer_of(op)}});
    }
    return {{"type", "object"},
            {"properties", {{"op", {{"enum", std::move(names)}}}}},
            {"required", {"name", "op"}},
            {"allOf", std::move(all)}};
}

Json batch_of() {
    Json properties;
    for (const std::string& name : batch_item_names()) properties[name] = integer(1);
    Json schema = map_of(std::move(properties));
    schema["minProperties"] = schema["maxProperties"] = 1;
    return schema;
}

Json serving() {
    return map_of({{"phase", {{"enum", phase_names()}}},
                   {"batch", integer(1)},
                   {"context", integer(1)},
                   {"new_tokens", integer(1)},
                   {"tensor_parallel", integer(1)},
                   {"data_parallel", integer(1)}},
                  {"phase", "batch", "context"});
}

Json training() {
    return map_of({{"optimizer", {{"enum", optimizer_names()}}},
                   {"gradients", reference_to("dtype")},
                   {"data_parallel", integer(1)},
                   {"recompute", {{"enum", recompute_names()}}}},
                  {"optimizer"});
}

Json input() {
    return map_of({{"shape", {{"type", "array"}, {"items", integer(1)}, {"minItems", 1}, {"maxItems", 8}}},
                   {"dtype", reference_to("dtype")},
                   {"scales", {{"enum", {"none", "block"}}}},
                   {"group", integer(1)},
                   {"scale_dtype", reference_to("dtype")}},
                  {"shape", "dtype"});
}

Json block() {
    return map_of({{"name", reference_to("name")},
                   {"repeat", integer(1)},
                   {"index", reference_to("name")},
                   {"layers", reference_to("layers")}},
                  {"name", "repeat", "layers"});
}

void define(Json& defs) {
    defs["name"] = {{"type", "string"}, {"pattern", "^[A-Za-z_][A-Za-z0-9_]{0,99}$"}};
    defs["expression"] = {
        {"description", "of parameters: \"4 * hidden\""}, {"type", "string"}, {"minLength", 1}};
    defs["dtype"] = {{"description", "a number format, or a parameter that names one"},
                     {"anyOf", {Json{{"enum", dtype_names()}}, reference_to("name")}}};
    defs["tensors"] = {
        {"description", "inputs, earlier layers, or block_in"},
        {"anyOf", {reference_to("name"), Json{{"type", "array"}, {"items", reference_to("name")}}}}};
    defs["layers"] = {{"type", "array"},
                      {"minItems", 1},
                      {"items",
                       {{"if", {{"type", "object"}, {"required", {"repeat"}}}},
                        {"then", reference_to("block")},
                        {"else", reference_to("layer")}}}};
    defs["block"] = block();
    defs["layer"] = layer(operator_keys());
}

}  // namespace

std::string operator_page() {
    std::string text =
        "# Operators of traces\n\n"
        "Written by `tools/reference` from what the readers ask for; do not edit. Every layer has a `name` "
        "and an `op`,\n"
        "and `in` where it does not read the layer before. Integers may be expressions of parameters, and a "
        "number\n"
        "format the name of a parameter. What each operator computes, and which keys call for each other, is "
        "in\n"
        "[formats](../formats.md#trace-yaml); number formats are ";
    text += fmt::format("`{}`.\n", fmt::join(dtype_names(), "`, `"));
    for (const OperatorKeys& op : operator_keys()) {
        text += fmt::format(
            "\n## {}\n\nReads {}{} tensor{}.\n\n| key | takes | default | meaning |\n|---|---|---|---|\n",
            op.name, op.operands, op.or_more ? " or more" : "", op.operands == 1 && !op.or_more ? "" : "s");
        for (const KeyQuestion& key : op.keys)
            text += fmt::format("| `{}` | {} | {} | {}. |\n", key.key, takes(key), default_of(key),
                                cell(meaning_of(op, key)));
    }
    return text;
}

std::string trace_schema() {
    Json schema;
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
    schema["title"] = "A trace of Systole";
    Json params{{"type", "object"}, {"additionalProperties", {{"type", {"integer", "string"}}}}};
    Json document =
        map_of({{"trace", {{"type", "string"}}},
                {"schema", schema_number(kTraceSchema)},
                {"params", std::move(params)},
                {"serving", serving()},
                {"batch_of", batch_of()},
                {"training", training()},
                {"inputs", {{"type", "object"}, {"minProperties", 1}, {"additionalProperties", input()}}},
                {"layers", reference_to("layers")},
                {"outputs", {{"type", "array"}, {"minItems", 1}, {"items", reference_to("name")}}}},
               {"trace", "inputs", "layers", "outputs"});
    schema.update(document);
    define(schema["$defs"]);
    return schema.dump(1, ' ') + '\n';
}

}  // namespace systole::reference
