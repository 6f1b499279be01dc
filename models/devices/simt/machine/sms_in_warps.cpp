// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/sms_in_warps.h"

#include <algorithm>

#include "sim/base/check.h"

namespace systole::simt {
namespace {

// Of a bulk copy, that leave at a time: a few rows of a box.
constexpr std::int64_t kPieceBytes = 512;

bool writes(Op op) {
    return op == Op::GlobalStore || op == Op::BulkStore;
}

bool of_whole_blocks(Op op) {
    return op == Op::BulkCopy || op == Op::BulkStore;
}

}  // namespace

SmsInWarps::SmsInWarps(const SimtSpec& spec, std::size_t sms, std::int64_t macs_per_cycle, Where where)
    : where_(std::move(where)),
      read_width_(spec.l2.sm_read_per_cycle.value()),
      write_width_(spec.l2.sm_write_per_cycle.value()),
      bulk_copies_(sms) {
    for (std::size_t number = 0; number < sms; ++number)
        sms_.emplace_back(
            spec.sm, macs_per_cycle,
            Sm::Accesses([this, number](const Sm::Access& access) { return leave(number, access); }),
            [this, number](const std::vector<std::int64_t>& sectors, std::int64_t at, std::int64_t request) {
                return leave(number, sectors, at, request);
            });
}

std::int64_t SmsInWarps::next() {
    std::int64_t next = departures_.empty() ? Sm::kNever : departures_.top().leaving.at;
    for (Sm& sm : sms_) next = std::min(next, sm.next_issue());
    return next;
}

void SmsInWarps::advance(std::int64_t cycle, std::vector<Leaving>& leaving) {
    for (Sm& sm : sms_)
        if (sm.next_issue() <= cycle) sm.advance(cycle + 1);
    while (!departures_.empty() && departures_.top().leaving.at <= cycle) {
        leaving.push_back(departures_.top().leaving);
        departures_.pop();
        ++under_way_;
    }
}

std::int64_t SmsInWarps::new_request(const Request& request) {
    if (free_.empty()) {
        free_.push_back(static_cast<std::int64_t>(requests_.size()));
        requests_.emplace_back();
    }
    const std::int64_t number = free_.back();
    free_.pop_back();
    requests_[static_cast<std::size_t>(number)] = request;
    return number;
}

std::int64_t SmsInWarps::leave(std::size_t sm, const Sm::Access& access) {
    const TileAccess tiles = where_(sm, access);
    if (tiles.blocks.empty()) return access.at;
    const std::int64_t number =
        new_request({sm, access.request, 0, writes(access.op), access.op != Op::GlobalStore, access.cta});
    if (of_whole_blocks(access.op))
        depart_in_pieces(number, access.at, sm, tiles);
    else
        depart(number, access.at, sm, tiles);
    return Sm::kLater;
}

std::int64_t SmsInWarps::leave(std::size_t sm, const std::vector<std::int64_t>& sectors, std::int64_t at,
                               std::int64_t request) {
    TileAccess tiles;
    for (const std::int64_t sector : sectors) {
        const std::int64_t address = sector * kSectorBytes;
        if (!tiles.blocks.empty() && tiles.blocks.back().address + tiles.blocks.back().bytes == address)
            tiles.blocks.back().bytes += kSectorBytes;
        else
            tiles.blocks.push_back({address, kSectorBytes, 1, Operand::Activations, {}});
    }
    tiles.bytes_of_sm = static_cast<std::int64_t>(sectors.size()) * kSectorBytes;
    depart(new_request({sm, request, 0, false, true, 0}), at, sm, std::move(tiles));
    return Sm::kLater;
}

void SmsInWarps::depart(std::int64_t number, std::int64_t at, std::size_t sm, TileAccess tiles) {
    Request& request = requests_[static_cast<std::size_t>(number)];
    ++request.pieces;
    if (request.write) ++stored_[{sm, request.cta}];
    tiles.sm = static_cast<std::int64_t>(sm);
    departures_.push({{at, number, request.write, std::move(tiles)}, departed_++});
}

/// What an SM's port carries besides (bytes that others of a cluster asked for) is shared out evenly.
void SmsInWarps::depart_in_pieces(std::int64_t number, std::int64_t at, std::size_t sm,
                                  const TileAccess& tiles) {
    const bool write = requests_[static_cast<std::size_t>(number)].write;
    const std::int64_t width = write ? write_width_ : read_width_;
    std::int64_t& free = write ? bulk_copies_[sm].out : bulk_copies_[sm].in;
    const std::int64_t begin = std::max(at, free);
    std::int64_t all = 0, passed = 0, own = 0;
    for (const TileAccess::Block& block : tiles.blocks) all += block.bytes;
    for (const TileAccess::Block& block : tiles.blocks)
        for (std::int64_t done = 0; done < block.bytes; done += kPieceBytes) {
            TileAccess piece;
            piece.short_rows = tiles.short_rows;
            piece.blocks = {block.part(done, std::min(block.bytes, done + kPieceBytes))};
            passed += piece.blocks.front().bytes;
            const std::int64_t until = static_cast<std::int64_t>(Int128{tiles.bytes_of_sm} * passed / all);
            piece.bytes_of_sm = until - own;
            depart(number, begin + own / width, sm, std::move(piece));
            own = until;
        }
    free = begin + ceil_div(own, width);
}

void SmsInWarps::answered(std::int64_t number, std::int64_t cycle) {
    Request& request = requests_[static_cast<std::size_t>(number)];
    SYSTOLE_CHECK(request.pieces > 0, "an answer to {}, which is not under way", number);
    --under_way_;
    if (request.write)
        if (const auto of_cta = stored_.find({request.sm, request.cta}); --of_cta->second == 0)
            stored_.erase(of_cta);
    if (--request.pieces > 0) return;
    if (request.awaited) sms_[request.sm].arrived(request.request, cycle);
    free_.push_back(number);
}

bool SmsInWarps::storing(std::size_t sm, std::size_t cta) const {
    return stored_.contains({sm, cta});
}

}  // namespace systole::simt
