// SPDX-License-Identifier: Apache-2.0
#include "models/memory/addresses/address_map.h"

#include <algorithm>
#include <bit>

#include "sim/base/check.h"

namespace systole {
namespace {

using Kind = AddressField::Kind;

constexpr std::int64_t mask(int bits) {
    return (std::int64_t{1} << bits) - 1;
}

int log2_of(std::int64_t power) {
    return std::countr_zero(static_cast<std::uint64_t>(power));
}

/// How many numbers below `limit` have `pattern` in the pieces that `is_fixed`. Digit by digit from the top:
/// as long as the digits equal the limit's, free digits count what lies below them.
template <class Pieces, class IsFixed>
std::int64_t count_below(const Pieces& pieces, std::int64_t limit, std::int64_t pattern, IsFixed is_fixed) {
    int free_bits = 0;
    for (const auto& piece : pieces)
        if (!is_fixed(piece)) free_bits += piece.bits;
    if (!pieces.empty() && limit >> (pieces.back().at + pieces.back().bits))
        return std::int64_t{1} << free_bits;
    std::int64_t count = 0;
    for (std::size_t i = pieces.size(); i-- > 0;) {
        const auto& piece = pieces[i];
        const std::int64_t digit = (limit >> piece.at) & mask(piece.bits);
        if (!is_fixed(piece)) {
            free_bits -= piece.bits;
            count += digit << free_bits;
            continue;
        }
        const std::int64_t wanted = (pattern >> piece.at) & mask(piece.bits);
        if (wanted != digit) return wanted < digit ? count + (std::int64_t{1} << free_bits) : count;
    }
    return count;
}

}  // namespace

AddressMap::AddressMap(const DramSpec& spec) : burst_shift_(log2_of(spec.burst_bytes.value())) {
    const std::string fault = address_map_fault(spec);
    SYSTOLE_CHECK(fault.empty(), "address map '{}': {}", spec.address_map, fault);
    lay_out(*address_fields(spec));
    find_page();
    fold(spec);
    for (std::int64_t bus = 0; bus < spec.data_buses(); ++bus) {
        std::int64_t pattern = 0;
        for (const Piece& piece : global_)
            if (piece.kind == Kind::Channel) pattern |= ((bus >> piece.to) & mask(piece.bits)) << piece.at;
        channel_bits_.push_back(pattern);
    }
    groups_lowest_ = !local_.empty() && local_[0].kind == Kind::Group && local_[0].hashes.empty() &&
                     std::int64_t{1} << local_[0].bits == spec.bank_groups;
}

/// Gives every field its places in the burst numbers and in its value.
void AddressMap::lay_out(const std::vector<AddressField>& fields) {
    int taken[5] = {}, global_at = 0, local_at = 0;
    for (const AddressField& field : fields) {
        int& to = taken[static_cast<std::size_t>(field.kind)];
        global_.push_back({field.kind, field.bits, global_at, to, field.hashes});
        if (field.kind != Kind::Channel) {
            local_.push_back({field.kind, field.bits, local_at, to, field.hashes});
            to_local_.push_back({global_at, local_at, mask(field.bits)});
            local_at += field.bits;
            if (field.kind == Kind::Column) page_bits_ = local_at;
        }
        to += field.bits;
        global_at += field.bits;
    }
}

void AddressMap::find_page() {
    int column_pieces = 0;
    for (const Piece& piece : local_) {
        if (piece.at >= page_bits_) break;
        page_.push_back(piece);
        const std::int64_t bits = mask(piece.bits) << piece.at;
        (piece.kind == Kind::Column ? column_mask_ : between_) |= bits;
        if (piece.kind == Kind::Column)
            column_stride_ = ++column_pieces == 1 ? std::int64_t{1} << piece.at : 0;
    }
}

/// The row bits that `hashed` is XORed with, found among `all`, as parts that land at `up`.
void AddressMap::add_hashes(const std::vector<Piece>& all, const Piece& hashed, int up, Parts& parts) {
    for (const int from : hashed.hashes)
        for (const Piece& row : all) {
            if (row.kind != Kind::Row) continue;
            const int low = std::max(from, row.to), high = std::min(from + hashed.bits, row.to + row.bits);
            if (low < high) parts.push_back({row.at + low - row.to, up + low - from, mask(high - low)});
        }
}

/// Says what every value is in shifts and masks.
void AddressMap::fold(const DramSpec& spec) {
    const int bank_bits = log2_of(spec.banks_per_group);
    for (const Piece& piece : global_) {
        if (piece.kind != Kind::Channel) continue;
        bus_.push_back({piece.at, piece.to, mask(piece.bits)});
        add_hashes(global_, piece, piece.to, bus_);
        add_hashes(global_, piece, piece.at, channel_hash_);
    }
    for (const Piece& piece : local_) {
        if (piece.kind == Kind::Row) row_.push_back({piece.at, piece.to, mask(piece.bits)});
        if (piece.kind == Kind::Column) column_.push_back({piece.at, piece.to, mask(piece.bits)});
        if (piece.kind != Kind::Group && piece.kind != Kind::Bank) continue;
        const int up = piece.to + (piece.kind == Kind::Group ? bank_bits : 0);
        bank_.push_back({piece.at, up, mask(piece.bits)});
        add_hashes(local_, piece, up, bank_);
    }
}

/// How many bursts of `bus` lie below global burst `limit`. Where the digits of a number equal the limit's,
/// so do its row bits, and a hash comes from row bits above the channel's: it is the limit's.
std::int64_t AddressMap::below(std::size_t bus, std::int64_t limit) const {
    return count_below(global_, limit, channel_bits_[bus] ^ gather(channel_hash_, limit),
                       [](const Piece& piece) { return piece.kind == Kind::Channel; });
}

void AddressMap::split(std::int64_t address, Bytes bytes, std::vector<ChannelShare>& shares) const {
    const std::int64_t first = address >> burst_shift_;
    const std::int64_t end = ((address + bytes.value() - 1) >> burst_shift_) + 1;
    if (end - first <= static_cast<std::int64_t>(channel_bits_.size())) return split_each(first, end, shares);
    for (std::size_t bus = 0; bus < channel_bits_.size(); ++bus) {
        const std::int64_t from = below(bus, first), to = below(bus, end);
        if (to > from) shares.push_back({static_cast<int>(bus), from, to - from});
    }
}

/// Of few bursts: one after the other.
void AddressMap::split_each(std::int64_t first, std::int64_t end, std::vector<ChannelShare>& shares) const {
    const auto begin = static_cast<std::ptrdiff_t>(shares.size());
    for (std::int64_t burst = first; burst < end; ++burst) {
        const ChannelShare share = share_of_burst(burst);
        const auto before = std::find_if(shares.begin() + begin, shares.end(),
                                         [&](const ChannelShare& other) { return other.bus >= share.bus; });
        if (before != shares.end() && before->bus == share.bus)
            ++before->count;  // a bus's bursts come in the order of their numbers, without gaps
        else
            shares.insert(before, share);
    }
}

ChannelShare AddressMap::share_of_burst(std::int64_t burst) const {
    return {static_cast<int>(gather(bus_, burst)), gather(to_local_, burst), 1};
}

ChannelShare AddressMap::share_of(std::int64_t address) const {
    return share_of_burst(address >> burst_shift_);
}

RowRun AddressMap::locate(std::int64_t burst) const {
    return {bank_of(burst), row_of(burst), gather(column_, burst), 1, burst & ~column_mask_};
}

void AddressMap::cut(std::int64_t first, std::int64_t count, std::vector<RowRun>& runs) const {
    if (count == 1) return runs.push_back(locate(first));
    const auto is_fixed = [](const Piece& piece) { return piece.kind != Kind::Column; };
    const std::int64_t end = first + count, page_size = std::int64_t{1} << page_bits_;
    for (std::int64_t page = first & ~mask(page_bits_); page < end; page += page_size) {
        const auto begin = static_cast<std::ptrdiff_t>(runs.size());
        const std::int64_t low = std::max(first - page, std::int64_t{0}),
                           high = std::min(end - page, page_size);
        std::int64_t fixed = 0;
        do {  // every value of the bits between the columns; of each the row, and so the hash, is one
            const std::int64_t column = count_below(page_, low, fixed, is_fixed);
            const std::int64_t columns = count_below(page_, high, fixed, is_fixed) - column;
            const std::int64_t origin = page | fixed;
            if (columns > 0)
                runs.push_back(
                    {static_cast<int>(gather(bank_, origin)), gather(row_, origin), column, columns, origin});
            fixed = (fixed - between_) & between_;
        } while (fixed != 0);
        std::sort(runs.begin() + begin, runs.end(), [this](const RowRun& a, const RowRun& b) {
            return a.origin + scatter(a.column) < b.origin + scatter(b.column);
        });
    }
}

std::int64_t AddressMap::scatter(std::int64_t column) const {
    std::uint64_t burst = 0;
    for (const Part& part : column_)
        burst |= std::rotr(static_cast<std::uint64_t>(column) & part.mask, part.turn);
    return static_cast<std::int64_t>(burst);
}

}  // namespace systole
