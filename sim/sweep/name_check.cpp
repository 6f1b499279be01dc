// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/name_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace systole::sweep {
namespace {

bool concerns(const std::string& owner, const std::string& device) {
    return owner.empty() || owner == device;
}

/// A formula, and where it stands.
struct Use {
    const Formula& formula;
    std::string device;     ///< the only one; empty: all
    std::size_t before;     ///< of this many derived values it may use any
    std::string of_device;  ///< how it is said for one device, "{}" being its name
};

class NameCheck {
public:
    NameCheck(const Experiment& experiment, PointIdentity& identity, Mistakes& mistakes)
        : experiment_(experiment), identity_(identity), mistakes_(mistakes) {}

    std::set<const Formula*> check() {
        for (std::size_t i = 0; i < experiment_.derived.size(); ++i) {
            const Derived& each = experiment_.derived[i];
            check(
                {each.formula, each.device, i, "a value of one device is derived as '{}:" + each.name + "'"});
        }
        for (const Condition& each : experiment_.where)
            check({each.formula, each.device, experiment_.derived.size(),
                   "a condition of one device is written {{{}: …}}"});
        return std::move(broken_);
    }

private:
    void check(const Use& use) {
        for (const std::string& name : use.formula.names()) {
            const std::string what = mistake(use, name);
            if (what.empty()) continue;
            mistakes_.add(use.formula.where(), what);
            broken_.insert(&use.formula);
        }
    }

    /// Of the first device and trace for which there is one, or "".
    std::string mistake(const Use& use, const std::string& name) {
        for (const Reference& device : experiment_.devices)
            for (const Reference& trace : experiment_.traces) {
                if (!concerns(use.device, device.name)) continue;
                if (std::string what = mistake(use, name, device.name, trace.name); !what.empty())
                    return what;
            }
        return "";
    }

    std::string mistake(const Use& use, const std::string& name, const std::string& device,
                        const std::string& trace) {
        if (const auto number = derived(name, device)) {
            if (*number == use.before) return fmt::format("'{}' is derived from itself", name);
            if (*number > use.before)
                return fmt::format("'{}' is derived further down; write it above", name);
            if (broken_.contains(&experiment_.derived[*number].formula)) broken_.insert(&use.formula);
            return "";
        }
        if (text_of(name, device, trace)) return "";
        for (const Reference& other : experiment_.devices)
            if (concerns(use.device, other.name) && text_of(name, other.name, trace))
                return fmt::format("{} has no key '{}'; {}", device, name,
                                   fmt::format(fmt::runtime(use.of_device), other.name));
        const std::string unknown = fmt::format(
            "'{}' is no axis, no value derived before, and no key of {} or {}", name, device, trace);
        if (const std::string word = word_beside(use, device, trace);
            !word.empty() && name.find('.') == std::string::npos)
            return fmt::format("{}; formulas compare numbers only, and {}", unknown, word);
        std::vector<std::string> candidates = identity_.paths(device, trace);
        for (const Column* column : columns()) candidates.push_back(column->path);
        for (const Derived& each : experiment_.derived) candidates.push_back(each.name);
        return unknown + did_you_mean(name, candidates);
    }

    std::optional<std::size_t> derived(const std::string& name, const std::string& device) const {
        for (std::size_t i = 0; i < experiment_.derived.size(); ++i)
            if (experiment_.derived[i].name == name && concerns(experiment_.derived[i].device, device))
                return i;
        return {};
    }

    std::vector<const Column*> columns() const {
        std::vector<const Column*> all;
        for (const Axis& axis : experiment_.axes)
            for (const Column& column : axis.columns) all.push_back(&column);
        for (const Column& column : experiment_.fixed) all.push_back(&column);
        return all;
    }

    /// A value that is not derived, of a point or its base. "" of a range without steps.
    std::optional<std::string> text_of(const std::string& name, const std::string& device,
                                       const std::string& trace) {
        for (const Column* column : columns())
            if (column->path == name && concerns(column->device, device))
                return column->values.empty() ? "" : column->values.front();
        return identity_.value(device, trace, name, {});
    }

    /// What is said of a name of the formula whose value is a word, or "".
    std::string word_beside(const Use& use, const std::string& device, const std::string& trace) {
        for (const std::string& name : use.formula.names()) {
            if (derived(name, device)) continue;
            const auto text = text_of(name, device, trace);
            if (text && !text->empty() && text->front() != '[' && !number_of(*text))
                return fmt::format("'{}' is a word ('{}')", name, *text);
        }
        return "";
    }

    const Experiment& experiment_;
    PointIdentity& identity_;
    Mistakes& mistakes_;
    std::set<const Formula*> broken_;
};

}  // namespace

std::set<const Formula*> check_names(const Experiment& experiment, PointIdentity& identity,
                                     Mistakes& mistakes) {
    return NameCheck(experiment, identity, mistakes).check();
}

}  // namespace systole::sweep
