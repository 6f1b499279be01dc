// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/memory/l2_blocks.h"

#include <algorithm>
#include <bit>

#include "sim/base/check.h"

namespace systole::simt {
namespace {

bool power_of_two(std::int64_t value) {
    return value > 0 && std::has_single_bit(static_cast<std::uint64_t>(value));
}

/// Bits [from, until) of a mask, 0 <= from <= until <= 64.
std::uint64_t bits(std::int64_t from, std::int64_t until) {
    const auto below = [](std::int64_t n) {
        return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
    };
    return from < until ? below(until) & ~below(from) : 0;
}

}  // namespace

L2Blocks::L2Blocks(const L2Spec& spec)
    : sector_(spec.sector.value()),
      line_(spec.line.value()),
      page_(sector_ * kSectors),
      most_lines_(line_ > 0 ? spec.usable.value() / line_ : 0),
      sector_shift_(sector_ > 0 ? std::countr_zero(static_cast<std::uint64_t>(sector_)) : 0),
      sectors_of_line_(sector_ > 0 ? static_cast<int>(line_ / sector_) : 0) {
    SYSTOLE_CHECK(power_of_two(sector_) && power_of_two(line_) && sector_ <= line_ && line_ <= page_,
                  "lines of {} B in sectors of {} B", line_, sector_);
    SYSTOLE_CHECK(most_lines_ * line_ >= page_, "an L2 of {} B, pages of {} B", spec.usable.value(), page_);
    for (int sector = 0; sector < kSectors; sector += sectors_of_line_) first_of_lines_ |= Mask{1} << sector;
}

std::int64_t L2Blocks::read(std::int64_t address, std::int64_t bytes, Operand operand, Traffic& traffic) {
    std::int64_t hit = 0;
    each_page(address, bytes, [&](const Share& share) {
        Page& page = use(share.number);
        const Mask wanted = touched(share);
        const Mask missing = wanted & ~page.valid;
        hit += bytes_of(share, wanted & page.valid);
        append(traffic.fetched, share.number, missing, operand);
        add(page, missing, traffic);
    });
    return hit;
}

std::int64_t L2Blocks::write(std::int64_t address, std::int64_t bytes, Operand operand, Traffic& traffic) {
    std::int64_t hit = 0;
    each_page(address, bytes, [&](const Share& share) {
        Page& page = use(share.number);
        const Mask wanted = touched(share);
        const Mask missing = wanted & ~page.valid;
        hit += bytes_of(share, wanted & page.valid);
        append(traffic.fetched, share.number, missing & ~covered(share), operand);
        page.dirty |= wanted;
        page.operand = operand;
        add(page, missing, traffic);
    });
    return hit;
}

Bytes L2Blocks::dirty() const {
    std::int64_t sectors = 0;
    for (std::uint32_t place = oldest_; place != kNone; place = pages_[place].newer)
        sectors += std::popcount(pages_[place].dirty);
    return Bytes(sectors * sector_);
}

template <class Each>
void L2Blocks::each_page(std::int64_t address, std::int64_t bytes, const Each& each) const {
    SYSTOLE_CHECK(address >= 0 && bytes > 0, "{} B at {}", bytes, address);
    const std::int64_t end = address + bytes;
    for (std::int64_t at = address; at < end;) {
        const std::int64_t number = at / page_;
        const std::int64_t until = std::min(end, (number + 1) * page_);
        each(Share{number, at - number * page_, until - number * page_});
        at = until;
    }
}

/// Sectors of which the share has a byte, and those of which it has all.
L2Blocks::Mask L2Blocks::touched(const Share& share) const {
    return bits(share.from >> sector_shift_, (share.until + sector_ - 1) >> sector_shift_);
}

L2Blocks::Mask L2Blocks::covered(const Share& share) const {
    return bits((share.from + sector_ - 1) >> sector_shift_, share.until >> sector_shift_);
}

/// Bytes of the share that lie in these of its sectors.
std::int64_t L2Blocks::bytes_of(const Share& share, Mask sectors) const {
    std::int64_t bytes = std::popcount(sectors) * sector_;
    const std::int64_t first = share.from >> sector_shift_, last = (share.until - 1) >> sector_shift_;
    if ((sectors >> first & 1) != 0) bytes -= share.from - first * sector_;
    if ((sectors >> last & 1) != 0) bytes -= (last + 1) * sector_ - share.until;
    return bytes;
}

/// The page, which is now the last used.
L2Blocks::Page& L2Blocks::use(std::int64_t number) {
    const auto leaf_number = static_cast<std::size_t>(number / Leaf::kPages);
    if (leaf_number >= leaves_.size()) leaves_.resize(leaf_number + 1);
    std::unique_ptr<Leaf>& leaf = leaves_[leaf_number];
    if (!leaf) {
        leaf = std::make_unique<Leaf>();
        leaf->places.fill(kNone);
    }
    std::uint32_t& place = leaf->places[static_cast<std::size_t>(number % Leaf::kPages)];
    if (place == kNone) {
        if (free_.empty()) {
            free_.push_back(static_cast<std::uint32_t>(pages_.size()));
            pages_.emplace_back();
        }
        place = free_.back();
        free_.pop_back();
        pages_[place] = Page{};
        pages_[place].number = number;
        ++leaf->held;
        link_newest(place);
    } else if (place != newest_) {
        unlink(place);
        link_newest(place);
    }
    return pages_[place];
}

/// The newest page holds these sectors, too; others make room.
void L2Blocks::add(Page& page, Mask sectors, Traffic& traffic) {
    if (sectors == 0) return;
    lines_ += lines_of(page.valid | sectors) - lines_of(page.valid);
    page.valid |= sectors;
    while (lines_ > most_lines_) evict_oldest(traffic);
}

std::int64_t L2Blocks::lines_of(Mask sectors) const {
    // Every bit of a line is folded into its first.
    for (int apart = 1; apart < sectors_of_line_; apart *= 2) sectors |= sectors >> apart;
    return std::popcount(sectors & first_of_lines_);
}

void L2Blocks::link_newest(std::uint32_t place) {
    pages_[place].older = newest_;
    pages_[place].newer = kNone;
    (newest_ == kNone ? oldest_ : pages_[newest_].newer) = place;
    newest_ = place;
}

void L2Blocks::unlink(std::uint32_t place) {
    const Page& page = pages_[place];
    (page.older == kNone ? oldest_ : pages_[page.older].newer) = page.newer;
    (page.newer == kNone ? newest_ : pages_[page.newer].older) = page.older;
}

void L2Blocks::evict_oldest(Traffic& traffic) {
    const std::uint32_t place = oldest_;
    const Page& page = pages_[place];
    append(traffic.evicted, page.number, page.dirty, page.operand);
    lines_ -= lines_of(page.valid);
    std::unique_ptr<Leaf>& leaf = leaves_[static_cast<std::size_t>(page.number / Leaf::kPages)];
    leaf->places[static_cast<std::size_t>(page.number % Leaf::kPages)] = kNone;
    unlink(place);
    free_.push_back(place);
    if (--leaf->held == 0) leaf.reset();
}

/// The sectors as ranges, the first one with the last range if they touch.
void L2Blocks::append(std::vector<SectorRange>& ranges, std::int64_t number, Mask sectors,
                      Operand operand) const {
    while (sectors != 0) {
        const int from = std::countr_zero(sectors);
        const int count = std::countr_one(sectors >> from);
        sectors &= ~bits(from, from + count);
        const std::int64_t address = number * page_ + from * sector_;
        const std::int64_t bytes = count * sector_;
        if (!ranges.empty() && ranges.back().operand == operand &&
            ranges.back().address + ranges.back().bytes == address)
            ranges.back().bytes += bytes;
        else
            ranges.push_back({address, bytes, operand});
    }
}

}  // namespace systole::simt
