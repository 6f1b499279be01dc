// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/memory/l2_blocks.h"

#include <algorithm>
#include <bit>

#include "sim/base/check.h"

namespace systole::simt {
namespace {

constexpr std::int64_t kLeastPages = 64;  // that an L2 holds: with fewer, recency would mean nothing

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

std::int64_t page_of(std::int64_t stripe, std::int64_t word, std::int64_t usable) {
    return stripe > word && stripe <= usable / kLeastPages ? stripe : word;
}

std::int64_t sets_of(const L2Spec& spec, std::int64_t page) {
    return spec.ways > 0 && page > 0 ? std::max<std::int64_t>(1, spec.usable.value() / (spec.ways * page))
                                     : 1;
}

/// Set bits. Without an instruction for it, which not every x86-64 has, the library's function takes a tenth
/// of all that this file does.
std::int64_t count_of(std::uint64_t bits) {
    bits -= bits >> 1 & 0x5555555555555555U;
    bits = (bits & 0x3333333333333333U) + (bits >> 2 & 0x3333333333333333U);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fU;
    return static_cast<std::int64_t>(bits * 0x0101010101010101U >> 56);
}

int log2_of(std::int64_t power) {
    return power > 0 ? std::countr_zero(static_cast<std::uint64_t>(power)) : 0;
}

/// Bits that have nothing to do with those of the neighbours' numbers (the finalizer of SplitMix64; Steele et
/// al., OOPSLA 2014).
std::uint64_t mixed(std::uint64_t number) {
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9U;
    number = (number ^ (number >> 27)) * 0x94d049bb133111ebU;
    return number ^ (number >> 31);
}

}  // namespace

L2Blocks::L2Blocks(const L2Spec& spec, Bytes stripe)
    : sector_(spec.sector.value()),
      line_(spec.line.value()),
      word_(sector_ * kSectors),
      page_(page_of(stripe.value(), word_, spec.usable.value())),
      words_(word_ > 0 ? static_cast<int>(page_ / word_) : 0),
      sets_(static_cast<std::size_t>(sets_of(spec, page_))),
      most_lines_(line_ > 0 ? spec.usable.value() / line_ / static_cast<std::int64_t>(sets_.size()) : 0),
      halves_(spec.usable.value() <= spec.capacity.value() / 2),
      sector_shift_(log2_of(sector_)),
      word_shift_(log2_of(word_)),
      page_shift_(log2_of(page_)),
      sectors_of_line_(sector_ > 0 ? static_cast<int>(line_ / sector_) : 0),
      dirty_(spec.dirty > Bytes(0) && sector_ > 0 ? spec.dirty.value() / sector_ : Bytes::max().value()) {
    SYSTOLE_CHECK(power_of_two(sector_) && power_of_two(line_) && sector_ <= line_ && line_ <= word_ &&
                      power_of_two(page_),
                  "lines of {} B in sectors of {} B", line_, sector_);
    SYSTOLE_CHECK(most_lines_ * line_ >= page_, "an L2 of {} B, pages of {} B", spec.usable.value(), page_);
    for (int sector = 0; sector < kSectors; sector += sectors_of_line_) first_of_lines_ |= Mask{1} << sector;
}

// What a page lacks of the matrix comes with what is asked for.
std::int64_t L2Blocks::read(std::int64_t address, std::int64_t bytes, Operand operand, Traffic& traffic,
                            const MatrixRange& matrix) {
    std::int64_t hit = 0;
    each_page({address, address + bytes}, [&](std::int64_t number, Range range) {
        const std::uint32_t place = use(number, matrix.by_one_half && halves_ ? kOfOneHalf : kWhole);
        const std::int64_t held = held_of(range, place);
        hit += held;
        each_word(range, [&](std::size_t word, Mask wanted) {
            Mask& fresh = masks(place)[word].fresh;
            traffic.fresh = traffic.fresh || (fresh & wanted) != 0;
            fresh &= ~wanted;
        });
        if (held == range.until - range.from) return;
        const std::int64_t begin = number * page_;
        Range fetched = range;
        if (!matrix.empty())
            fetched = {std::min(range.from, std::max(begin, matrix.begin)),
                       std::max(range.until, std::min(begin + page_, matrix.padded_end))};
        each_word(fetched, [&](std::size_t word, Mask wanted) {
            const Mask missing = wanted & ~masks(place)[word].valid;
            append(traffic.fetched, begin + static_cast<std::int64_t>(word) * word_, missing, operand);
            add(place, word, missing, traffic);
        });
    });
    return hit;
}

std::int64_t L2Blocks::write(std::int64_t address, std::int64_t bytes, Operand operand, Traffic& traffic,
                             const MatrixRange& matrix) {
    std::int64_t hit = 0;
    each_page({address, address + bytes}, [&](std::int64_t number, Range range) {
        const std::uint32_t place = use(number, kWhole);
        hit += held_of(range, place);
        pages_[place].operand = operand;
        if (range.until == matrix.end)
            range.until = std::max(range.until, std::min((number + 1) * page_, matrix.padded_end));
        std::int64_t dirtied = 0;
        each_word(range, [&](std::size_t word, Mask wanted) {
            Masks& masks_of_word = masks(place)[word];
            dirtied += count_of(wanted & ~masks_of_word.dirty);
            masks_of_word.dirty |= wanted;
            masks_of_word.fresh |= wanted;
            add(place, word, wanted & ~masks_of_word.valid, traffic);
        });
        const std::int64_t begin = number * page_;
        note_partial(place, {std::max(begin, matrix.begin), std::min(begin + page_, matrix.padded_end)});
        dirty_.wrote(place, dirtied);
        while (dirty_.too_many() && dirty_.oldest() != place) clean_oldest(traffic);
    });
    return hit;
}

template <class Each>
void L2Blocks::each_page(Range range, const Each& each) const {
    SYSTOLE_CHECK(range.from >= 0 && !range.empty(), "bytes {} to {}", range.from, range.until);
    for (std::int64_t at = range.from; at < range.until;) {
        const std::int64_t number = at >> page_shift_;
        const std::int64_t until = std::min(range.until, (number + 1) << page_shift_);
        each(number, Range{at, until});
        at = until;
    }
}

/// The range lies in one page.
template <class Each>
void L2Blocks::each_word(Range range, const Each& each) const {
    const std::int64_t from = range.from & (page_ - 1), until = from + range.until - range.from;
    for (std::int64_t at = from; at < until;) {
        const std::int64_t word = at >> word_shift_, begin = word << word_shift_;
        const std::int64_t end = std::min(until, begin + word_);
        each(static_cast<std::size_t>(word),
             bits((at - begin) >> sector_shift_, (end - begin + sector_ - 1) >> sector_shift_));
        at = end;
    }
}

/// Bytes of the range, in one page, whose sectors are there.
std::int64_t L2Blocks::held_of(Range range, std::uint32_t place) const {
    std::int64_t sectors = 0;
    each_word(range,
              [&](std::size_t word, Mask wanted) { sectors += count_of(wanted & masks(place)[word].valid); });
    std::int64_t bytes = sectors * sector_;
    const auto is_held = [&](std::int64_t byte) {
        const std::int64_t within = byte & (page_ - 1);
        const Mask valid = masks(place)[within >> word_shift_].valid;
        return (valid >> ((within & (word_ - 1)) >> sector_shift_) & 1) != 0;
    };
    // Of the first and the last sector, perhaps not all.
    if (is_held(range.from)) bytes -= range.from & (sector_ - 1);
    if (is_held(range.until - 1)) bytes -= sector_ - 1 - ((range.until - 1) & (sector_ - 1));
    return bytes;
}

/// The page, which is now the last used, and whose lines take that share of their places at least.
std::uint32_t L2Blocks::use(std::int64_t number, std::int64_t share) {
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
            masks_.resize(pages_.size() * static_cast<std::size_t>(words_));
        }
        place = free_.back();
        free_.pop_back();
        pages_[place] = Page{};
        pages_[place].number = number;
        pages_[place].set = set_of(number);
        pages_[place].share = share;
        std::fill_n(masks(place), words_, Masks{});
        ++leaf->held;
        link_newest(place);
        fetch_oldest(sets_[set_of(number + 1)]);
    } else if (place != sets_[pages_[place].set].newest) {
        unlink(place);
        link_newest(place);
    }
    if (share > pages_[place].share) grow(place, share);
    return place;
}

