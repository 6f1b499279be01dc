// SPDX-License-Identifier: Apache-2.0
// From YAML documents to leaves: provenance maps, `extends`, `preset`.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/config/config.h"
#include "sim/config/leaf_text.h"
#include "sim/config/schema.h"

namespace systole::config {
namespace {

constexpr int kMaxDocuments = 64;  // a device extends two or three; also bounds our recursion

constexpr std::array<Origin, 6> kOrigins{Origin::Sourced,    Origin::Derived,     Origin::Assumed,
                                         Origin::Calibrated, Origin::CommandLine, Origin::Default};

std::string join(std::string_view path, std::string_view key) {
    return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

bool below_calibrated(std::string_view path) {
    return fmt::format(".{}", path).find(".calibrated.") != std::string::npos;
}

/// A map with a value, or with what could only be the origin of one.
bool is_leaf_map(const YamlNode& node) {
    if (node.find("value") != nullptr) return true;
    return std::any_of(node.entries.begin(), node.entries.end(), [](const YamlEntry& entry) {
        return entry.value.kind == YamlNode::Kind::Scalar &&
               (entry.key == "sourced" || entry.key == "derived" || entry.key == "assumed");
    });
}

/// The key of the document's title, or "".
std::string_view title_key_of(const YamlNode& document) {
    for (const Schema& kind : configuration_schemas()) {
        const YamlNode* const title = document.find(kind.name);
        if (title != nullptr && title->kind == YamlNode::Kind::Scalar) return kind.name;
    }
    return "";
}

}  // namespace

class Config::Flattener {
public:
    Flattener(Config& config, const Resolver& resolve) : config_(config), resolve_(resolve) {}

    /// Lays `document` over what was laid before, at `path`; `title` receives its title.
    void document(const YamlNode& document, const std::string& path) {
        if (document.kind != YamlNode::Kind::Map)
            throw UserError(document.where,
                            fmt::format("expected a map of keys, not {}", to_string(document.kind)));
        const std::string_view title_key = title_key_of(document);
        of_schema(document, configuration_schema(title_key));
        chain_.push_back(document.where.file);
        if (const YamlNode* base = document.find("extends")) include(*base, "extends", path);
        // The nearest document's title is the last to be taken; that of a preset does not count.
        if (path.empty() && !title_key.empty()) {
            config_.title_key_ = title_key;
            config_.title_ = document.find(title_key)->scalar;
        }
        if (path.empty() && document.find("preset") != nullptr)
            config_.complain(document.find("preset")->where,
                             "'preset' stands inside a map; the document as a whole 'extends' another");
        for (const YamlEntry& entry : document.entries)
            if (entry.key != "extends" && entry.key != "preset" && entry.key != title_key &&
                entry.key != kSchemaKey)
                key(entry, path);
        chain_.pop_back();
    }

    /// Lays the keys of `node` over what was laid below `path` before, or in its place if it names a preset.
    void map(const YamlNode& node, const std::string& path) {
        config_.maps_[path] = node.where;
        if (const YamlNode* preset = node.find("preset")) {
            drop(path);
            include(*preset, "preset", path);
            config_.maps_[path] = node.where;  // the preset's own place is no help to who wrote this map
        }
        for (const YamlEntry& entry : node.entries)
            if (entry.key != "preset") key(entry, path);
    }

private:
    void include(const YamlNode& name, std::string_view by, const std::string& path) {
        if (name.kind != YamlNode::Kind::Scalar || name.scalar.empty())
            throw UserError(name.where, fmt::format("'{}' takes the name of one document", by));
        const YamlNode other = resolve_(name.scalar, name.where);
        const auto first = std::find(chain_.begin(), chain_.end(), other.where.file);
        if (first != chain_.end())
            throw UserError(name.where, fmt::format("'{}: {}' leads in a circle: {} -> {}", by, name.scalar,
                                                    fmt::join(first, chain_.end(), " -> "), *first));
        if (++documents_ > kMaxDocuments)
            throw UserError(name.where,
                            fmt::format("more than {} documents build on each other", kMaxDocuments));
        document(other, path);
    }

    void key(const YamlEntry& entry, const std::string& path) {
        if (entry.key.empty() || entry.key.find('.') != std::string::npos)
            return config_.complain(
                entry.where, fmt::format("key '{}' is empty or holds a '.'; nest maps instead", entry.key));
        if (entry.key == "extends")
            return config_.complain(entry.where,
                                    "'extends' stands at the top of a document; a map takes 'preset'");
        const std::string here = join(path, entry.key);
        if (entry.value.kind != YamlNode::Kind::Map)
            value(entry.value, here, {});
        else if (is_leaf_map(entry.value))
            leaf_map(entry.value, here);
        else
            map(entry.value, here);
    }

