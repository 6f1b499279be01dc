// SPDX-License-Identifier: Apache-2.0
#include "sim/config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "sim/config/text_check.h"

namespace systole::config {
namespace {

constexpr std::string_view kPreset = ".preset.";  // the end of a path with a dot before and behind it

}  // namespace

std::string_view to_string(Origin origin) {
    switch (origin) {
        case Origin::Sourced:
            return "sourced";
        case Origin::Derived:
            return "derived";
        case Origin::Assumed:
            return "assumed";
        case Origin::Calibrated:
            return "calibrated";
        case Origin::Plain:
            return "plain";
        case Origin::CommandLine:
            return "command line";
        case Origin::Default:
            return "default";
    }
    return "";
}

std::string_view key_of(Origin origin) {
    if (origin == Origin::Plain) return "";
    return origin == Origin::CommandLine ? "set" : to_string(origin);
}

std::pair<Config::Leaves::const_iterator, Config::Leaves::const_iterator> Config::below(
    std::string_view path) const {
    if (path.empty()) return {leaves_.begin(), leaves_.end()};
    return {leaves_.lower_bound(fmt::format("{}.", path)), leaves_.lower_bound(fmt::format("{}/", path))};
}

SourceMark Config::where(std::string_view path) const {
    if (const auto leaf = leaves_.find(path); leaf != leaves_.end()) return leaf->second.entry.where;
    for (;;) {
        if (const auto map = maps_.find(path); map != maps_.end()) return map->second;
        if (path.empty()) return {};
        const std::size_t dot = path.rfind('.');
        path = dot == std::string_view::npos ? "" : path.substr(0, dot);
    }
}

std::string Config::obstacle(const std::string& path) const {
    if (const auto [first, last] = below(path); first != last)
        return fmt::format("is a map of keys, not one value; name a key in it, such as {}", first->first);
    for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1))
        if (leaves_.find(std::string_view(path).substr(0, dot)) != leaves_.end())
            return fmt::format("{} is one value, not a map of keys", path.substr(0, dot));
    return "";
}

void Config::put(Leaf leaf) {
    const std::string path = leaf.entry.path;
    if (const std::string why = obstacle(path); !why.empty())
        return complain(leaf.entry.where, fmt::format("{}: {}", path, why));
    const auto old = leaves_.find(path);
    leaf.order = old == leaves_.end() ? next_order_++ : old->second.order;
    leaves_.insert_or_assign(path, std::move(leaf));
}

void Config::set(const std::string& path, const std::string& value) {
    const SourceMark mark{fmt::format("--set {}", path), 0, 0};
    if (find_bad_byte(path) || find_bad_byte(value))
        return complain(mark, "holds a byte that is not readable text");
    const std::string dotted = fmt::format(".{}.", path);
    if (dotted.find("..") != std::string::npos) return complain(mark, "expected a path such as 'mxu.rows'");
    if (dotted == ".preset." || dotted == ".extends.")
        return complain(mark, "what a document extends is chosen in its file, not with --set");
    if (value.empty()) return complain(mark, fmt::format("{}: has no value", path));
    if (dotted.ends_with(kPreset))
        return set_preset(dotted.substr(1, dotted.size() - 1 - kPreset.size()), value, mark);
    Leaf leaf;
    leaf.entry = {path, value, Origin::CommandLine, "--set", "", mark, ""};
    put(std::move(leaf));
}

Config::Leaf* Config::consume(const std::string& path, std::string_view meaning, bool optional) {
    const auto found = leaves_.find(path);
    if (found != leaves_.end() && found->second.was_read) return &found->second;
    read_paths_.push_back(path);
    if (found == leaves_.end()) {
        if (!optional) failed_.insert(path);
        if (const auto [first, last] = below(path); first != last)
            complain(where(path), fmt::format("{}: expected one value, found a map ({})", path, meaning));
        else if (!optional)
            complain(where(path), fmt::format("{}: is missing ({})", path, meaning));
        return nullptr;
    }
    if (found->second.is_broken) failed_.insert(path);
    found->second.was_read = true;
    found->second.entry.meaning = meaning;
    return &found->second;
}

void Config::add_default(const Question& asked, Leaf leaf) {
    if (!obstacle(asked.path).empty()) return;  // consume() complained, or finish() will
    leaf.entry.path = asked.path;
    leaf.entry.value = asked.fallback.value_or("");
    leaf.entry.origin = Origin::Default;
    leaf.entry.note = "no file gives it";
    leaf.entry.meaning = asked.meaning;
    leaf.entry.limits = asked.limits;
    leaf.was_read = true;
    put(std::move(leaf));
}

void Config::find_unread() {
    for (const auto& [path, leaf] : leaves_) {
        if (leaf.was_read || leaf.is_broken) continue;
        const bool is_group =
            std::any_of(read_paths_.begin(), read_paths_.end(),
                        [below = path + '.'](const std::string& read) { return read.starts_with(below); });
        complain(leaf.entry.where,
                 is_group ? fmt::format("{}: expected a map of keys, found one value", path)
                          : fmt::format("unknown key '{}'{}", path, did_you_mean(path, read_paths_)));
    }
}

void Config::finish() {
    find_unread();
    if (problems_.empty()) return;
    const auto place = [](const Diagnostic& problem) {
        return std::tie(problem.where.file, problem.where.line, problem.where.column);
    };
    std::stable_sort(problems_.begin(), problems_.end(),
                     [&](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
    throw UserError(problems_);
}

std::vector<Entry> Config::effective() const {
    std::vector<Entry> entries;
    for (const std::string& path : read_paths_)
        if (const auto leaf = leaves_.find(path); leaf != leaves_.end())
            entries.push_back(leaf->second.entry);
    return entries;
}

}  // namespace systole::config
