// SPDX-License-Identifier: Apache-2.0
// What readers ask of a configuration, told while they read it (Config::tell): every key with its kind, its
// limits, its default and its meaning. The reference of all keys is made from it, so that nobody keeps a
// list.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/quantity.h"

namespace systole::config {

/// What a key takes.
enum class ValueKind {
    Count,     ///< a whole number without a unit
    Number,    ///< a decimal number without a unit
    Quantity,  ///< a number with a unit of Question::dimension
    Flag,      ///< on or off
    Choice,    ///< one of Question::names
    Text,      ///< any text: its reader says what is wrong with it
    List       ///< a list of plain values
};

/// What a getter of Section was asked for.
struct Question {
    Question(ValueKind of, std::string_view what) : kind(of), meaning(what) {}

    ValueKind kind;
    std::string meaning;                       ///< one sentence
    std::string path = {};                     ///< "mxu.rows"; "mxu.rate.*": of each key in a table
    std::string limits = {};                   ///< as Entry::limits
    Dimension dimension = {};                  ///< of a quantity
    std::string low = {}, high = {};           ///< of numbers and quantities; empty: none
    std::vector<std::string> names = {};       ///< of flags and choices
    std::optional<std::string> fallback = {};  ///< its default, as text
    bool is_optional = false;                  ///< asked for only where it is given
};

class Survey {
public:
    /// What keys() of a section answers beside what files give.
    static constexpr std::string_view kAnyKey = "*";

    /// Section::has answers for `path` as if a file had given it.
    void assume(std::string path) { assumed_.insert(std::move(path)); }
    /// Section::has answers for `path` as if no file had given it.
    void deny(std::string path) { denied_.insert(std::move(path)); }

    /// Keys in the order in which they were asked for, each once.
    const std::vector<Question>& questions() const { return questions_; }
    /// Paths that a reader asked to be there or not, and whether they were.
    const std::map<std::string, bool>& looked_for() const { return looked_for_; }

private:
    friend class Section;
    void add(Question asked);
    bool look(const std::string& path, bool given);

    std::set<std::string> assumed_, denied_;
    std::vector<Question> questions_;
    std::set<std::string> paths_;  ///< of the questions
    std::map<std::string, bool> looked_for_;
};

}  // namespace systole::config
