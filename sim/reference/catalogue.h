// SPDX-License-Identifier: Apache-2.0
// Every key that documents of one kind can have (devices, memories), found by asking their reader: it reads
// all shipped documents, and each of them again with what may unlock further keys. A choice takes each of its
// values in turn, and what a reader only looks for is made to be there. Nobody keeps a list of keys.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config.h"

namespace systole::reference {

/// Takes all that a document of this kind holds out of the configuration. What it complains about is not
/// looked at: it must go on with whatever the getters answer, and build nothing.
using Reader = std::function<void(config::Config&)>;

/// A document under its name on the shelf.
struct Shipped {
    std::string name;
    config::YamlNode document;
};

/// What must hold for a key to be read.
struct Condition {
    std::string path;
    std::vector<std::string> values;  ///< one of them; none: `path` is given
};

/// A shipped document that gives a key.
struct Use {
    std::string document;
    std::string value;
};

/// One key of the reference. Two readers that mean different things by one path make two of them.
struct Key {
    explicit Key(config::Question question) : asked(std::move(question)) {}

    config::Question asked;        ///< as it was asked first
    bool is_required = false;      ///< wherever it is read
    bool default_follows = false;  ///< from other keys: asked.fallback is one example
    bool limits_follow = false;    ///< likewise asked.limits
    std::string section;           ///< the optional one that it stands in, "chip_link"; empty: none
    std::vector<Condition> when;   ///< all of them must hold
    std::vector<Use> uses;         ///< in the order of the documents

    /// The values of `path` for which it is read; empty: all.
    std::vector<std::string> only_for(std::string_view path) const;
};

/// In the order in which readers ask.
std::vector<Key> catalogue(const std::vector<Shipped>& documents, const config::Config::Resolver& resolve,
                           const Reader& reader);

/// Those at or below `section`, without it in their paths and conditions. "": all.
std::vector<Key> keys_below(const std::vector<Key>& keys, std::string_view section);
/// The others.
std::vector<Key> keys_beside(const std::vector<Key>& keys, const std::vector<std::string>& sections);

}  // namespace systole::reference
