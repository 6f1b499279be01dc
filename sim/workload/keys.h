// SPDX-License-Identifier: Apache-2.0
// Typed reading of one map of a trace. Every getter records a mistake at the value's place and answers its
// fallback (or the lowest legal value), so that reading goes on; finish() finds the keys nobody asked for.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/key_survey.h"
#include "sim/workload/parameters.h"

namespace systole {

class Keys {
public:
    /// `subject` says in messages whose keys these are: "conv2d 'conv1'". The map must outlive this.
    Keys(const config::YamlNode& map, const Parameters& parameters, Mistakes& mistakes, std::string subject);

    /// From now on, what is asked is told to `survey`, which must outlive this.
    void tell(KeySurvey& survey) { survey_ = &survey; }

    bool has(std::string_view key) const {
        return map_->find(key) != nullptr || (survey_ != nullptr && survey_->look(key));
    }
    /// The value of an optional key, or null.
    const config::YamlNode* optional(std::string_view key);
    /// The value of a key that must be there, or null after a mistake; `meaning` says what was expected.
    const config::YamlNode* required(std::string_view key, std::string_view meaning);

    /// An integer of low … kMaxInteger.
    std::int64_t integer(std::string_view key, std::int64_t low, std::optional<std::int64_t> fallback = {});
    /// The same without a default: nothing if the key is not there.
    std::optional<std::int64_t> integer_if_given(std::string_view key, std::int64_t low);
    /// `3` for both, or `[3, 5]`, each at least 1.
    std::array<std::int64_t, 2> pair(std::string_view key);
    /// `3` for all, or `[3, 5, 5]`: depth, height, width.
    std::array<std::int64_t, 3> triple(std::string_view key);
    /// `1` for all four, or `[top, left, bottom, right]`, each at least 0; 0 without the key.
    std::array<std::int64_t, 4> sides(std::string_view key);
    /// A list of 1 … 8 integers of at least `low`.
    std::vector<std::int64_t> integers(std::string_view key, std::int64_t low);
    bool flag(std::string_view key, bool fallback);
    /// The index of one of `names`.
    std::size_t choice(std::string_view key, const std::vector<std::string>& names,
                       std::optional<std::size_t> fallback = {});
    std::optional<DType> dtype(std::string_view key);
    /// Any text, or "" after a mistake.
    std::string text(std::string_view key, std::string_view meaning);
    /// A name (is_name), or "" after a mistake.
    std::string name(std::string_view key);

    /// Reports the keys that were never asked for.
    void finish();
    /// Records a mistake about the map as a whole, or at the value of `key` if that is there.
    void fail(std::string_view message, std::string_view key = "");

    const std::string& subject() const { return subject_; }

private:
    std::vector<std::int64_t> sizes(std::string_view key, std::string_view names, std::size_t count,
                                    std::int64_t low = 1);
    const config::YamlNode* required_scalar(std::string_view key, std::string_view meaning);
    std::string quoted(std::string_view key) const;
    void tell(std::string_view key, KeyKind kind, std::int64_t low = 0);

    const config::YamlNode* map_;
    const Parameters* parameters_;
    Mistakes* mistakes_;
    std::string subject_;
    std::vector<std::string> known_;
    KeySurvey* survey_ = nullptr;  ///< null: nobody wants to know
};

}  // namespace systole
