// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline/signal_tree.h"

#include <unordered_map>

namespace systole {
namespace {

/// Scopes by number while the tree grows, because children move in memory as siblings are added.
struct Nodes {
    struct Node {
        std::string name;
        std::vector<std::size_t> signals, children;
    };
    std::vector<Node> all{1};
    std::unordered_map<std::string, std::size_t> by_scope{{"", 0}};

    std::size_t find(std::string_view scope) {
        const std::string key(scope);
        if (const auto known = by_scope.find(key); known != by_scope.end()) return known->second;
        const std::size_t dot = scope.rfind('.');
        const bool top = dot == std::string_view::npos;
        const std::size_t parent = find(top ? std::string_view() : scope.substr(0, dot));
        const std::size_t made = all.size();
        all.push_back({std::string(top ? scope : scope.substr(dot + 1)), {}, {}});
        all[parent].children.push_back(made);
        by_scope.emplace(key, made);
        return made;
    }
    SignalTree tree(std::size_t node) const {
        SignalTree made{all[node].name, all[node].signals, {}};
        for (const std::size_t child : all[node].children) made.children.push_back(tree(child));
        return made;
    }
};

}  // namespace

SignalTree make_signal_tree(const std::vector<WaveSignal>& signals) {
    Nodes nodes;
    for (std::size_t i = 0; i < signals.size(); ++i)
        nodes.all[nodes.find(signals[i].scope())].signals.push_back(i);
    return nodes.tree(0);
}

}  // namespace systole
