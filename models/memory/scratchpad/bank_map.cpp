// SPDX-License-Identifier: Apache-2.0
#include "models/memory/scratchpad/bank_map.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/base/check.h"
#include "sim/base/units.h"

namespace systole {
namespace {

/// Lines that are as quickly looked at one by one.
constexpr std::int64_t kFew = 8;

}  // namespace

BankLoad::BankLoad(const BankMap& map)
    : map_(map), lines_(static_cast<std::size_t>(map.banks)), steps_(static_cast<std::size_t>(map.banks)) {}

void BankLoad::clear() {
    std::fill(lines_.begin(), lines_.end(), 0);
    if (!settled_) std::fill(steps_.begin(), steps_.end(), 0);
    settled_ = true;
}

void BankLoad::one_by_one(std::int64_t from, std::int64_t to, std::int64_t times) {
    for (std::int64_t line = from; line < to; ++line)
        lines_[static_cast<std::size_t>(map_.bank_of(line))] += times;
}

void BankLoad::add(std::int64_t first, std::int64_t last, std::int64_t times) {
    SYSTOLE_CHECK(first >= 0 && last >= first, "lines {} to {}", first, last);
    const std::int64_t banks = map_.banks, count = last - first + 1;
    if (count <= kFew) return one_by_one(first, last + 1, times);
    settled_ = false;
    if (map_.kind == BankMapKind::Interleaved) {
        // Whole turns, and the rest from the bank of the first line on, perhaps around the end.
        const std::int64_t begin = first % banks, end = begin + count % banks;
        steps_[0] += count / banks * times + (end > banks ? times : 0);
        steps_[static_cast<std::size_t>(begin)] += times;
        if (end != banks) steps_[static_cast<std::size_t>(end % banks)] -= times;
        return;
    }
    // Every whole turn, counted from line 0, has one line in each bank.
    const std::int64_t from = ceil_div(first, banks), until = std::max(from, (last + 1) / banks);
    steps_[0] += (until - from) * times;
    one_by_one(first, std::min(from * banks, last + 1), times);
    one_by_one(std::max(until * banks, first), last + 1, times);
}

void BankLoad::settle() const {
    std::int64_t load = 0;
    for (std::size_t bank = 0; bank < lines_.size(); ++bank) {
        load += std::exchange(steps_[bank], 0);
        lines_[bank] += load;
    }
    settled_ = true;
}

void BankLoad::add(const BankLoad& other) {
    const auto& added = other.lines();
    for (std::size_t bank = 0; bank < lines_.size(); ++bank) lines_[bank] += added[bank];
}

void BankLoad::scale(std::int64_t num, std::int64_t den) {
    if (num == den) return;
    if (!settled_) settle();
    for (std::int64_t& lines : lines_)
        lines = static_cast<std::int64_t>((Int128{lines} * num + den - 1) / den);
}

std::int64_t BankLoad::busiest() const {
    return *std::max_element(lines().begin(), lines().end());
}

std::int64_t BankLoad::total() const {
    return std::accumulate(lines().begin(), lines().end(), std::int64_t{0});
}

}  // namespace systole
