// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/json_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

namespace systole {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kDeepest = 64;
constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();

SourceMark place_at(std::string_view text, const std::string& file, std::size_t at) {
    at = std::min(at, text.size());
    const std::string_view before = text.substr(0, at);
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::size_t begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return {file, static_cast<int>(line), static_cast<int>(at - begin) + 1};
}

/// What the parser's callback finds too much: it sees each key and each bracket as they come.
class Guard {
public:
    bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
        if (depth > static_cast<int>(kDeepest)) too_deep = true;
        if (event == Json::parse_event_t::key && depth == 1 &&
            !keys_.insert(parsed.get<std::string>()).second)
            twice = parsed.get<std::string>();
        return !too_deep;
    }
    bool too_deep = false;
    std::string twice;

private:
    std::set<std::string> keys_;
};

}  // namespace

JsonObject::JsonObject(std::string_view text, const std::string& file)
    : text_(text), file_(file), root_(std::make_unique<Json>()) {
    Guard guard;
    try {
        *root_ = Json::parse(text, [&](int depth, Json::parse_event_t event, Json& parsed) {
            return guard(depth, event, parsed);
        });
    } catch (const Json::parse_error& error) {
        throw UserError(place_at(text, file, error.byte == 0 ? 0 : error.byte - 1),
                        "this is no JSON: something else was expected here");
    } catch (const Json::exception&) {
        throw UserError({file, 1, 1}, "a number in it is too large to be read");
    }
    if (guard.too_deep) throw UserError({file, 1, 1}, fmt::format("it is nested deeper than {}", kDeepest));
    if (!root_->is_object())
        throw UserError({file, 1, 1}, "expected an object with the keys of a config.json");
    if (!guard.twice.empty())
        throw UserError(place_of(guard.twice.c_str()),
                        fmt::format("'{}' is there twice", excerpt(guard.twice)));
}

JsonObject::~JsonObject() = default;

bool JsonObject::has(const char* key) const {
    const auto found = root_->find(key);
    return found != root_->end() && !found->is_null();
}

bool JsonObject::states(const char* key) const {
    return root_->contains(key);
}

bool JsonObject::empty(const char* key) const {
    if (!has(key)) return true;
    const Json& value = (*root_)[key];
    return value.is_structured() ? value.empty() : value == false;
}

std::int64_t JsonObject::whole(const char* key, std::int64_t fallback) {
    return has(key) && (*root_)[key] == 0 ? 0 : extent(key, fallback);
}

std::int64_t JsonObject::extent(const char* key, std::optional<std::int64_t> fallback) {
    if (!has(key)) {
        if (!fallback) mistakes_.add({file_, 1, 1}, fmt::format("'{}' is missing", key));
        return fallback.value_or(1);
    }
    const Json& value = (*root_)[key];
    const bool fits =
        value.is_number_integer() &&
        (!value.is_number_unsigned() || value.get<std::uint64_t>() <= static_cast<std::uint64_t>(kLargest));
    if (fits && value.get<std::int64_t>() >= 1 && value.get<std::int64_t>() <= kLargest)
        return value.get<std::int64_t>();
    fail(key, fmt::format("'{}' must be a whole number from 1 to {}, not {}", key, kLargest,
                          excerpt(value.dump(-1, ' ', true, Json::error_handler_t::replace))));
    return 1;
}

std::int64_t JsonObject::entries(const char* key, std::int64_t fallback) {
    if (!has(key)) return fallback;
    const Json& value = (*root_)[key];
    if (value.is_object() && !value.empty()) return static_cast<std::int64_t>(value.size());
    fail(key, fmt::format("'{}' must be an object with an entry or more", key));
    return fallback;
}

bool JsonObject::flag(const char* key, bool fallback) {
    if (!has(key)) return fallback;
    const Json& value = (*root_)[key];
    if (value.is_boolean()) return value.get<bool>();
    fail(key, fmt::format("'{}' must be true or false", key));
    return fallback;
}

std::string JsonObject::text(const char* key, const std::string& fallback) {
    if (!has(key)) return fallback;
    const Json& value = (*root_)[key];
    if (value.is_string()) return value.get<std::string>();
    fail(key, fmt::format("'{}' must be a text", key));
    return fallback;
}

void JsonObject::fail(const char* key, std::string message) {
    mistakes_.add(place_of(key), std::move(message));
}

/// The first text that looks like the key: a nested one of the same name may stand before it, which only
/// moves a message.
SourceMark JsonObject::place_of(const char* key) const {
    const std::size_t at = text_.find(fmt::format("\"{}\"", key));
    return *key == '\0' || at == std::string_view::npos ? SourceMark{file_, 1, 1}
                                                        : place_at(text_, file_, at);
}

}  // namespace systole
