// SPDX-License-Identifier: Apache-2.0
// Integer expressions of named parameters, as traces write them: "(seq + 1) / 2". The grammar is + - * / over
// decimal integers, names and parentheses, and min(a, b), max(a, b) and ceil_div(a, b), which rounds up; `/`
// must divide exactly, and nothing may leave 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace systole {

/// A mistake in an expression. Whoever knows the place in the file turns it into a UserError.
class ExpressionError : public std::exception {
public:
    ExpressionError(std::string message, std::size_t position)
        : message_(std::move(message)), position_(position) {}

    /// What is wrong and at which character: "unknown name 'hiden' at character 5 (did you mean 'hidden'?)".
    const char* what() const noexcept override { return message_.c_str(); }
    /// The character the message names, 1-based.
    std::size_t position() const { return position_; }

private:
    std::string message_;
    std::size_t position_;
};

/// The value of `text` with `names` bound; `*` and `/` bind closer than `+` and `-`, equals go from the left.
/// Throws ExpressionError for a syntax mistake, an unknown name or function, a number with a leading zero, a
/// division by zero or with a remainder, a ceil_div of what is below 0 or by what is below 1, a value outside
/// 64 bits, and parentheses deeper than 64.
std::int64_t evaluate(std::string_view text, const std::map<std::string, std::int64_t>& names);

}  // namespace systole
