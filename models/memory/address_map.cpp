// SPDX-License-Identifier: Apache-2.0
#include "models/memory/address_map.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "sim/base/check.h"

namespace systole {
namespace {

using Kind = AddressField::Kind;
constexpr std::array<std::string_view, 5> kFieldNames{"ch", "bg", "ba", "ro", "co"};

constexpr std::int64_t mask(int bits) {
    return (std::int64_t{1} << bits) - 1;
}

std::optional<AddressField> parse_field(std::string_view word) {
    const auto name = std::find(kFieldNames.begin(), kFieldNames.end(), word.substr(0, 2));
    if (name == kFieldNames.end()) return {};
    if (word.size() == 2)
        return AddressField{static_cast<Kind>(name - kFieldNames.begin()), AddressField::kRest};
    int bits = 0;
    const auto [end, error] = std::from_chars(word.data() + 2, word.data() + word.size(), bits);
    if (error != std::errc() || end != word.data() + word.size() || bits < 1 || bits > 40) return {};
    return AddressField{static_cast<Kind>(name - kFieldNames.begin()), bits};
}

/// How many of each field the organisation has, in the order of AddressField::Kind.
std::array<std::int64_t, 5> field_sizes(const DramSpec& spec) {
    return {spec.data_buses(), spec.bank_groups, spec.banks_per_group, spec.rows, spec.bursts_per_row()};
}

}  // namespace

std::optional<std::vector<AddressField>> parse_address_map(std::string_view text) {
    std::vector<AddressField> fields;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        if (end > at) {
            const auto field = parse_field(text.substr(at, end - at));
            if (!field) return {};
            fields.push_back(*field);
        }
        at = end + 1;
    }
    return fields;
}

namespace {

/// The map's fields with every open one given the bits that the organisation has left for it, empty ones
/// dropped; nothing if the text is malformed or leaves one kind open twice.
std::optional<std::vector<AddressField>> fields_of(const DramSpec& spec) {
    auto fields = parse_address_map(spec.address_map);
    if (!fields) return {};
    const auto sizes = field_sizes(spec);
    for (std::size_t kind = 0; kind < sizes.size(); ++kind) {
        int left = std::countr_zero(static_cast<std::uint64_t>(sizes[kind]));
        AddressField* open = nullptr;
        for (AddressField& field : *fields) {
            if (static_cast<std::size_t>(field.kind) != kind) continue;
            if (field.bits != AddressField::kRest)
                left -= field.bits;
            else if (open)
                return {};
            else
                open = &field;
        }
        if (open) open->bits = std::max(left, 0);
    }
    std::erase_if(*fields, [](const AddressField& field) { return field.bits == 0; });
    return fields;
}

}  // namespace

std::string address_map_fault(const DramSpec& spec) {
    const auto fields = fields_of(spec);
    if (!fields)
        return "expected fields such as 'ch bg2 co5 ba2 ro', from the least significant bit; one without a "
               "number "
               "takes what is left of its kind, once";
    std::array<int, 5> bits{};
    bool row_seen = false;
    for (const AddressField& field : *fields) {
        bits[static_cast<std::size_t>(field.kind)] += field.bits;
        if (field.kind == Kind::Column && row_seen) return "row bits must lie above all column bits";
        row_seen = row_seen || field.kind == Kind::Row;
    }
    const auto sizes = field_sizes(spec);
    for (std::size_t i = 0; i < bits.size(); ++i) {
        const int needed = std::countr_zero(static_cast<std::uint64_t>(sizes[i]));
        if (bits[i] != needed)
            return fmt::format("the map gives {} {} bits, the organisation has {}", bits[i], kFieldNames[i],
                               needed);
    }
    return "";
}

AddressMap::AddressMap(const DramSpec& spec)
    : burst_bytes_(spec.burst_bytes.value()), banks_per_group_(spec.banks_per_group) {
    const std::string fault = address_map_fault(spec);
    SYSTOLE_CHECK(fault.empty(), "address map '{}': {}", spec.address_map, fault);
    std::array<int, 5> taken{};
    int global_at = 0, local_at = 0;
    const auto fields = fields_of(spec);
    for (const AddressField& field : *fields) {
        int& to = taken[static_cast<std::size_t>(field.kind)];
        global_.push_back({field.kind, field.bits, global_at, to});
        if (field.kind != Kind::Channel) {
            local_.push_back({field.kind, field.bits, local_at, to});
            local_at += field.bits;
            if (field.kind == Kind::Column) page_bits_ = local_at;
        }
        to += field.bits;
        global_at += field.bits;
    }
    int column_pieces = 0;
    for (const Piece& piece : local_) {
        if (piece.at >= page_bits_) break;
        page_.push_back(piece);
        if (piece.kind != Kind::Column)
            between_ |= mask(piece.bits) << piece.at;
        else if (++column_pieces == 1)
            column_stride_ = std::int64_t{1} << piece.at;
        else
            column_stride_ = 0;
    }
    groups_lowest_ = !local_.empty() && local_[0].kind == Kind::Group &&
                     std::int64_t{1} << local_[0].bits == spec.bank_groups;
    for (std::int64_t channel = 0; channel < spec.data_buses(); ++channel) {
        std::int64_t pattern = 0;
        for (const Piece& piece : global_)
            if (piece.kind == Kind::Channel)
                pattern |= ((channel >> piece.to) & mask(piece.bits)) << piece.at;
        channel_bits_.push_back(pattern);
    }
}

