// SPDX-License-Identifier: Apache-2.0
// One line of a program text as words with their columns: `word "quoted text" key=value ...`. Typed access
// records mistakes with their places instead of throwing, so that a reader can report all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/account/byte_ledger.h"
#include "sim/base/error.h"

namespace systole::systolic {

/// Above what any count or address of a program may be.
inline constexpr std::int64_t kAny = std::int64_t{1} << 62;

class ProgramLine {
public:
    ProgramLine(std::string_view text, SourceMark where, std::vector<Diagnostic>& mistakes);

    /// The first word, which says what kind of line this is; empty for an empty line or a comment (#).
    const std::string& kind() const { return kind_; }
    /// The quoted text behind the kind ("" and a mistake if there is none).
    std::string title();
    /// A whole number in [low, high]; `fallback` when the key is absent, a mistake without one.
    std::int64_t integer(const char* key, std::int64_t low, std::int64_t high,
                         std::optional<std::int64_t> fallback = {});
    /// One of `names`; its index.
    std::size_t choice(const char* key, const std::vector<std::string>& names);
    std::string text(const char* key, const std::optional<std::string>& fallback = {});
    bool has(const char* key) const;
    void fail(const char* key, const std::string& message);
    /// Whether anything is wrong with the line so far.
    bool failed() const { return mistakes_.size() > before_; }
    /// Keys that nobody asked for are mistakes.
    void finish();

private:
    struct Word {
        std::string key, value;
        int column;
        bool used = false;
    };
    Word* find(const char* key);
    void split(std::string_view text);

    std::string kind_;
    std::vector<Word> words_;
    SourceMark where_;
    std::vector<Diagnostic>& mistakes_;
    const std::size_t before_ = mistakes_.size();  // those of other lines
};

/// A whole number, digits only, or nothing.
std::optional<std::int64_t> parse_integer(std::string_view text);
/// The operands of the byte ledger, as texts name them.
const std::vector<std::string>& operand_names();
/// The parts of `text` between `separator`s.
std::vector<std::string_view> split_list(std::string_view text, char separator);

}  // namespace systole::systolic
