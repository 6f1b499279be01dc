// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/explain/sum.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace systole::test {
namespace {

class Reader {
public:
    explicit Reader(const std::string& text) : text_(text) {}

    std::int64_t all() {
        const std::int64_t value = sum();
        if (at_ != text_.size()) throw std::runtime_error("left over: " + text_.substr(at_));
        return value;
    }

private:
    bool take(const std::string& word) {
        if (text_.compare(at_, word.size(), word) != 0) return false;
        at_ += word.size();
        return true;
    }

    void expect(const std::string& word) {
        if (!take(word)) throw std::runtime_error("no '" + word + "' at: " + text_.substr(at_));
    }

    std::int64_t sum() {
        std::int64_t value = product();
        while (true) {
            if (take(" + "))
                value += product();
            else if (take(" - "))
                value -= product();
            else
                return value;
        }
    }

    std::int64_t product() {
        std::int64_t value = factor();
        while (take(" x ")) value *= factor();
        return value;
    }

    std::int64_t factor() {
        if (take("max(")) {
            const std::int64_t first = sum();
            expect(", ");
            const std::int64_t second = sum();
            expect(")");
            return std::max(first, second);
        }
        if (take("(")) {
            const std::int64_t value = sum();
            expect(")");
            return value;
        }
        return number();
    }

    /// A comma belongs to the number only if a digit follows: "max(1,024, 4)".
    std::int64_t number() {
        std::string digits;
        for (; at_ < text_.size(); ++at_) {
            const bool digit = std::isdigit(static_cast<unsigned char>(text_[at_])) != 0;
            const bool separator = text_[at_] == ',' && at_ + 1 < text_.size() && text_[at_ + 1] != ' ';
            if (digit)
                digits += text_[at_];
            else if (!separator)
                break;
        }
        if (digits.empty()) throw std::runtime_error("no number at: " + text_.substr(at_));
        return std::stoll(digits);
    }

    const std::string& text_;
    std::size_t at_ = 0;
};

}  // namespace

std::int64_t worked_out(const std::string& sum) {
    return Reader(sum).all();
}

}  // namespace systole::test
