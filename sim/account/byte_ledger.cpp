// SPDX-License-Identifier: Apache-2.0
#include "sim/account/byte_ledger.h"

#include "sim/base/check.h"

namespace systole {
namespace {

using Cells = std::array<std::int64_t, kPlaces * kPlaces * kOperands>;

std::size_t cell(std::size_t from, std::size_t to, std::size_t operand) {
    return (from * kPlaces + to) * kOperands + operand;
}

std::size_t cell(Place from, Place to, Operand operand) {
    return cell(static_cast<std::size_t>(from), static_cast<std::size_t>(to),
                static_cast<std::size_t>(operand));
}

Bytes between(const Cells& row, Place from, Place to) {
    std::int64_t bytes = 0;
    for (std::size_t operand = 0; operand < kOperands; ++operand)
        bytes += row[cell(static_cast<std::size_t>(from), static_cast<std::size_t>(to), operand)];
    return Bytes(bytes);
}

Bytes from_place(const Cells& row, Place from) {
    Bytes bytes;
    for (std::size_t to = 0; to < kPlaces; ++to) bytes += between(row, from, static_cast<Place>(to));
    return bytes;
}

Bytes to_place(const Cells& row, Place to) {
    Bytes bytes;
    for (std::size_t from = 0; from < kPlaces; ++from) bytes += between(row, static_cast<Place>(from), to);
    return bytes;
}

std::vector<Movement> non_zero(const Cells& row) {
    std::vector<Movement> movements;
    for (std::size_t from = 0; from < kPlaces; ++from)
        for (std::size_t to = 0; to < kPlaces; ++to)
            for (std::size_t operand = 0; operand < kOperands; ++operand)
                if (const std::int64_t bytes = row[cell(from, to, operand)])
                    movements.push_back({static_cast<Place>(from), static_cast<Place>(to),
                                         static_cast<Operand>(operand), Bytes(bytes)});
    return movements;
}

}  // namespace

std::string_view to_string(Place place) {
    static constexpr std::array<std::string_view, kPlaces> kNames{
        "host",      "dram", "scratchpad",    "weight_fifo",      "array", "accumulator", "vector",
        "chip_link", "l2",   "shared_memory", "memory_side_cache"};
    const auto index = static_cast<std::size_t>(place);
    SYSTOLE_CHECK(index < kPlaces, "place {}", index);
    return kNames[index];
}

std::string_view to_string(Operand operand) {
    static constexpr std::array<std::string_view, kOperands> kNames{
        "weights", "activations", "partial_sums", "outputs", "kv_cache", "optimizer_state"};
    const auto index = static_cast<std::size_t>(operand);
    SYSTOLE_CHECK(index < kOperands, "operand {}", index);
    return kNames[index];
}

void ByteLedger::enter(std::size_t layer, Place from, Place to, Operand operand, Bytes bytes) {
    SYSTOLE_CHECK(layer < rows_.size(), "layer {} of {}", layer, rows_.size());
    SYSTOLE_CHECK(bytes >= Bytes(), "{} bytes from {} to {}", bytes.value(), to_string(from), to_string(to));
    rows_[layer][cell(from, to, operand)] += bytes.value();
}

Bytes ByteLedger::moved(std::size_t layer, Place from, Place to, Operand operand) const {
    return Bytes(row(layer)[cell(from, to, operand)]);
}

Bytes ByteLedger::moved(std::size_t layer, Place from, Place to) const {
    return between(row(layer), from, to);
}

Bytes ByteLedger::total(Place from, Place to) const {
    return between(sum(), from, to);
}

Bytes ByteLedger::out_of(Place place) const {
    return from_place(sum(), place);
}

Bytes ByteLedger::into(Place place) const {
    return to_place(sum(), place);
}

Bytes ByteLedger::out_of(std::size_t layer, Place place) const {
    return from_place(row(layer), place);
}

Bytes ByteLedger::into(std::size_t layer, Place place) const {
    return to_place(row(layer), place);
}

std::vector<Movement> ByteLedger::movements(std::size_t layer) const {
    return non_zero(row(layer));
}

std::vector<Movement> ByteLedger::movements() const {
    return non_zero(sum());
}

const ByteLedger::Row& ByteLedger::row(std::size_t layer) const {
    SYSTOLE_CHECK(layer < rows_.size(), "layer {} of {}", layer, rows_.size());
    return rows_[layer];
}

ByteLedger::Row ByteLedger::sum() const {
    Row all{};
    for (const Row& row : rows_)
        for (std::size_t i = 0; i < all.size(); ++i) all[i] += row[i];
    return all;
}

}  // namespace systole