/// SMs of the other half have a copy of the page's lines from now on. What they push out goes with the next
/// line that the set takes.
void L2Blocks::grow(std::uint32_t place, std::int64_t share) {
    std::int64_t lines = 0;
    for (int word = 0; word < words_; ++word) lines += lines_of(masks(place)[word].valid);
    sets_[pages_[place].set].lines += lines * (share - pages_[place].share);
    pages_[place].share = share;
}

/// Where the page is; kNone if it is not there.
std::uint32_t L2Blocks::find(std::int64_t number) const {
    const auto leaf = static_cast<std::size_t>(number / Leaf::kPages);
    if (leaf >= leaves_.size() || !leaves_[leaf]) return kNone;
    return leaves_[leaf]->places[static_cast<std::size_t>(number % Leaf::kPages)];
}

void L2Blocks::drop(std::int64_t address, std::int64_t bytes) {
    each_page({address, address + bytes}, [&](std::int64_t number, Range range) {
        const std::uint32_t place = find(number);
        if (place == kNone) return;
        each_word(range, [&](std::size_t word, Mask wanted) {
            Masks& own = masks(place)[word];
            const std::int64_t before = lines_of(own.valid);
            own.valid &= ~wanted | own.dirty;
            own.fresh &= own.valid;
            const std::int64_t dropped = before - lines_of(own.valid);
            sets_[pages_[place].set].lines -= dropped * pages_[place].share;
            lines_ -= dropped;
        });
    });
}

