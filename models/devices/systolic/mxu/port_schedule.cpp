// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/mxu/port_schedule.h"

#include <algorithm>
#include <numeric>

#include "sim/base/check.h"

namespace systole {

namespace {

/// A level whose vectors repeat, as far as banks can tell, every `distinct` steps.
struct FoldedLevel {
    std::int64_t count, distinct;
    Bytes stride;

    /// How many of the level's steps look like step `index` < distinct.
    std::int64_t weight(std::int64_t index) const {
        return count / distinct + (index < count % distinct ? 1 : 0);
    }
};

/// Moving a vector by banks * bank_width changes neither its banks nor how many lines it has in each.
FoldedLevel fold(const StreamLevel& level, std::int64_t interleave) {
    SYSTOLE_CHECK(level.count >= 1, "a stream level of {} steps", level.count);
    const std::int64_t period = interleave / std::gcd(interleave, level.stride.value());
    return {level.count, std::min(level.count, period), level.stride};
}

}  // namespace

Bytes AddressStream::offset_of(std::int64_t number) const {
    const std::int64_t inner = number % levels[2].count;
    const std::int64_t middle = number / levels[2].count % levels[1].count;
    const std::int64_t outer = number / levels[2].count / levels[1].count;
    return levels[0].stride * outer + levels[1].stride * middle + levels[2].stride * inner;
}

Bytes AddressStream::vector_bytes() const {
    Bytes sum;
    for (const Segment& segment : segments) sum += segment.bytes;
    return sum;
}

bool conflict_free(const BankedPort& port, const AddressStream& stream, Bytes base) {
    Bytes low = Bytes::max(), high = Bytes() - Bytes::max();
    for (const Segment& segment : stream.segments) {
        low = std::min(low, segment.offset);
        high = std::max(high, segment.offset + segment.bytes - Bytes(1));
    }
    for (const StreamLevel& level : stream.levels) {
        const Bytes reach = level.stride * (level.count - 1);
        (reach < Bytes() ? low : high) += reach;
    }
    return (base + high) / port.bank_width - (base + low) / port.bank_width < port.banks;
}

namespace {

/// Appends the lines of a vector.
void append_lines(const BankedPort& port, const AddressStream& stream, Bytes vector_base,
                  std::vector<std::int64_t>& lines) {
    for (const Segment& segment : stream.segments) {
        const Bytes first = vector_base + segment.offset;
        const Bytes last = first + segment.bytes - Bytes(1);
        SYSTOLE_CHECK(first >= Bytes() && last >= first, "a segment of {} bytes at {}", segment.bytes.value(),
                      first.value());
        for (std::int64_t line = first / port.bank_width; line <= last / port.bank_width; ++line)
            lines.push_back(line);
    }
}

/// The greatest number of distinct lines in one bank; at least one.
std::int64_t busiest_bank(const BankedPort& port, std::vector<std::int64_t>& lines) {
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    std::vector<std::int64_t> load(port.banks);
    for (const std::int64_t line : lines) ++load[line % port.banks];
    return std::max(std::int64_t{1}, *std::max_element(load.begin(), load.end()));
}

}  // namespace

std::int64_t vector_cycles(const BankedPort& port, const AddressStream& stream, Bytes vector_base) {
    std::vector<std::int64_t> lines;
    append_lines(port, stream, vector_base, lines);
    return busiest_bank(port, lines);
}

Rational cycles_per_vector(const BankedPort& port, const AddressStream& stream) {
    SYSTOLE_CHECK(port.banks >= 1 && port.bank_width >= Bytes(1), "a port of {} banks of {} bytes",
                  port.banks, port.bank_width.value());
    if (conflict_free(port, stream, stream.base)) return {};
    const std::int64_t interleave = port.interleave();
    const FoldedLevel outer = fold(stream.levels[0], interleave);
    const FoldedLevel middle = fold(stream.levels[1], interleave);
    const FoldedLevel inner = fold(stream.levels[2], interleave);

    std::int64_t cycles = 0, vectors = 0;
    std::int64_t budget = kMaxPeriod;
    for (std::int64_t i = 0; i < outer.distinct; ++i) {
        for (std::int64_t j = 0; j < middle.distinct; ++j) {
            for (std::int64_t k = 0; k < inner.distinct; ++k) {
                if (budget-- == 0) return Rational::reduced(cycles, vectors);
                const Bytes base = stream.base + outer.stride * i + middle.stride * j + inner.stride * k;
                const std::int64_t weight = outer.weight(i) * middle.weight(j) * inner.weight(k);
                cycles += weight * vector_cycles(port, stream, base);
                vectors += weight;
            }
        }
    }
    return Rational::reduced(cycles, vectors);
}

std::int64_t buffered_cycles(const BankedPort& port, const AddressStream& stream, std::int64_t first,
                             std::int64_t count) {
    const std::int64_t bytes = stream.vector_bytes().value() * count;
    const std::int64_t least = std::max<std::int64_t>(1, ceil_div(bytes, port.interleave()));
    if (conflict_free(port, stream, stream.base)) return least;
    std::vector<std::int64_t> lines;
    for (std::int64_t vector = first; vector < first + count; ++vector)
        append_lines(port, stream, stream.base + stream.offset_of(vector), lines);
    return std::max(least, busiest_bank(port, lines));
}

}  // namespace systole
