// SPDX-License-Identifier: Apache-2.0
// What the page relies on in a result, checked while it is read; every mistake with its place.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/base/error.h"

namespace systole::report {

/// Where reading is, for messages: "devices[0].total", and what is expected there.
class Check {
public:
    using Json = nlohmann::ordered_json;

    Check(const std::string& file, std::string path) : file_(file), path_(std::move(path)) {}

    [[noreturn]] void fail(const std::string& message) const {
        throw UserError({file_}, path_.empty() ? message : fmt::format("{}: {}", path_, message));
    }
    Check at(const std::string& key) const { return {file_, path_.empty() ? key : path_ + '.' + key}; }
    Check at(std::size_t i) const { return {file_, fmt::format("{}[{}]", path_, i)}; }

    const Json& member(const Json& object, const char* key) const {
        if (!object.is_object()) fail("expected an object");
        const auto found = object.find(key);
        if (found == object.end()) at(key).fail("it is missing; a result of this program has it");
        return *found;
    }
    const Json& text(const Json& object, const char* key) const {
        const Json& value = member(object, key);
        if (!value.is_string()) at(key).fail("expected text");
        return value;
    }
    /// A number from `least` on; null where that may stand for unknown.
    void number(const Json& object, const char* key, bool or_null = false, double least = 0) const {
        const Json& value = member(object, key);
        if (or_null && value.is_null()) return;
        if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < least)
            at(key).fail(fmt::format("expected a number of {} or more{}", least, or_null ? ", or null" : ""));
    }
    const Json& list(const Json& object, const char* key) const {
        const Json& value = member(object, key);
        if (!value.is_array()) at(key).fail("expected a list");
        return value;
    }

private:
    const std::string& file_;
    std::string path_;
};

}  // namespace systole::report