std::uint32_t L2Blocks::set_of(std::int64_t number) const {
    return static_cast<std::uint32_t>(mixed(static_cast<std::uint64_t>(number)) % sets_.size());
}

/// The page that will make room in the set: of many, it lies far from what was last looked at.
void L2Blocks::fetch_oldest(const Set& set) const {
    if (set.oldest == kNone) return;
    __builtin_prefetch(&pages_[set.oldest]);
    __builtin_prefetch(masks(set.oldest));
}

/// The page, the newest of its set, holds these sectors of the word, too; others make room.
void L2Blocks::add(std::uint32_t place, std::size_t word, Mask sectors, Traffic& traffic) {
    if (sectors == 0) return;
    Mask& valid = masks(place)[word].valid;
    const std::int64_t added = lines_of(valid | sectors) - lines_of(valid);
    valid |= sectors;
    Set& set = sets_[pages_[place].set];
    set.lines += added * pages_[place].share;
    lines_ += added;
    while (set.lines > most_lines_ * kWhole) {
        // All others of the set wait for their rest: the one that has done so longest goes all the same.
        const bool all_wait = set.oldest == place && set.newest != place;
        if (all_wait) {
            unlink(place);
            link_newest(place);
        }
        if (all_wait || !wait_for_rest(set)) evict_oldest(set, traffic);
    }
}

/// `whole`: what of the matrix lies in the page.
void L2Blocks::note_partial(std::uint32_t place, Range whole) {
    bool partial = false;
    if (!whole.empty())
        each_word(whole, [&](std::size_t word, Mask wanted) {
            partial = partial || (wanted & ~masks(place)[word].dirty) != 0;
        });
    partial_ += static_cast<int>(partial) - static_cast<int>(pages_[place].partial);
    pages_[place].partial = partial;
}

