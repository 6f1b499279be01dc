// SPDX-License-Identifier: Apache-2.0
// Catalogues of made-up documents.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sim/reference/catalogue.h"

namespace systole::reference::test {

/// Of documents "a", "b", ... with these texts.
inline std::vector<Key> keys_of(const std::vector<std::string>& texts, const Reader& reader) {
    std::vector<Shipped> documents;
    for (const std::string& text : texts) {
        const std::string name(1, static_cast<char>('a' + documents.size()));
        documents.push_back({name, config::parse_yaml(text, name + ".yaml")});
    }
    return catalogue(documents, {}, reader);
}

/// The key of that path; a test fails where there is none.
inline const Key& key(const std::vector<Key>& keys, const std::string& path) {
    const auto found = std::ranges::find_if(keys, [&](const Key& each) { return each.asked.path == path; });
    if (found == keys.end()) throw std::out_of_range("no key " + path);
    return *found;
}

inline bool has_key(const std::vector<Key>& keys, const std::string& path) {
    return std::ranges::any_of(keys, [&](const Key& each) { return each.asked.path == path; });
}

}  // namespace systole::reference::test
