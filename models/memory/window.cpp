// SPDX-License-Identifier: Apache-2.0
#include "models/memory/window.h"

#include "sim/base/check.h"

namespace systole {
namespace {

constexpr std::uint64_t bit(int bank) {
    return std::uint64_t{1} << bank;
}

}  // namespace

Window::Window(int banks, int depth)
    : depth_(depth),
      slots_(2 * static_cast<std::size_t>(depth)),
      rows_(static_cast<std::size_t>(banks), kClosed) {
    SYSTOLE_CHECK(banks <= 64, "{} banks in a pseudo-channel", banks);
    clear();
}

void Window::clear() {
    const std::size_t banks = rows_.size();
    for (Side& side : sides_)
        side = {0, kEnd, kEnd, 0, 0, std::vector<List>(banks), std::vector<List>(banks)};
    for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].next = static_cast<std::int32_t>(i) - 1;
    free_ = static_cast<std::int32_t>(slots_.size()) - 1;
}

void Window::append(List& list, std::int32_t slot) {
    slots_[static_cast<std::size_t>(slot)].next = kEnd;
    if (list.head == kEnd) {
        list.head = slot;
        list.sequence = slots_[static_cast<std::size_t>(slot)].burst.sequence;
    } else {
        slots_[static_cast<std::size_t>(list.tail)].next = slot;
    }
    list.tail = slot;
}

bool Window::enter(Direction direction, const Burst& burst) {
    Side& side = of(direction);
    const std::int32_t at = free_;
    Slot& slot = slots_[static_cast<std::size_t>(at)];
    free_ = slot.next;
    slot.burst = burst;
    slot.older = side.youngest;
    slot.younger = kEnd;
    (side.youngest == kEnd ? side.oldest : slots_[static_cast<std::size_t>(side.youngest)].younger) = at;
    side.youngest = at;
    ++side.size;
    const auto bank = static_cast<std::size_t>(burst.bank);
    const bool hits = rows_[bank] == burst.row;
    (hits ? side.hit_banks : side.miss_banks) |= bit(burst.bank);
    List& list = hits ? side.hits[bank] : side.misses[bank];
    const bool first = list.head == kEnd;
    append(list, at);
    return first;
}

void Window::unlink(Side& side, std::int32_t at) {
    Slot& slot = slots_[static_cast<std::size_t>(at)];
    (slot.older == kEnd ? side.oldest : slots_[static_cast<std::size_t>(slot.older)].younger) = slot.younger;
    (slot.younger == kEnd ? side.youngest : slots_[static_cast<std::size_t>(slot.younger)].older) =
        slot.older;
    slot.next = free_;
    free_ = at;
    --side.size;
}

Window::Burst Window::take(Direction direction, int bank) {
    Side& side = of(direction);
    List& list = side.hits[static_cast<std::size_t>(bank)];
    const std::int32_t at = list.head;
    list.head = slots_[static_cast<std::size_t>(at)].next;
    if (list.head == kEnd) {
        list = {};
        side.hit_banks &= ~bit(bank);
    } else {
        list.sequence = slots_[static_cast<std::size_t>(list.head)].burst.sequence;
    }
    unlink(side, at);
    return slots_[static_cast<std::size_t>(at)].burst;
}

void Window::open(int bank, std::int64_t row) {
    rows_[static_cast<std::size_t>(bank)] = row;
    open_ |= bit(bank);
    for (Side& side : sides_)
        if (side.miss_banks & bit(bank)) sort_out(side, bank, row);
}

/// The misses of `bank` that want `row` become its hits; a closed bank has none before.
void Window::sort_out(Side& side, int bank, std::int64_t row) {
    List& misses = side.misses[static_cast<std::size_t>(bank)];
    List& hits = side.hits[static_cast<std::size_t>(bank)];
    List left;
    for (std::int32_t at = misses.head; at != kEnd;) {
        const std::int32_t next = slots_[static_cast<std::size_t>(at)].next;
        append(slots_[static_cast<std::size_t>(at)].burst.row == row ? hits : left, at);
        at = next;
    }
    misses = left;
    if (hits.head != kEnd) side.hit_banks |= bit(bank);
    if (misses.head == kEnd) side.miss_banks &= ~bit(bank);
}

void Window::close(int bank) {
    rows_[static_cast<std::size_t>(bank)] = kClosed;
    open_ &= ~bit(bank);
    for (Side& side : sides_)
        if (side.hit_banks & bit(bank)) merge(side, bank);
}

/// All hits of `bank` become misses again, by age.
void Window::merge(Side& side, int bank) {
    List& misses = side.misses[static_cast<std::size_t>(bank)];
    List& hits = side.hits[static_cast<std::size_t>(bank)];
    List merged;
    std::int32_t a = hits.head, b = misses.head;
    while (a != kEnd || b != kEnd) {
        const bool from_hits =
            b == kEnd || (a != kEnd && slots_[static_cast<std::size_t>(a)].burst.sequence <
                                           slots_[static_cast<std::size_t>(b)].burst.sequence);
        std::int32_t& from = from_hits ? a : b;
        const std::int32_t at = from;
        from = slots_[static_cast<std::size_t>(at)].next;
        append(merged, at);
    }
    misses = merged;
    hits = {};
    side.hit_banks &= ~bit(bank);
    side.miss_banks |= bit(bank);
}

}  // namespace systole