/// A page of which CTAs of a later wave write the rest stays until then, as long as such pages are few: the
/// memory gets whole stripes.
bool L2Blocks::wait_for_rest(const Set& set) {
    const auto held = static_cast<std::int64_t>(pages_.size() - free_.size());
    const std::uint32_t place = set.oldest;
    if (!pages_[place].partial || place == set.newest || partial_ * kLeastPages > held) return false;
    unlink(place);
    link_newest(place);
    return true;
}

std::int64_t L2Blocks::lines_of(Mask sectors) const {
    if (~sectors == 0) return kSectors / sectors_of_line_;
    // Every bit of a line is folded into its first.
    for (int apart = 1; apart < sectors_of_line_; apart *= 2) sectors |= sectors >> apart;
    return count_of(sectors & first_of_lines_);
}

void L2Blocks::link_newest(std::uint32_t place) {
    Set& set = sets_[pages_[place].set];
    pages_[place].older = set.newest;
    pages_[place].newer = kNone;
    (set.newest == kNone ? set.oldest : pages_[set.newest].newer) = place;
    set.newest = place;
}

void L2Blocks::unlink(std::uint32_t place) {
    const Page& page = pages_[place];
    Set& set = sets_[page.set];
    (page.older == kNone ? set.oldest : pages_[page.older].newer) = page.newer;
    (page.newer == kNone ? set.newest : pages_[page.newer].older) = page.older;
}

void L2Blocks::evict_oldest(Set& set, Traffic& traffic) {
    const std::uint32_t place = set.oldest;
    const Page& page = pages_[place];
    for (int word = 0; word < words_; ++word) {
        append(traffic.evicted, page.number * page_ + word * word_, masks(place)[word].dirty, page.operand);
        const std::int64_t lines = lines_of(masks(place)[word].valid);
        set.lines -= lines * page.share;
        lines_ -= lines;
    }
    partial_ -= static_cast<int>(page.partial);
    dirty_.forget(place);
    std::unique_ptr<Leaf>& leaf = leaves_[static_cast<std::size_t>(page.number / Leaf::kPages)];
    leaf->places[static_cast<std::size_t>(page.number % Leaf::kPages)] = kNone;
    unlink(place);
    free_.push_back(place);
    if (--leaf->held == 0) leaf.reset();
}

/// Of a page that waits for its rest, as for whole stripes when it would make room.
void L2Blocks::clean_oldest(Traffic& traffic) {
    const std::uint32_t place = dirty_.oldest();
    Page& page = pages_[place];
    const auto held = static_cast<std::int64_t>(pages_.size() - free_.size());
    if (page.partial && partial_ * kLeastPages <= held) return dirty_.wrote(place, 0);
    clean(place, traffic);
}

void L2Blocks::clean(Traffic& traffic) {
    while (dirty_.oldest() != kNone) clean(dirty_.oldest(), traffic);
}

void L2Blocks::clean(std::uint32_t place, Traffic& traffic) {
    Page& page = pages_[place];
    partial_ -= static_cast<int>(page.partial);
    page.partial = false;
    for (int word = 0; word < words_; ++word) {
        append(traffic.evicted, page.number * page_ + word * word_, masks(place)[word].dirty, page.operand);
        masks(place)[word].dirty = 0;
    }
    dirty_.forget(place);
}

/// The sectors of the word at `begin` as ranges, the first one with the last range if they touch.
void L2Blocks::append(std::vector<SectorRange>& ranges, std::int64_t begin, Mask sectors,
                      Operand operand) const {
    while (sectors != 0) {
        const int from = std::countr_zero(sectors);
        const int count = std::countr_one(sectors >> from);
        sectors &= ~bits(from, from + count);
        const std::int64_t address = begin + from * sector_;
        const std::int64_t bytes = count * sector_;
        if (!ranges.empty() && ranges.back().operand == operand &&
            ranges.back().address + ranges.back().bytes == address)
            ranges.back().bytes += bytes;
        else
            ranges.push_back({address, bytes, operand});
    }
}

}  // namespace systole::simt
