// SPDX-License-Identifier: Apache-2.0
#include "models/memory/bank_map.h"

#include <algorithm>
#include <numeric>

#include "sim/base/check.h"
#include "sim/base/units.h"

namespace systole {

void BankLoad::clear() {
    std::fill(lines_.begin(), lines_.end(), 0);
}

void BankLoad::add(std::int64_t first, std::int64_t last, std::int64_t times) {
    SYSTOLE_CHECK(first >= 0 && last >= first, "lines {} to {}", first, last);
    // Every whole turn, counted from line 0, has one line in each bank; the ends are looked at line by line.
    const std::int64_t banks = map_.banks;
    const std::int64_t turns_begin = ceil_div(first, banks) * banks, turns_end = (last + 1) / banks * banks;
    const auto one_by_one = [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t line = from; line < to; ++line)
            lines_[static_cast<std::size_t>(map_.bank_of(line))] += times;
    };
    if (turns_begin >= turns_end) return one_by_one(first, last + 1);
    one_by_one(first, turns_begin);
    one_by_one(turns_end, last + 1);
    const std::int64_t whole = (turns_end - turns_begin) / banks * times;
    for (std::int64_t& lines : lines_) lines += whole;
}

void BankLoad::add(const BankLoad& other) {
    for (std::size_t bank = 0; bank < lines_.size(); ++bank) lines_[bank] += other.lines_[bank];
}

void BankLoad::scale(std::int64_t num, std::int64_t den) {
    for (std::int64_t& lines : lines_)
        lines = static_cast<std::int64_t>((Int128{lines} * num + den - 1) / den);
}

std::int64_t BankLoad::busiest() const {
    return *std::max_element(lines_.begin(), lines_.end());
}

std::int64_t BankLoad::total() const {
    return std::accumulate(lines_.begin(), lines_.end(), std::int64_t{0});
}

}  // namespace systole
