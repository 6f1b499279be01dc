// SPDX-License-Identifier: Apache-2.0
// Config::effective_yaml(): leaves back into a document.
#include <fmt/format.h>

#include <algorithm>

#include "sim/config/config.h"
#include "sim/config/leaf_text.h"
#include "sim/config/schema.h"

namespace systole::config {
namespace {

/// Leaves as a tree again, keys in order of first appearance.
struct Branch {
    std::string key;
    std::string text;  ///< of a leaf
    std::vector<Branch> branches;
};

Branch& child(Branch& parent, std::string_view key) {
    const auto found = std::find_if(parent.branches.begin(), parent.branches.end(),
                                    [&](const Branch& branch) { return branch.key == key; });
    if (found != parent.branches.end()) return *found;
    return parent.branches.emplace_back(Branch{std::string(key), "", {}});
}

void plant(Branch& root, std::string_view path, std::string text) {
    Branch* at = &root;
    for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
        at = &child(*at, path.substr(0, dot));
        path.remove_prefix(dot + 1);
    }
    child(*at, path).text = std::move(text);
}

void write(const Branch& branch, int depth, std::string& out) {
    for (const Branch& next : branch.branches) {
        out += fmt::format("{:{}}{}:", "", 2 * depth, yaml_scalar(next.key));
        out += next.branches.empty() ? fmt::format(" {}\n", next.text) : "\n";
        write(next, depth + 1, out);
    }
}

std::string leaf_text(const Entry& entry, const std::string& value) {
    if (entry.origin == Origin::Plain) return value;
    std::string text =
        fmt::format("{{value: {}, {}: {}", value, key_of(entry.origin), yaml_scalar(entry.note));
    if (!entry.range.empty()) text += fmt::format(", range: {}", yaml_scalar(entry.range));
    return text + '}';
}

}  // namespace

std::string Config::effective_yaml() const {
    Branch root;
    for (const std::string& path : read_paths_) {
        const auto found = leaves_.find(path);
        if (found == leaves_.end()) continue;
        const Leaf& leaf = found->second;
        plant(root, path,
              leaf_text(leaf.entry, leaf.is_list ? leaf.entry.value : yaml_scalar(leaf.entry.value)));
    }
    std::string out;
    if (!title_.empty()) out = fmt::format("{}: {}\n", title_key_, yaml_scalar(title_));
    out += fmt::format("{}: {}\n", kSchemaKey, configuration_schema(title_key_).current);
    write(root, 0, out);
    return out;
}

}  // namespace systole::config
