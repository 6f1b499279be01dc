// SPDX-License-Identifier: Apache-2.0
// What a reader of a map asks for, told while it reads (Keys::tell): the reference of operators is made from
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace systole {

/// What a key of a trace takes.
enum class KeyKind {
    Integer,   ///< or an expression of parameters
    Pair,      ///< n, or [h, w]
    Triple,    ///< n, or [d, h, w]
    Sides,     ///< n, or [top, left, bottom, right]
    Integers,  ///< a list
    Flag,
    Choice,
    DType,  ///< or the name of a parameter
    Name,
    Text,
    Other  ///< known, and read in a way of its own
};

struct KeyQuestion {
    std::string key;
    KeyKind kind = KeyKind::Other;
    std::int64_t low = 0;                      ///< of integers
    std::vector<std::string> names = {};       ///< of a choice
    std::optional<std::string> fallback = {};  ///< as text
    bool is_required = false;
};

class KeySurvey {
public:
    /// Keys::has answers for `key` as if the map had it.
    void assume(std::string key) { assumed_.insert(std::move(key)); }
    /// In the order in which they were asked for, each once.
    const std::vector<KeyQuestion>& questions() const { return questions_; }
    /// Keys that were only looked for.
    const std::vector<std::string>& looked_for() const { return looked_for_; }

private:
    friend class Keys;
    void add(KeyQuestion asked) {
        if (keys_.insert(asked.key).second) questions_.push_back(std::move(asked));
    }
    bool look(std::string_view key) {
        looked_for_.emplace_back(key);
        return assumes(key);
    }
    bool assumes(std::string_view key) const { return assumed_.contains(key); }

    std::set<std::string, std::less<>> assumed_, keys_;
    std::vector<KeyQuestion> questions_;
    std::vector<std::string> looked_for_;
};

}  // namespace systole
