// SPDX-License-Identifier: Apache-2.0
#include "models/memory/controller/window.h"

#include <bit>

#include "sim/base/check.h"

namespace systole {

Window::Window(int banks, int depth)
    : depth_(depth),
      slots_(2 * static_cast<std::size_t>(depth)),
      rows_(static_cast<std::size_t>(banks), kClosed) {
    SYSTOLE_CHECK(banks <= 64, "{} banks in a pseudo-channel", banks);
    const Lists none{std::vector<List>(rows_.size()), std::vector<std::int64_t>(rows_.size(), kNone), 0};
    for (Side& side : sides_) side.hits = side.misses = none;
    for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].next = static_cast<std::int32_t>(i) - 1;
    free_ = static_cast<std::int32_t>(slots_.size()) - 1;
}

void Window::forget_all(Side& side) {
    side.size = 0;
    side.oldest = side.youngest = kEnd;
    for (Lists* lists : {&side.hits, &side.misses})
        for (std::uint64_t left = lists->banks; left != 0; left &= left - 1)
            drop_all(*lists, std::countr_zero(left));
}

void Window::open(int bank, std::int64_t row) {
    rows_[static_cast<std::size_t>(bank)] = row;
    open_ |= bank_bit(bank);
    for (Side& side : sides_)
        if (side.misses.banks & bank_bit(bank)) sort_out(side, bank, row);
}

/// The misses of `bank` that want `row` become its hits; a closed bank has none before.
void Window::sort_out(Side& side, int bank, std::int64_t row) {
    std::int32_t at = side.misses.of(bank).head;
    drop_all(side.misses, bank);
    while (at != kEnd) {
        const std::int32_t next = slot(at).next;
        append(slot(at).burst.row == row ? side.hits : side.misses, bank, at);
        at = next;
    }
}

void Window::close(int bank) {
    rows_[static_cast<std::size_t>(bank)] = kClosed;
    open_ &= ~bank_bit(bank);
    for (Side& side : sides_)
        if (side.hits.banks & bank_bit(bank)) merge(side, bank);
}

/// All hits of `bank` become misses again, by age.
void Window::merge(Side& side, int bank) {
    std::int32_t hit = side.hits.of(bank).head, miss = side.misses.of(bank).head;
    drop_all(side.hits, bank);
    drop_all(side.misses, bank);
    while (hit != kEnd || miss != kEnd) {
        const bool hit_first =
            miss == kEnd || (hit != kEnd && slot(hit).burst.sequence < slot(miss).burst.sequence);
        std::int32_t& from = hit_first ? hit : miss;
        const std::int32_t at = from;
        from = slot(at).next;
        append(side.misses, bank, at);
    }
}

}  // namespace systole
