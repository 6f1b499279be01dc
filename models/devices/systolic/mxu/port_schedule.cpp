// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/mxu/port_schedule.h"

#include <algorithm>
#include <numeric>
#include <utility>

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

namespace {

/// The least and the greatest byte of a stream, from its base on.
std::pair<Bytes, Bytes> reach(const AddressStream& stream) {
    Bytes low = Bytes::max(), high = Bytes() - Bytes::max();
    for (const Segment& segment : stream.segments) {
        low = std::min(low, segment.offset);
        high = std::max(high, segment.offset + segment.bytes - Bytes(1));
    }
    for (const StreamLevel& level : stream.levels) {
        const Bytes whole = level.stride * (level.count - 1);
        (whole < Bytes() ? low : high) += whole;
    }
    return {low, high};
}

}  // namespace

bool conflict_free(const BankedPort& port, const AddressStream& stream, Bytes base) {
    const auto [low, high] = reach(stream);
    return (base + high) / port.bank_width - (base + low) / port.bank_width < port.banks;
}

std::int64_t most_lines(const BankedPort& port, const AddressStream& stream) {
    std::int64_t lines = 0;
    for (const Segment& segment : stream.segments)
        lines += (segment.bytes.value() - 1 + port.bank_width.value() - 1) / port.bank_width.value() + 1;
    return lines;
}

bool never_conflicts(const BankedPort& port, const AddressStream& stream) {
    const auto [low, high] = reach(stream);
    // Wherever it begins, it begins at worst in the last byte of a line.
    return (high - low) <= port.bank_width * (port.banks - 1);
}

namespace {

/// The lines of some vectors as runs of neighbours: short lines and rows one behind the other join as they
/// come, so that what is kept does not grow with the bytes.
class LineRuns {
public:
    void add(const BankedPort& port, const AddressStream& stream, Bytes vector_base);
    /// The greatest number of distinct lines in one bank; at least one.
    std::int64_t busiest_bank(int banks);

private:
    struct Run {
        std::int64_t first, last;
    };
    static bool join(Run& run, const Run& next) {
        if (next.first < run.first || next.first > run.last + 1) return false;
        run.last = std::max(run.last, next.last);
        return true;
    }
    void merge();

    std::vector<Run> runs_;
};

void LineRuns::add(const BankedPort& port, const AddressStream& stream, Bytes vector_base) {
    for (const Segment& segment : stream.segments) {
        const Bytes first = vector_base + segment.offset;
        const Bytes last = first + segment.bytes - Bytes(1);
        SYSTOLE_CHECK(first >= Bytes() && last >= first, "a segment of {} bytes at {}", segment.bytes.value(),
                      first.value());
        const Run run{first / port.bank_width, last / port.bank_width};
        if (runs_.empty() || !join(runs_.back(), run)) runs_.push_back(run);
    }
}

/// Sorts, and joins what overlaps or touches.
void LineRuns::merge() {
    std::sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.first < b.first; });
    std::size_t kept = 0;
    for (std::size_t i = 1; i < runs_.size(); ++i)
        if (!join(runs_[kept], runs_[i])) runs_[++kept] = runs_[i];
    if (!runs_.empty()) runs_.resize(kept + 1);
}

std::int64_t LineRuns::busiest_bank(int banks) {
    merge();
    if (runs_.empty() || runs_.back().last - runs_.front().first < banks) return 1;
    // A run is some whole turns around the banks, and the rest from the bank of its first line on.
    std::int64_t turns = 0;
    std::vector<std::int64_t> step(static_cast<std::size_t>(banks) + 1);  // of the load, from bank to bank
    for (const Run& run : runs_) {
        const std::int64_t lines = run.last - run.first + 1;
        turns += lines / banks;
        const std::int64_t begin = run.first % banks, end = begin + lines % banks;
        ++step[static_cast<std::size_t>(begin)];
        --step[static_cast<std::size_t>(std::min<std::int64_t>(end, banks))];
        if (end <= banks) continue;
        ++step[0];
        --step[static_cast<std::size_t>(end - banks)];
    }
    std::int64_t load = turns, most = 1;
    for (int bank = 0; bank < banks; ++bank) {
        load += step[static_cast<std::size_t>(bank)];
        most = std::max(most, load);
    }
    return most;
}

}  // namespace

std::int64_t vector_cycles(const BankedPort& port, const AddressStream& stream, Bytes vector_base) {
    LineRuns lines;
    lines.add(port, stream, vector_base);
    return lines.busiest_bank(port.banks);
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
    LineRuns lines;
    for (std::int64_t vector = first; vector < first + count; ++vector)
        lines.add(port, stream, stream.base + stream.offset_of(vector));
    return std::max(least, lines.busiest_bank(port.banks));
}

}  // namespace systole
