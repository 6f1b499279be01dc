// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/error.h"

namespace systole::systolic {
namespace {

std::uint64_t mix(std::uint64_t hash, std::int64_t value) {
    hash ^= static_cast<std::uint64_t>(value) + 0x9e3779b97f4a7c15U + (hash << 6) + (hash >> 2);
    return hash * 0xbf58476d1ce4e5b9U;
}

std::uint64_t hash_of(const AddressStream& stream) {
    std::uint64_t hash = mix(0, stream.base.value());
    for (const Segment& s : stream.segments) hash = mix(mix(hash, s.offset.value()), s.bytes.value());
    for (const StreamLevel& l : stream.levels) hash = mix(mix(hash, l.count), l.stride.value());
    return hash;
}

bool same(const AddressStream& a, const AddressStream& b) {
    const auto same_segment = [](const Segment& x, const Segment& y) {
        return x.offset == y.offset && x.bytes == y.bytes;
    };
    const auto same_level = [](const StreamLevel& x, const StreamLevel& y) {
        return x.count == y.count && x.stride == y.stride;
    };
    return a.base == b.base && std::ranges::equal(a.segments, b.segments, same_segment) &&
           std::ranges::equal(a.levels, b.levels, same_level);
}

}  // namespace

Emitter::Emitter(int cores, int mxus, std::string trace)
    : units_(unit_numbers(cores, mxus)), issued_(units_), waited_(units_ * units_) {
    program_.trace = std::move(trace);
    program_.cores = cores;
}

Token Emitter::append(UnitIndex own, std::size_t work, const Tokens& after) {
    const auto unit = static_cast<UnitIndex>(core_ * kUnitsOfCore + own);
    if (program_.commands.size() >= kMaxCommands) {
        throw UserError(
            fmt::format("the program of '{}' needs more than {} commands, the most that is simulated; a "
                        "smaller workload or a larger array needs fewer",
                        program_.trace, kMaxCommands));
    }
    Command command;
    command.unit = unit;
    command.layer = layer_;
    command.work = static_cast<std::uint32_t>(work);
    command.first_token = static_cast<std::uint32_t>(program_.tokens.size());
    for (const Token token : after) {
        std::uint32_t& waited = waited_[unit * units_ + token.unit];
        if (token.unit == unit || token.count <= waited) continue;
        waited = token.count;
        program_.tokens.push_back(token);
        ++command.token_count;
    }
    program_.commands.push_back(command);
    return {unit, ++issued_[unit]};
}

Token Emitter::transfer(UnitIndex unit, Transfer transfer, const Tokens& after) {
    if (transfer.from.stride == transfer.row_bytes && transfer.to.stride == transfer.row_bytes)
        transfer.row_bytes *= std::exchange(transfer.rows, 1);
    if (transfer.rows == 1) transfer.from.stride = transfer.to.stride = 0;
    return gather(unit, transfer, after);
}

Token Emitter::gather(UnitIndex unit, const Transfer& transfer, const Tokens& after) {
    program_.transfers.push_back(transfer);
    return append(unit, program_.transfers.size() - 1, after);
}

Token Emitter::pass(int mxu, const MatrixPass& pass, const Tokens& after) {
    program_.passes.push_back(pass);
    return append(unit_index(UnitKind::Matrix, mxu), program_.passes.size() - 1, after);
}

Token Emitter::vector(const VectorWork& work, const Tokens& after) {
    program_.vector_work.push_back(work);
    return append(unit_index(UnitKind::Vector), program_.vector_work.size() - 1, after);
}

std::uint32_t Emitter::stream(const AddressStream& pattern) {
    const std::uint64_t hash = hash_of(pattern);
    for (auto [at, end] = stream_index_.equal_range(hash); at != end; ++at) {
        if (same(program_.streams[at->second], pattern)) return at->second;
    }
    const auto index = static_cast<std::uint32_t>(program_.streams.size());
    program_.streams.push_back(pattern);
    stream_index_.emplace(hash, index);
    return index;
}

}  // namespace systole::systolic
