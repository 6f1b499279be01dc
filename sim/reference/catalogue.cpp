// SPDX-License-Identifier: Apache-2.0
#include "sim/reference/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace systole::reference {
namespace {

using config::Config;
using config::Question;
using config::Survey;

/// The path of the table that an entry lies in, with the sign for any of its keys.
std::string in_table(const std::string& path) {
    return fmt::format("{}.{}", path.substr(0, path.rfind('.')), Survey::kAnyKey);
}

bool lies_in(std::string_view path, std::string_view section) {
    return section.empty() || path == section ||
           (path.starts_with(section) && path.substr(section.size()).starts_with('.'));
}

/// What one reading asked, keys of a table as one.
std::vector<Question> asked_in(const Survey& survey) {
    std::set<std::string> tables;
    for (const Question& each : survey.questions())
        if (each.path.ends_with(Survey::kAnyKey)) tables.insert(each.path);
    std::vector<Question> all;
    for (const Question& each : survey.questions())
        if (each.path.ends_with(Survey::kAnyKey) || !tables.contains(in_table(each.path)))
            all.push_back(each);
    return all;
}

/// A configuration that nobody has read yet, and what readers shall find in it besides.
struct Start {
    Config config;
    std::vector<std::string> assumed = {}, denied = {};
};

class Cataloguer {
public:
    explicit Cataloguer(const Reader& reader) : reader_(reader) {}

    void read_shipped(const Shipped& shipped, const Config::Resolver& resolve) {
        const Start start{Config::from_document(shipped.document, resolve)};
        Config config = start.config;
        std::vector<std::string> tables;
        const std::vector<Question> asked = asked_in(read(config, start, true));
        for (const Question& each : asked)
            if (each.path.ends_with(Survey::kAnyKey)) tables.push_back(each.path);
        for (const config::Entry& entry : config.effective()) {
            if (entry.origin == config::Origin::Default) continue;
            const bool is_row = std::ranges::find(tables, in_table(entry.path)) != tables.end();
            const std::string key = entry.path.substr(entry.path.rfind('.') + 1);
            Key& of =
                keys_[is_row ? by_path_.at(in_table(entry.path)) : ids_.at({entry.path, entry.meaning})];
            if (of.uses.empty() || of.uses.back().document != shipped.name)
                of.uses.push_back(
                    {shipped.name, is_row ? fmt::format("{}: {}", key, entry.value) : entry.value});
        }
        starts_.push_back(start);
    }

    std::vector<Key> finish() {
        for (; !starts_.empty(); starts_.pop_front()) unlock(starts_.front());
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            keys_[i].section = optional_section(keys_[i].asked.path);
            keys_[i].when = conditions(i);
        }
        return std::move(keys_);
    }

private:
    using Ids = std::set<std::size_t>;
    /// Readings that differ in one key alone: what was asked under each of its values.
    struct Toggle {
        std::string path;
        std::vector<std::string> values;  ///< none: not given, and given
        std::vector<Ids> asked;
    };

    Survey read(Config& config, const Start& start, bool is_shipped = false) {
        Survey survey;
        for (const std::string& path : start.assumed) survey.assume(path);
        for (const std::string& path : start.denied) survey.deny(path);
        config.tell(survey);
        reader_(config);
        const std::string kind = kind_of(config);
        for (const Question& each : asked_in(survey)) merge(each, is_shipped, kind);
        for (const auto& [path, given] : survey.looked_for()) looked_for_.insert(path);
        return survey;
    }

    /// What `start` says of the root's own choice of a reader.
    static std::string kind_of(const Config& config) {
        for (const config::Entry& entry : config.effective())
            if (entry.path == "kind") return entry.value;
        return "";
    }

    Ids ids_of(const Survey& survey) const {
        Ids ids;
        for (const Question& each : asked_in(survey)) ids.insert(ids_.at({each.path, each.meaning}));
        return ids;
    }

    /// What is asked once `path` has another value; what readers then look for first is not there: it stands
    /// in the file for the value that was changed.
    Ids read_with(const Start& start, const Survey& before, const std::string& path,
                  const std::string& value) {
        Start changed = start;
        changed.config.set(path, value);
        Config config = changed.config;
        Start alone = changed;
        const Survey survey = read(config, changed);
        for (const auto& [looked_for, given] : survey.looked_for())
            if (!before.looked_for().contains(looked_for)) alone.denied.push_back(looked_for);
        Config again = changed.config;
        Ids ids = ids_of(read(again, alone));
        starts_.push_back(std::move(changed));
        return ids;
    }

    Ids read_assuming(const Start& start, const std::string& path) {
        Start changed = start;
        changed.assumed.push_back(path);
        Config config = changed.config;
        Ids ids = ids_of(read(config, changed));
        starts_.push_back(std::move(changed));
        return ids;
    }

    /// Reads `start` with every value of every choice, and everything that is looked for: each once for each
    /// of the values of the root's own choice of a reader (`kind`).
    void unlock(const Start& start) {
        Config config = start.config;
        const Survey survey = read(config, start);
        const std::string kind = kind_of(config);
        for (const Question& each : survey.questions()) {
            if (each.names.empty() || !toggled_.emplace(kind, each.path).second) continue;
            Toggle toggle{each.path, each.names, {}};
            for (const std::string& value : each.names)
                toggle.asked.push_back(read_with(start, survey, each.path, value));
            toggles_.push_back(std::move(toggle));
        }
        for (const auto& [path, given] : survey.looked_for()) {
            if (given || !toggled_.emplace(kind, path + '?').second) continue;
            toggles_.push_back({path, {}, {ids_of(survey), read_assuming(start, path)}});
        }
    }