/// How many numbers below `limit` have `pattern` in their fixed pieces: the channel pieces, or (of a page)
/// all that are not column pieces. Digit by digit from the top: as long as the digits equal the limit's, free
/// digits count what lies below them.
std::int64_t AddressMap::count_below(const std::vector<Piece>& pieces, std::int64_t limit,
                                     bool channels_fixed, std::int64_t pattern) {
    const auto fixed = [&](const Piece& piece) {
        return channels_fixed ? piece.kind == Kind::Channel : piece.kind != Kind::Column;
    };
    int free_bits = 0;
    for (const Piece& piece : pieces)
        if (!fixed(piece)) free_bits += piece.bits;
    if (!pieces.empty() && limit >> (pieces.back().at + pieces.back().bits))
        return std::int64_t{1} << free_bits;
    std::int64_t count = 0;
    for (std::size_t i = pieces.size(); i-- > 0;) {
        const Piece& piece = pieces[i];
        const std::int64_t digit = (limit >> piece.at) & mask(piece.bits);
        if (!fixed(piece)) {
            free_bits -= piece.bits;
            count += digit << free_bits;
            continue;
        }
        const std::int64_t wanted = (pattern >> piece.at) & mask(piece.bits);
        if (wanted != digit) return wanted < digit ? count + (std::int64_t{1} << free_bits) : count;
    }
    return count;
}

void AddressMap::split(std::int64_t address, Bytes bytes, std::vector<ChannelShare>& shares) const {
    const std::int64_t first = address / burst_bytes_;
    const std::int64_t end = ceil_div(address + bytes.value(), burst_bytes_);
    for (std::size_t channel = 0; channel < channel_bits_.size(); ++channel) {
        const std::int64_t from = count_below(global_, first, true, channel_bits_[channel]);
        const std::int64_t to = count_below(global_, end, true, channel_bits_[channel]);
        if (to > from) shares.push_back({static_cast<int>(channel), from, to - from});
    }
}

void AddressMap::cut(std::int64_t first, std::int64_t count, std::vector<RowRun>& runs) const {
    if (count == 1) {
        const std::int64_t column = gather(first, Kind::Column);
        runs.push_back(
            {static_cast<int>(bank_of(first)), gather(first, Kind::Row), column, 1, first - scatter(column)});
        return;
    }
    const std::int64_t end = first + count, page_size = std::int64_t{1} << page_bits_;
    for (std::int64_t page = first & ~mask(page_bits_); page < end; page += page_size) {
        const auto begin = static_cast<std::ptrdiff_t>(runs.size());
        const std::int64_t low = std::max(first - page, std::int64_t{0}),
                           high = std::min(end - page, page_size);
        std::int64_t fixed = 0;
        do {  // every value of the bits between the columns
            const std::int64_t column = count_below(page_, low, false, fixed);
            const std::int64_t columns = count_below(page_, high, false, fixed) - column;
            const std::int64_t origin = page | fixed;
            if (columns > 0)
                runs.push_back(
                    {static_cast<int>(bank_of(origin)), gather(origin, Kind::Row), column, columns, origin});
            fixed = (fixed - between_) & between_;
        } while (fixed != 0);
        std::sort(runs.begin() + begin, runs.end(), [this](const RowRun& a, const RowRun& b) {
            return a.origin + scatter(a.column) < b.origin + scatter(b.column);
        });
    }
}

std::int64_t AddressMap::scatter(std::int64_t column) const {
    std::int64_t burst = 0;
    for (const Piece& piece : page_)
        if (piece.kind == Kind::Column) burst |= ((column >> piece.to) & mask(piece.bits)) << piece.at;
    return burst;
}

std::int64_t AddressMap::gather(std::int64_t burst, Kind kind) const {
    std::int64_t value = 0;
    for (const Piece& piece : local_)
        if (piece.kind == kind) value |= ((burst >> piece.at) & mask(piece.bits)) << piece.to;
    return value;
}

std::int64_t AddressMap::bank_of(std::int64_t burst) const {
    return gather(burst, Kind::Group) * banks_per_group_ + gather(burst, Kind::Bank);
}

}  // namespace systole
