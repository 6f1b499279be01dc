// SPDX-License-Identifier: Apache-2.0
// Pieces of an experiment's file. What is not of the form that is asked for throws UserError at its place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/base/mistakes.h"
#include "sim/config/yaml.h"

namespace systole::sweep {

/// A text on one line that is not empty. `what`: what is expected, for messages.
std::string scalar(const config::YamlNode& node, std::string_view what);

/// `node`, which is a map that is not empty.
const config::YamlNode& map(const config::YamlNode& node, std::string_view what);

/// A value, or a list of them that is not empty.
std::vector<config::YamlNode> one_or_more(const config::YamlNode& node, std::string_view what);

/// Keys of a map that are none of `known`.
void refuse_unknown(const config::YamlNode& node, const std::vector<std::string>& known, std::string_view of,
                    Mistakes& mistakes);

}  // namespace systole::sweep