    void merge(const Question& asked, bool is_shipped, const std::string& kind) {
        const bool is_required =
            !asked.fallback && !asked.is_optional && !asked.path.ends_with(Survey::kAnyKey);
        const auto [at, is_new] = ids_.emplace(std::pair(asked.path, asked.meaning), keys_.size());
        kinds_[at->second].insert(kind);
        all_kinds_.insert(kind);
        if (is_new) {
            if (is_shipped) shipped_.insert(keys_.size());
            by_path_[asked.path] = keys_.size();
            keys_.emplace_back(asked).is_required = is_required;
            return;
        }
        Key& key = keys_[at->second];
        // Of machines that nobody ships many values are the least legal ones, and what follows from those
        // says nothing.
        if (!is_shipped && shipped_.contains(at->second)) return;
        key.is_required = key.is_required && is_required;
        key.default_follows = key.default_follows || key.asked.fallback != asked.fallback;
        key.limits_follow = key.limits_follow || key.asked.limits != asked.limits;
    }

    /// The longest path above `path` that readers look for.
    std::string optional_section(std::string path) const {
        for (std::size_t dot = path.rfind('.'); dot != std::string::npos; dot = path.rfind('.')) {
            path.erase(dot);
            if (looked_for_.contains(path)) return path;
        }
        return "";
    }

    std::vector<Condition> conditions(std::size_t key) const {
        std::map<std::string, std::vector<std::string>> values;  // by path
        std::vector<std::string> order;
        std::set<std::string> free;  // choices of which some reading asks for the key whatever they say
        for (const Toggle& toggle : toggles_) {
            if (toggle.values.empty() || toggle.path == keys_[key].asked.path) continue;
            std::vector<std::string> with;
            for (std::size_t i = 0; i < toggle.values.size(); ++i)
                if (toggle.asked[i].contains(key)) with.push_back(toggle.values[i]);
            if (with.empty()) continue;
            if (with.size() == toggle.values.size()) free.insert(toggle.path);
            std::vector<std::string>& all = values[toggle.path];
            if (all.empty()) order.push_back(toggle.path);
            for (std::string& value : with)
                if (std::ranges::find(all, value) == all.end()) all.push_back(std::move(value));
        }
        std::vector<Condition> when;
        for (const std::string& path : order)
            if (!free.contains(path)) when.push_back({path, values[path]});
        const std::set<std::string>& kinds = kinds_.at(key);
        if (!values.contains("kind") && kinds.size() < all_kinds_.size())
            when.push_back({"kind", {kinds.begin(), kinds.end()}});
        const auto is_of_kind = [](const Condition& each) { return each.path == "kind"; };
        if (!std::ranges::all_of(when, is_of_kind)) return when;
        for (const Toggle& toggle : toggles_)
            if (toggle.values.empty() && !lies_in(keys_[key].asked.path, toggle.path) &&
                !toggle.asked[0].contains(key) && toggle.asked[1].contains(key) &&
                std::ranges::none_of(when, [&](const Condition& each) { return each.path == toggle.path; }))
                when.push_back({toggle.path, {}});
        return when;
    }

    const Reader& reader_;
    std::deque<Start> starts_;
    std::vector<Key> keys_;
    std::map<std::pair<std::string, std::string>, std::size_t> ids_;  ///< by path and meaning
    std::map<std::string, std::size_t> by_path_;                      ///< the last one
    Ids shipped_;                                         ///< keys that readers of shipped documents ask for
    std::map<std::size_t, std::set<std::string>> kinds_;  ///< in whose readings a key is asked for
    std::set<std::string> all_kinds_, looked_for_;
    std::set<std::pair<std::string, std::string>> toggled_;  ///< by kind and path
    std::vector<Toggle> toggles_;
};

/// `path` without `section` and the dot behind it.
std::string without(const std::string& path, std::string_view section) {
    return section.empty() || !lies_in(path, section) ? path : path.substr(section.size() + 1);
}

}  // namespace

std::vector<std::string> Key::only_for(std::string_view path) const {
    for (const Condition& each : when)
        if (each.path == path) return each.values;
    return {};
}

std::vector<Key> catalogue(const std::vector<Shipped>& documents, const Config::Resolver& resolve,
                           const Reader& reader) {
    Cataloguer cataloguer(reader);
    for (const Shipped& document : documents) cataloguer.read_shipped(document, resolve);
    return cataloguer.finish();
}

std::vector<Key> keys_below(const std::vector<Key>& keys, std::string_view section) {
    std::vector<Key> below;
    for (const Key& key : keys) {
        if (!lies_in(key.asked.path, section)) continue;
        Key& own = below.emplace_back(key);
        own.asked.path = without(own.asked.path, section);
        own.section = own.section == section ? "" : without(own.section, section);
        for (Condition& each : own.when) each.path = without(each.path, section);
    }
    return below;
}

std::vector<Key> keys_beside(const std::vector<Key>& keys, const std::vector<std::string>& sections) {
    std::vector<Key> beside;
    std::ranges::copy_if(keys, std::back_inserter(beside), [&](const Key& key) {
        return std::ranges::none_of(
            sections, [&](const std::string& section) { return lies_in(key.asked.path, section); });
    });
    return beside;
}

}  // namespace systole::reference
