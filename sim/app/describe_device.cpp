// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/app/describe.h"
#include "sim/app/terminal.h"
#include "sim/base/text_table.h"

namespace systole::app {
namespace {

using Json = nlohmann::ordered_json;

/// "sourced: Jouppi 2023, table 4", "assumed (20..80): typical SRAM pipeline".
std::string origin_of(const config::Entry& entry) {
    std::string text(to_string(entry.origin));
    if (!entry.range.empty()) text += fmt::format(" ({})", entry.range);
    if (entry.origin == config::Origin::CommandLine || entry.origin == config::Origin::Default) return text;
    return entry.note.empty() ? text : fmt::format("{}: {}", text, entry.note);
}

/// "elements per cycle of an operation of cost 1 (1..65536)".
std::string meaning_of(const config::Entry& entry) {
    return entry.limits.empty() ? entry.meaning : fmt::format("{} ({})", entry.meaning, entry.limits);
}

/// The map that a path begins with; "" for a key of the document itself.
std::string section_of(const std::string& path) {
    const std::size_t dot = path.find('.');
    return dot == std::string::npos ? "" : path.substr(0, dot);
}

/// Sections in order of first appearance, their entries together: readers may go back to one.
std::vector<const config::Entry*> by_section(const std::vector<config::Entry>& entries) {
    std::vector<const config::Entry*> sorted;
    for (const config::Entry& entry : entries) {
        const auto same_section = [&](const config::Entry* other) {
            return section_of(other->path) == section_of(entry.path);
        };
        const auto last = std::find_if(sorted.rbegin(), sorted.rend(), same_section);
        sorted.insert(last == sorted.rend() ? sorted.end() : last.base(), &entry);
    }
    return sorted;
}

}  // namespace

std::string values_text(const Values& values) {
    TextTable table;
    constexpr std::size_t kMeaning = 48, kOrigin = 64;  // wide enough to read, narrow enough for a terminal
    table.column("path", TextTable::Align::Left);
    table.column("value", TextTable::Align::Left);
    table.column("meaning", TextTable::Align::Left, kMeaning);
    table.column("origin", TextTable::Align::Left, kOrigin);
    const config::Entry* before = nullptr;
    for (const config::Entry* entry : by_section(values.entries)) {
        if (before != nullptr && section_of(before->path) != section_of(entry->path)) table.rule();
        before = entry;
        table.row({entry->path, entry->value, meaning_of(*entry), origin_of(*entry)});
    }
    const std::string title =
        values.title.empty() ? values.name : fmt::format("{}: {}", values.name, values.title);
    return title + "\n" + values.about + "\n" + table.str(answer_style());
}

std::string values_json(const Values& values) {
    Json list = Json::array();
    for (const config::Entry& entry : values.entries)
        list.push_back({{"path", entry.path},
                        {"value", entry.value},
                        {"origin", to_string(entry.origin)},
                        {"note", entry.note},
                        {"range", entry.range},
                        {"meaning", entry.meaning},
                        {"limits", entry.limits}});
    const Json json = {{values.kind, values.name},
                       {"title", values.title},
                       {"about", values.about},
                       {"values", std::move(list)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace systole::app
