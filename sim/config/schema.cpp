// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace systole::config {
namespace {

/// The number that a document states; throws a UserError for what is none.
std::int64_t stated(const YamlNode& node, const Schema& schema) {
    std::int64_t number = 0;
    const char* const end = node.scalar.data() + node.scalar.size();
    const auto [rest, error] = std::from_chars(node.scalar.data(), end, number);
    if (node.kind != YamlNode::Kind::Scalar || error != std::errc() || rest != end || number < 1 ||
        node.scalar.front() == '0')
        throw UserError(node.where,
                        fmt::format("schema: expected the number of the form that the document has, "
                                    "such as {}",
                                    schema.current));
    return number;
}

/// Adds a diagnostic for each renamed key below `node`, which lies at `path`; items of a list lie at the
/// list's.
void find_renamed(const YamlNode& node, const std::string& path, const Schema& schema,
                  std::span<const Rename> renamed, std::vector<Diagnostic>& found) {
    for (const YamlNode& item : node.items) find_renamed(item, path, schema, renamed, found);
    for (const YamlEntry& entry : node.entries) {
        const std::string here = path.empty() ? entry.key : path + '.' + entry.key;
        for (const Rename& rename : renamed)
            if (rename.schema == schema.name && rename.from == here)
                found.push_back({entry.where, fmt::format("{}/{}: key '{}' was renamed '{}' in {}/{}",
                                                          schema.name, rename.since - 1, rename.from,
                                                          rename.to, schema.name, rename.since)});
        find_renamed(entry.value, here, schema, renamed, found);
    }
}

constexpr std::array<Schema, 4> kConfigurations{kDeviceSchema, kMemorySchema, kEnergySchema, kCostSchema};

}  // namespace

std::span<const Schema> configuration_schemas() {
    return kConfigurations;
}

const Schema& configuration_schema(std::string_view title_key) {
    const auto found = std::find_if(kConfigurations.begin(), kConfigurations.end(),
                                    [&](const Schema& schema) { return schema.name == title_key; });
    return found == kConfigurations.end() ? kConfigurations.front() : *found;
}

const YamlNode& of_schema(const YamlNode& document, const Schema& schema, std::span<const Rename> renamed) {
    if (const YamlNode* const node = document.find(kSchemaKey))
        if (const std::string complaint = schema_complaint(schema, stated(*node, schema)); !complaint.empty())
            throw UserError(node->where, complaint);
    std::vector<Diagnostic> found;
    if (!renamed.empty()) find_renamed(document, "", schema, renamed, found);
    if (!found.empty()) throw UserError(std::move(found));
    return document;
}

}  // namespace systole::config
