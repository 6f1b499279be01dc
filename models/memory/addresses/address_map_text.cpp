// SPDX-License-Identifier: Apache-2.0
// The text of an address map: its fields, and whether they fit an organisation.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "models/memory/addresses/address_map.h"

namespace systole {
namespace {

using Kind = AddressField::Kind;
constexpr std::array<std::string_view, 5> kFieldNames{"ch", "bg", "ba", "ro", "co"};

std::string_view name_of(Kind kind) {
    return kFieldNames[static_cast<std::size_t>(kind)];
}

/// "ro15" with the name split off: the number behind it, or nothing.
std::optional<int> number_behind(std::string_view word) {
    int number = 0;
    const auto [end, error] = std::from_chars(word.data() + 2, word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size()) return {};
    return number;
}

std::optional<AddressField> parse_field(std::string_view word) {
    const std::size_t hash = std::min(word.find('^'), word.size());
    const std::string_view name = word.substr(0, hash);
    const auto found = std::find(kFieldNames.begin(), kFieldNames.end(), name.substr(0, 2));
    if (found == kFieldNames.end()) return {};
    AddressField field{static_cast<Kind>(found - kFieldNames.begin()), AddressField::kRest, {}};
    if (name.size() > 2) {
        const std::optional<int> bits = number_behind(name);
        if (!bits || *bits < 1 || *bits > 40) return {};
        field.bits = *bits;
    }
    for (std::size_t at = hash; at < word.size();) {  // word[at] is '^'
        const std::size_t end = std::min(word.find('^', at + 1), word.size());
        const std::string_view term = word.substr(at + 1, end - at - 1);
        const std::optional<int> row = term.substr(0, 2) == "ro" ? number_behind(term) : std::nullopt;
        if (!row || *row < 0 || *row > 40) return {};
        field.hashes.push_back(*row);
        at = end;
    }
    return field;
}

/// How many bits of each field the organisation has, in the order of AddressField::Kind.
std::array<int, 5> field_bits(const DramSpec& spec) {
    const auto bits = [](std::int64_t size) {
        return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(size - 1)));
    };
    return {bits(spec.data_buses()), bits(spec.bank_groups), bits(spec.banks_per_group), bits(spec.rows),
            bits(spec.bursts_per_row())};
}

/// Where row bit `bit` lies among all bits of the map.
int place_of_row_bit(const std::vector<AddressField>& fields, int bit) {
    int at = 0;
    for (const AddressField& field : fields) {
        if (field.kind == Kind::Row) {
            if (bit < field.bits) return at + bit;
            bit -= field.bits;
        }
        at += field.bits;
    }
    return at;
}

/// What is wrong with the hash of the field that lies at `at`. The fields have been counted.
std::string hash_fault(const std::vector<AddressField>& fields, const AddressField& field, int at, int rows) {
    if (field.hashes.empty()) return "";
    if (field.kind == Kind::Row || field.kind == Kind::Column)
        return fmt::format("{} bits stand for themselves; only ch, bg and ba can be hashed",
                           name_of(field.kind));
    for (std::size_t i = 0; i < field.hashes.size(); ++i) {
        const int from = field.hashes[i];
        const std::string term = fmt::format("{}{}^ro{}", name_of(field.kind), field.bits, from);
        if (from + field.bits > rows)
            return fmt::format("{} takes row bits {} to {}; the organisation has {}", term, from,
                               from + field.bits - 1, rows);
        if (std::count(field.hashes.begin(), field.hashes.end(), from) > 1)
            return fmt::format("{} twice is as good as never", term);
        if (field.kind == Kind::Channel && place_of_row_bit(fields, from) < at)
            return fmt::format(
                "{}: the channel can be hashed only with row bits above its own, or what is "
                "contiguous would not be so in a channel",
                term);
    }
    return "";
}

/// Addresses below the capacity must name rows that there are: where their number is no power of two, the
/// highest bits of all count them.
std::string odd_rows_fault(const std::vector<AddressField>& fields, std::int64_t rows) {
    if (std::has_single_bit(static_cast<std::uint64_t>(rows))) return "";
    const AddressField& last = fields.back();
    int bits = 0;
    for (const AddressField& field : fields)
        if (field.kind == Kind::Row) bits += field.bits;
    if (last.kind == Kind::Row && rows % (std::int64_t{1} << (bits - last.bits)) == 0) return "";
    return fmt::format("{} rows are no power of two: the map must end in the bits that count them", rows);
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

std::optional<std::vector<AddressField>> address_fields(const DramSpec& spec) {
    auto fields = parse_address_map(spec.address_map);
    if (!fields) return {};
    const auto bits = field_bits(spec);
    for (std::size_t kind = 0; kind < bits.size(); ++kind) {
        int left = bits[kind];
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

std::string address_map_fault(const DramSpec& spec) {
    const auto fields = address_fields(spec);
    if (!fields)
        return "expected fields such as 'ch bg2^ro0 co5 ba2 ro', from the least significant bit; one without "
               "a number takes what is left of its kind, once; ^ro0 hashes a field with row bits from 0 on";
    std::array<int, 5> given{};
    bool row_seen = false;
    for (const AddressField& field : *fields) {
        given[static_cast<std::size_t>(field.kind)] += field.bits;
        if (field.kind == Kind::Column && row_seen) return "row bits must lie above all column bits";
        row_seen = row_seen || field.kind == Kind::Row;
    }
    const auto needed = field_bits(spec);
    for (std::size_t i = 0; i < given.size(); ++i)
        if (given[i] != needed[i])
            return fmt::format("the map gives {} {} bits, the organisation has {}", given[i], kFieldNames[i],
                               needed[i]);
    int at = 0;
    for (const AddressField& field : *fields) {
        const int rows = needed[static_cast<std::size_t>(Kind::Row)];
        if (std::string fault = hash_fault(*fields, field, at, rows); !fault.empty()) return fault;
        at += field.bits;
    }
    return odd_rows_fault(*fields, spec.rows);
}

std::int64_t address_cycle(const DramSpec& spec) {
    const std::vector<AddressField> fields = *address_fields(spec);
    int hashed_rows = 0, places = 0;  // so many of the lowest row bits, and of all bits, say where else it is
    for (const AddressField& field : fields)
        for (const int row : field.hashes) hashed_rows = std::max(hashed_rows, row + field.bits);
    int at = 0, rows = 0;
    for (const AddressField& field : fields) {
        if (field.kind != Kind::Row) {
            places = at + field.bits;
        } else {
            if (hashed_rows > rows) places = at + std::min(field.bits, hashed_rows - rows);
            rows += field.bits;
        }
        at += field.bits;
    }
    return spec.burst_bytes.value() << places;
}

}  // namespace systole