    void drop(const std::string& path) {
        const auto [first, last] = config_.below(path);
        config_.leaves_.erase(first, last);
        config_.maps_.erase(config_.maps_.lower_bound(path + '.'), config_.maps_.lower_bound(path + '/'));
    }

    /// A leaf of `node`'s text, with the origin that `leaf` holds already.
    void value(const YamlNode& node, const std::string& path, Leaf leaf) {
        leaf.entry.path = path;
        leaf.entry.where = node.where;
        leaf.depth = chain_.size();
        const auto refuse = [&](std::string_view what) {
            config_.complain(node.where, fmt::format("{}: {}", path, what));
        };
        switch (node.kind) {
            case YamlNode::Kind::Scalar:
                leaf.entry.value = node.scalar;
                break;
            case YamlNode::Kind::Null:
                refuse("has no value");
                break;
            case YamlNode::Kind::Map:
                refuse("the value is a map; expected a plain value or a list");
                break;
            case YamlNode::Kind::Sequence:
                leaf.is_list = true;
                for (const YamlNode& item : node.items) {
                    if (item.kind != YamlNode::Kind::Scalar)
                        config_.complain(item.where,
                                         fmt::format("{}: expected a list of plain values, found {}", path,
                                                     to_string(item.kind)));
                    leaf.items.push_back(item.scalar);
                }
                leaf.entry.value = list_text(leaf.items);
        }
        leaf.is_broken = node.kind == YamlNode::Kind::Null || node.kind == YamlNode::Kind::Map;
        config_.put(std::move(leaf));
    }

    void leaf_map(const YamlNode& node, const std::string& path) {
        Leaf leaf;
        int origins = 0;
        for (const YamlEntry& entry : node.entries) {
            if (entry.key == "value") continue;
            if (entry.value.kind != YamlNode::Kind::Scalar || entry.value.scalar.empty())
                config_.complain(entry.value.where, fmt::format("{}.{}: expected text", path, entry.key));
            const auto origin = std::find_if(kOrigins.begin(), kOrigins.end(),
                                             [&](Origin known) { return key_of(known) == entry.key; });
            if (origin != kOrigins.end()) {
                ++origins;
                leaf.entry.origin = *origin;
                leaf.entry.note = entry.value.scalar;
            } else if (entry.key == "range") {
                leaf.entry.range = entry.value.scalar;
            } else {
                refuse_companion(entry, path);
            }
        }
        check_origin(node.where, path, leaf.entry, origins);
        const YamlNode* const found = node.find("value");
        if (found == nullptr)
            return config_.complain(node.where, fmt::format("{}: has an origin but no 'value'", path));
        value(*found, path, std::move(leaf));
    }

    void refuse_companion(const YamlEntry& entry, const std::string& path) {
        std::vector<std::string> known{"range"};
        for (const Origin origin : kOrigins) known.emplace_back(key_of(origin));
        config_.complain(entry.where, fmt::format("{}: unknown key '{}' beside 'value'{}", path, entry.key,
                                                  did_you_mean(entry.key, known)));
    }

    void check_origin(const SourceMark& where, const std::string& path, const Entry& entry, int origins) {
        const auto complain = [&](std::string_view what) {
            config_.complain(where, fmt::format("{}: {}", path, what));
        };
        if (origins != 1)
            complain(fmt::format("has {}; expected one of 'sourced', 'derived', 'assumed' or 'calibrated'",
                                 origins == 0 ? "no origin" : "several origins"));
        const bool fitted = entry.origin == Origin::Calibrated;
        if (fitted && !below_calibrated(path))
            complain("'calibrated' values stand only below the key 'calibrated'");
        if ((fitted || entry.origin == Origin::Assumed) && entry.range.empty())
            complain(fmt::format("'{}' needs a 'range' of plausible values", key_of(entry.origin)));
    }

    Config& config_;
    const Resolver& resolve_;
    std::vector<std::string> chain_;  ///< files whose documents are being laid, outermost first
    int documents_ = 0;
};

Config Config::from_document(const YamlNode& document, const Resolver& resolve) {
    Config config;
    config.maps_[""] = {document.where.file, 0, 0};
    config.resolve_ = resolve;
    Flattener(config, resolve).document(document, "");
    return config;
}

void Config::set_preset(const std::string& path, const std::string& name, const SourceMark& mark) {
    if (!maps_.contains(path)) return complain(mark, fmt::format("there is no map '{}'", path));
    YamlNode document;
    document.kind = YamlNode::Kind::Scalar;
    document.scalar = name;
    document.where = mark;
    YamlNode map;
    map.kind = YamlNode::Kind::Map;
    map.where = mark;
    map.entries.push_back({"preset", mark, document});
    Flattener(*this, resolve_).map(map, path);
}

}  // namespace systole::config
