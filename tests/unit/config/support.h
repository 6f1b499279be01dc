// SPDX-License-Identifier: Apache-2.0
// Configurations from text, and what they complain about.
#pragma once

#include <map>
#include <string>

#include "sim/config/config.h"
#include "tests/support/complaint.h"

namespace systole::config::test {

using systole::complaint;

/// Presets by name; the file of preset "x" is "x.yaml".
using Presets = std::map<std::string, std::string>;

inline Config load(const std::string& text, const Presets& presets = {}) {
    return Config::from_document(parse_yaml(text, "d.yaml"),
                                 [&](const std::string& name, const SourceMark& where) -> YamlNode {
                                     const auto found = presets.find(name);
                                     if (found == presets.end())
                                         throw UserError(where, "no preset '" + name + "'");
                                     return parse_yaml(found->second, name + ".yaml");
                                 });
}

/// What is complained about in all while `read` (given the root section) reads the document.
template <class Read>
std::string reading(const std::string& text, Read read, const Presets& presets = {}) {
    return complaint([&] {
        Config config = load(text, presets);
        read(config.root());
        config.finish();
    });
}

}  // namespace systole::config::test
