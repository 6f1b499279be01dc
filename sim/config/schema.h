// SPDX-License-Identifier: Apache-2.0
// Which form a YAML document has: its key `schema`, which every document may state at its root, and keys that
// are called otherwise now. Every reader of a kind of document asks before it reads.
#pragma once

#include "sim/base/schema.h"
#include "sim/config/yaml.h"

namespace systole::config {

/// The key at the root of a document.
inline constexpr std::string_view kSchemaKey = "schema";

/// `document` itself, if this program reads it: it states no schema, or one of those that are read, and has
/// none of the keys that were `renamed`. Otherwise throws a UserError: one line for a schema that is not
/// read, or one for each renamed key.
const YamlNode& of_schema(const YamlNode& document, const Schema& schema,
                          std::span<const Rename> renamed = renamed_keys());

/// The schema of a configuration, by the key of its title: "device" (and a document without one), "memory",
/// "energy", "cost".
const Schema& configuration_schema(std::string_view title_key);
/// Those keys.
std::span<const Schema> configuration_schemas();

}  // namespace systole::config
