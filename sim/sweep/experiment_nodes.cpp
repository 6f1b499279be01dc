// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/experiment_nodes.h"

#include <fmt/format.h>

#include <algorithm>

namespace systole::sweep {

using config::YamlEntry;
using config::YamlNode;

std::string scalar(const YamlNode& node, std::string_view what) {
    if (node.kind != YamlNode::Kind::Scalar || node.scalar.empty())
        throw UserError(node.where,
                        fmt::format("expected {}, not {}", what,
                                    node.kind == YamlNode::Kind::Scalar ? "an empty text"
                                                                        : config::to_string(node.kind)));
    if (node.scalar.find('\n') != std::string::npos)
        throw UserError(node.where, fmt::format("expected {}, on one line", what));
    return node.scalar;
}

const YamlNode& map(const YamlNode& node, std::string_view what) {
    if (node.kind != YamlNode::Kind::Map || node.entries.empty())
        throw UserError(
            node.where,
            fmt::format("expected {}, not {}", what,
                        node.kind == YamlNode::Kind::Map ? "an empty map" : config::to_string(node.kind)));
    return node;
}

std::vector<YamlNode> one_or_more(const YamlNode& node, std::string_view what) {
    if (node.kind != YamlNode::Kind::Sequence) return {node};
    if (node.items.empty()) throw UserError(node.where, fmt::format("an empty list; expected {}", what));
    return node.items;
}

void refuse_unknown(const YamlNode& node, const std::vector<std::string>& known, std::string_view of,
                    Mistakes& mistakes) {
    for (const YamlEntry& entry : node.entries)
        if (std::find(known.begin(), known.end(), entry.key) == known.end())
            mistakes.add(entry.where,
                         fmt::format("{} has no key '{}'{}", of, entry.key, did_you_mean(entry.key, known)));
}

}  // namespace systole::sweep
