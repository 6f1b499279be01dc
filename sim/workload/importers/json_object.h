// SPDX-License-Identifier: Apache-2.0
// The outermost object of a JSON file with typed keys: every mistake has its place, and is recorded instead
// of thrown, so that a reader can report all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/mistakes.h"

namespace systole {

class JsonObject {
public:
    /// Throws UserError, with its place, for what is no JSON, is no object, names a key twice, or is nested
    /// deeper than 64.
    JsonObject(std::string_view text, const std::string& file);
    ~JsonObject();
    JsonObject(const JsonObject&) = delete;
    JsonObject& operator=(const JsonObject&) = delete;

    /// Whether the key is there, and not null.
    bool has(const char* key) const;
    /// Whether the key is there, null or not.
    bool states(const char* key) const;
    /// Whether the key is missing, null, false, or a list or an object without entries.
    bool empty(const char* key) const;
    /// A whole number in [1, 2^31 - 1]. Without a fallback a missing one is a mistake.
    std::int64_t extent(const char* key, std::optional<std::int64_t> fallback = {});
    /// The same from 0 on.
    std::int64_t whole(const char* key, std::int64_t fallback);
    /// How many keys an object has; `fallback` if it is not there, a mistake if it is no object or empty.
    std::int64_t entries(const char* key, std::int64_t fallback);
    bool flag(const char* key, bool fallback);
    std::string text(const char* key, const std::string& fallback);

    /// Records a mistake at a key; at the file's begin if it is not there.
    void fail(const char* key, std::string message);
    void throw_if_any() const { mistakes_.throw_if_any(); }
    /// Line of a key; 1 if it is not there.
    int line_of(const char* key) const { return place_of(key).line; }

private:
    SourceMark place_of(const char* key) const;

    const std::string_view text_;
    const std::string file_;
    std::unique_ptr<nlohmann::json> root_;
    Mistakes mistakes_;
};

}  // namespace systole
