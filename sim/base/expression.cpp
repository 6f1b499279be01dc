// SPDX-License-Identifier: Apache-2.0
#include "sim/base/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "sim/base/checked.h"
#include "sim/base/error.h"

namespace systole {
namespace {

constexpr int kMaxDepth = 64;

// Not <cctype>: its answers depend on the locale, and it must not see a negative char.
bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// A recursive descent over the text that computes as it goes.
class Evaluator {
public:
    Evaluator(std::string_view text, const std::map<std::string, std::int64_t>& names)
        : text_(text), names_(names) {}

    std::int64_t whole() {
        const std::int64_t value = sum(0);
        if (peek() == ')') fail("a ')' without its '('", at_);
        if (at_ < text_.size()) fail("expected an operator", at_);
        return value;
    }

private:
    [[noreturn]] static void fail(const std::string& what, std::size_t at, const std::string& hint = "") {
        throw ExpressionError(fmt::format("{} at character {}{}", what, at + 1, hint), at + 1);
    }

    /// The next character that is no space, or NUL at the end.
    char peek() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }

    template <class Predicate>
    std::string_view take_while(Predicate predicate) {
        const std::size_t start = at_;
        while (at_ < text_.size() && predicate(text_[at_])) ++at_;
        return text_.substr(start, at_ - start);
    }

    std::int64_t sum(int depth) {
        std::int64_t left = product(depth);
        for (char sign = peek(); sign == '+' || sign == '-'; sign = peek()) {
            const std::size_t at = at_++;
            const std::int64_t right = product(depth);
            std::int64_t result = 0;
            const bool overflow = sign == '+' ? __builtin_add_overflow(left, right, &result)
                                              : __builtin_sub_overflow(left, right, &result);
            if (overflow) fail(fmt::format("{} {} {} leaves 64 bits", left, sign, right), at);
            left = result;
        }
        return left;
    }

    std::int64_t product(int depth) {
        std::int64_t left = operand(depth);
        for (char sign = peek(); sign == '*' || sign == '/'; sign = peek()) {
            const std::size_t at = at_++;
            const std::int64_t right = operand(depth);
            left = sign == '*' ? multiply(left, right, at) : divide(left, right, at);
        }
        return left;
    }

    static std::int64_t multiply(std::int64_t left, std::int64_t right, std::size_t at) {
        const std::optional<std::int64_t> result = checked_mul(left, right);
        if (!result) fail(fmt::format("{} * {} leaves 64 bits", left, right), at);
        return *result;
    }

    static std::int64_t divide(std::int64_t left, std::int64_t right, std::size_t at) {
        if (right == 0) fail(fmt::format("{} / 0", left), at);
        // The one quotient that does not fit; the processor would trap on it.
        if (right == -1) return multiply(left, -1, at);
        if (left % right != 0) fail(fmt::format("{} / {} is not a whole number", left, right), at);
        return left / right;
    }

    std::int64_t operand(int depth) {
        const char c = peek();
        if (c == '(') return parenthesis(depth);
        if (is_digit(c)) return number();
        if (is_name_start(c)) return name(depth);
        fail("expected a number, a name or '('", at_);
    }

    std::int64_t parenthesis(int depth) {
        const std::size_t open = at_++;
        if (depth == kMaxDepth) fail(fmt::format("parentheses deeper than {}", kMaxDepth), open);
        const std::int64_t value = sum(depth + 1);
        if (peek() != ')') fail(fmt::format("expected ')' for the '(' of character {}", open + 1), at_);
        ++at_;
        return value;
    }

    std::int64_t number() {
        const std::size_t start = at_;
        const std::string_view digits = take_while(is_digit);
        if (digits.size() > 1 && digits.front() == '0') fail("a number with a leading zero", start);
        if (at_ < text_.size() && is_name_start(text_[at_])) fail("expected an operator", at_);
        std::int64_t value = 0;
        for (const char digit : digits) {
            const bool overflow = __builtin_mul_overflow(value, 10, &value) ||
                                  __builtin_add_overflow(value, digit - '0', &value);
            if (overflow) fail("a number that leaves 64 bits", start);
        }
        return value;
    }

    /// `word` has been read, and stands before its '('.
    std::int64_t call(const std::string& word, std::size_t start, int depth) {
        const auto* const function = std::ranges::find(kFunctions, word, &Function::name);
        if (function == std::end(kFunctions)) {
            std::vector<std::string> known;
            for (const Function& one : kFunctions) known.emplace_back(one.name);
            fail(fmt::format("unknown function '{}'", word), start, did_you_mean(word, known));
        }
        const std::size_t open = at_++;
        if (depth == kMaxDepth) fail(fmt::format("parentheses deeper than {}", kMaxDepth), open);
        const std::int64_t left = sum(depth + 1);
        if (peek() != ',') fail(fmt::format("expected ',': '{}' takes two numbers", word), at_);
        ++at_;
        const std::int64_t right = sum(depth + 1);
        if (peek() != ')') fail(fmt::format("expected ')' for the '(' of character {}", open + 1), at_);
        ++at_;
        return function->of(left, right, start);
    }

    static std::int64_t lesser(std::int64_t left, std::int64_t right, std::size_t) {
        return std::min(left, right);
    }

    static std::int64_t greater(std::int64_t left, std::int64_t right, std::size_t) {
        return std::max(left, right);
    }

    static std::int64_t ceil_divide(std::int64_t left, std::int64_t right, std::size_t at) {
        if (left < 0 || right <= 0)
            fail(fmt::format("ceil_div of {} by {}: expected a number from 0 on, and one from 1 on", left,
                             right),
                 at);
        return left / right + (left % right != 0 ? 1 : 0);
    }

    struct Function {
        std::string_view name;
        std::int64_t (*of)(std::int64_t left, std::int64_t right, std::size_t at);
    };
    static constexpr Function kFunctions[] = {{"min", lesser}, {"max", greater}, {"ceil_div", ceil_divide}};

    std::int64_t name(int depth) {
        const std::size_t start = at_;
        const std::string word(take_while([](char c) { return is_name_start(c) || is_digit(c); }));
        if (peek() == '(') return call(word, start, depth);
        const auto found = names_.find(word);
        if (found != names_.end()) return found->second;
        std::vector<std::string> known;
        for (const auto& [known_name, value] : names_) known.push_back(known_name);
        fail(fmt::format("unknown name '{}'", word), start, did_you_mean(word, known));
    }

    std::string_view text_;
    const std::map<std::string, std::int64_t>& names_;
    std::size_t at_ = 0;
};

}  // namespace

std::int64_t evaluate(std::string_view text, const std::map<std::string, std::int64_t>& names) {
    return Evaluator(text, names).whole();
}

}  // namespace systole
