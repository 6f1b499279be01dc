// SPDX-License-Identifier: Apache-2.0
// A strict YAML reader: the only door through which YAML enters. It keeps the position of every key and
// value, and refuses what yaml-cpp lets pass: duplicate keys, anchors and aliases, tags, several documents,
// input that is too deep or too large. Values stay text here; whoever knows the key decides what it means.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.h"

namespace systole::config {

struct YamlEntry;

/// A YAML value with its place in the file.
struct YamlNode {
    enum class Kind { Null, Scalar, Sequence, Map };

    Kind kind = Kind::Null;
    SourceMark where;                ///< of Null as a map's value: the key's place
    std::string scalar;              ///< Scalar: its text, unquoted
    bool quoted = false;             ///< Scalar: written in quotes
    std::vector<YamlNode> items;     ///< Sequence
    std::vector<YamlEntry> entries;  ///< Map, in file order

    /// The value of `key` in a map, or null.
    const YamlNode* find(std::string_view key) const;
};

struct YamlEntry {
    std::string key;
    SourceMark where;  ///< of the key
    YamlNode value;
};

/// "a map", "a list", "text", "nothing": for messages.
std::string_view to_string(YamlNode::Kind kind);

/// Parses one document; throws UserError with the position of the mistake. `file` only names the place.
YamlNode parse_yaml(std::string_view text, const std::string& file);

/// Reads and parses a file; a missing, unreadable or oversized (64 MiB) file is a UserError.
YamlNode load_yaml(const std::filesystem::path& file);

}  // namespace systole::config
