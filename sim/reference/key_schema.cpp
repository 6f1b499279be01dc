// SPDX-License-Identifier: Apache-2.0
#include "sim/reference/key_schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "sim/config/schema.h"
#include "sim/reference/schema_number.h"

namespace systole::reference {
namespace {

using config::Question;
using config::ValueKind;
using Json = nlohmann::ordered_json;

const Json kScalar = {"string", "number", "boolean"};
constexpr std::string_view kExtends =
    "another document of this kind, a name or a file, that this one changes";

void bound(Json& schema, const Key& key) {
    if (key.limits_follow) return;
    if (!key.asked.low.empty()) schema["minimum"] = Json::parse(key.asked.low);
    if (!key.asked.high.empty()) schema["maximum"] = Json::parse(key.asked.high);
}

/// A choice's names, and those that YAML takes for numbers as these, too.
Json names_of(const Question& asked) {
    Json names = Json::array();
    for (const std::string& name : asked.names) {
        names.push_back(name);
        if (const auto number = config::parse_integer(name, 0, 1'000'000'000).value) names.push_back(*number);
    }
    return names;
}

/// The value alone, without its origin.
Json plain(const Key& key) {
    const Question& asked = key.asked;
    Json schema;
    switch (asked.kind) {
        case ValueKind::Count:
            schema["type"] = "integer";
            bound(schema, key);
            break;
        case ValueKind::Number:
            schema["type"] = "number";
            bound(schema, key);
            break;
        case ValueKind::Quantity:
            schema["type"] = "string";
            schema["pattern"] = fmt::format("^(0|[1-9][0-9]*)(\\.[0-9]+)? *({})$",
                                            fmt::join(config::units_of(asked.dimension), "|"));
            break;
        case ValueKind::Flag:
            schema["enum"] = {true, false, "on", "off", "yes", "no"};
            break;
        case ValueKind::Choice:
            schema["enum"] = names_of(asked);
            break;
        case ValueKind::List:
            schema["type"] = "array";
            schema["items"]["type"] = kScalar;
            break;
        case ValueKind::Text:
            schema["type"] = kScalar;
    }
    return schema;
}

std::string description(const Key& key) {
    std::string text = key.asked.meaning;
    if (!key.asked.limits.empty()) text += fmt::format(" ({})", key.asked.limits);
    if (key.asked.fallback && !key.asked.fallback->empty() && !key.default_follows)
        text += fmt::format("; {} unless given", *key.asked.fallback);
    return text;
}

Json leaf(const Key& key) {
    const bool fitted = fmt::format(".{}", key.asked.path).find(".calibrated.") != std::string::npos;
    Json with_origin;
    with_origin["allOf"] = {Json{{"$ref", fitted ? "#/$defs/calibrated" : "#/$defs/origin"}},
                            Json{{"properties", {{"value", plain(key)}}}}};
    Json schema;
    schema["description"] = description(key);
    schema["anyOf"] = Json::array({plain(key), std::move(with_origin)});
    return schema;
}

Json text_of(std::string_view what) {
    return {{"description", what}, {"type", "string"}};
}

/// A map of keys, as yet without any.
Json section() {
    Json schema;
    schema["type"] = "object";
    schema["properties"]["preset"] =
        text_of("another document whose keys stand here; those given beside it change them");
    schema["additionalProperties"] = false;
    return schema;
}

/// `schema`, or what it takes besides: one path may mean two things, by what other keys say.
void join(Json& schema, Json other) {
    if (schema.is_null())
        schema = std::move(other);
    else
        schema = {{"anyOf", {std::move(schema), std::move(other)}}};
}

/// Puts a key's schema into `root`, with the maps that its path leads through.
void plant(Json& root, const Key& key) {
    Json* at = &root;
    std::string_view path = key.asked.path;
    for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
        const std::string name(path.substr(0, dot));
        Json& properties = (*at)["properties"];
        if (!properties.contains(name)) properties[name] = section();
        at = &properties[name];
        path.remove_prefix(dot + 1);
    }
    if (path == config::Survey::kAnyKey)
        (*at)["additionalProperties"] = leaf(key);
    else
        join((*at)["properties"][std::string(path)], leaf(key));
}

/// What must be there in a document that builds on none: in maps that name no preset.
void require(Json& root, const Key& key) {
    Json* at = &root;
    const std::string_view whole = key.asked.path;
    std::string_view path = whole;
    const auto add = [&](const std::string& name) {
        Json& required = (*at)["required"];
        if (std::find(required.begin(), required.end(), Json(name)) == required.end())
            required.push_back(name);
    };
    for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
        const std::string name(path.substr(0, dot));
        const bool is_optional = whole.substr(0, whole.size() - path.size() + dot) == key.section;
        if (!is_optional) add(name);
        Json& under = (*at)["properties"][name];
        if (under.is_null()) under["if"]["not"]["required"] = {"preset"};
        at = &under["then"];
        path.remove_prefix(dot + 1);
    }
    add(std::string(path));
}

Json origin(const std::vector<std::string>& names) {
    Json schema;
    schema["description"] = "a value and where it comes from";
    schema["type"] = "object";
    schema["properties"]["value"] = true;
    Json one = Json::array();
    for (const std::string& name : names) {
        schema["properties"][name] = {{"type", kScalar}};
        one.push_back({{"required", {name}}});
    }
    schema["properties"]["range"] = text_of("plausible values, low..high");
    schema["additionalProperties"] = false;
    schema["required"] = {"value"};
    schema["oneOf"] = std::move(one);
    schema["dependentRequired"] = {{"assumed", {"range"}}, {"calibrated", {"range"}}};
    return schema;
}

/// A document with these keys, and what must be there where it extends no other.
void define(Json& schema, const std::string& name, const SchemaHead& head,
            const std::vector<const Key*>& keys) {
    Json document = section();
    document["properties"].erase("preset");
    document["properties"][head.title_key] = text_of("the title");
    document["properties"]["extends"] = text_of(kExtends);
    document["properties"]["schema"] = schema_number(config::configuration_schema(head.title_key));
    Json complete = Json::object();
    for (const Key* key : keys) {
        plant(document, *key);
        const bool always =
            key->when.empty() || (head.by_kind && key->when.size() == 1 && key->when[0].path == "kind");
        if (key->is_required && always && !head.is_part) require(complete, *key);
    }
    document["if"]["not"]["required"] = {"extends"};
    document["then"] = std::move(complete);
    schema["$defs"][name] = std::move(document);
}

Json reference_to(const std::string& name) {
    return {{"$ref", "#/$defs/" + name}};
}

/// Documents say which kind they are, or extend one that does.
void choose_by_kind(Json& schema, const SchemaHead& head, const std::vector<Key>& keys,
                    const std::vector<std::string>& kinds) {
    Json any = Json::array();
    for (const std::string& kind : kinds) {
        std::vector<const Key*> own;
        for (const Key& key : keys)
            if (const auto only = key.only_for("kind");
                only.empty() || std::ranges::find(only, kind) != only.end())
                own.push_back(&key);
        define(schema, kind, head, own);
        any.push_back(reference_to(kind));
    }
    Json otherwise{{"anyOf", std::move(any)}};
    for (const std::string& kind : kinds) {
        Json choice;
        choice["if"]["required"] = {"kind"};
        choice["if"]["properties"]["kind"]["anyOf"] = {
            Json{{"const", kind}},
            Json{
                {"type", "object"}, {"required", {"value"}}, {"properties", {{"value", {{"const", kind}}}}}}};
        choice["then"] = reference_to(kind);
        choice["else"] = std::move(otherwise);
        otherwise = std::move(choice);
    }
    schema.update(otherwise);
}

}  // namespace

std::string key_schema(const SchemaHead& head, const std::vector<Key>& keys) {
    Json schema;
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
    schema["title"] = head.title;
    schema["$defs"]["origin"] = origin({"sourced", "derived", "assumed", "set", "default"});
    schema["$defs"]["calibrated"] = origin({"sourced", "derived", "assumed", "calibrated", "set", "default"});
    std::vector<std::string> kinds;
    std::vector<const Key*> all;
    for (const Key& key : keys) {
        all.push_back(&key);
        if (head.by_kind && key.asked.path == "kind") kinds = key.asked.names;
    }
    schema["type"] = "object";
    if (kinds.empty()) {
        define(schema, "document", head, all);
        schema["allOf"] = Json::array({reference_to("document")});
    } else {
        choose_by_kind(schema, head, keys, kinds);
    }
    return schema.dump(1, ' ') + '\n';
}

}  // namespace systole::reference
