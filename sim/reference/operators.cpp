// SPDX-License-Identifier: Apache-2.0
#include "sim/reference/operators.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "sim/workload/layer_dtypes.h"
#include "sim/workload/op_reader.h"

namespace systole::reference {
namespace {

/// What a layer says, and what its reader shall find in it besides.
struct Start {
    std::vector<std::pair<std::string, std::string>> says;
    std::vector<std::string> assumed;
};

KeySurvey read(const OpSyntax& syntax, const Start& start) {
    config::YamlNode layer;
    layer.kind = config::YamlNode::Kind::Map;
    for (const auto& [key, value] : start.says) {
        config::YamlNode scalar;
        scalar.kind = config::YamlNode::Kind::Scalar;
        scalar.scalar = value;
        layer.entries.push_back({key, {}, std::move(scalar)});
    }
    KeySurvey survey;
    for (const std::string& key : start.assumed) survey.assume(key);
    Mistakes mistakes;  // of a layer that says hardly anything
    const Parameters none;
    Keys keys(layer, none, mistakes, syntax.name);
    keys.tell(survey);
    read_dtypes(keys, syntax.name, nullptr);
    LayerText text(keys, mistakes, {});
    syntax.read(text);
    return survey;
}

/// A key that one reading has a kind for keeps it. Required is what every reading requires; what only a
/// choice calls for is left to the reader.
void merge(const KeySurvey& survey, bool is_first, std::vector<KeyQuestion>& all) {
    const std::vector<KeyQuestion>& asked = survey.questions();
    for (KeyQuestion& known : all) {
        const auto now = std::ranges::find(asked, known.key, &KeyQuestion::key);
        const bool is_required = known.is_required && now != asked.end() && now->is_required;
        if (now != asked.end() && known.kind == KeyKind::Other) known = *now;
        known.is_required = is_required;
    }
    for (const KeyQuestion& each : asked) {
        if (std::ranges::find(all, each.key, &KeyQuestion::key) != all.end()) continue;
        all.push_back(each);
        all.back().is_required = each.is_required && is_first;
    }
}

std::vector<KeyQuestion> keys_of(const OpSyntax& syntax) {
    std::vector<KeyQuestion> all;
    std::deque<Start> starts{{}};
    std::set<std::string> tried;
    for (; !starts.empty(); starts.pop_front()) {
        const Start start = starts.front();
        const KeySurvey survey = read(syntax, start);
        merge(survey, all.empty(), all);
        for (const KeyQuestion& each : survey.questions()) {
            if (each.names.empty() || !tried.insert(each.key).second) continue;
            for (const std::string& value : each.names) {
                Start changed = start;
                changed.says.emplace_back(each.key, value);
                starts.push_back(std::move(changed));
            }
        }
        for (const std::string& key : survey.looked_for()) {
            if (!tried.insert(key).second) continue;
            Start changed = start;
            changed.assumed.push_back(key);
            starts.push_back(std::move(changed));
        }
    }
    return all;
}

}  // namespace

std::vector<OperatorKeys> operator_keys() {
    std::vector<OperatorKeys> all;
    for (const std::string& name : op_syntax_names()) {
        const OpSyntax& syntax = *find_op_syntax(name);
        all.push_back({name, syntax.operands, syntax.or_more, keys_of(syntax)});
    }
    return all;
}

}  // namespace systole::reference
