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

/// Moving a vector by the port's period changes neither its banks nor how many lines it has in each.
FoldedLevel fold(const StreamLevel& level, std::int64_t port_period) {
    SYSTOLE_CHECK(level.count >= 1, "a stream level of {} steps", level.count);
    const std::int64_t period = port_period / std::gcd(port_period, level.stride.value());
    return {level.count, std::min(level.count, period), level.stride};
}

/// visit(base, weight) for the vectors of a stream that differ to the port's banks, `weight` of which begin
/// like `base`; of more than kMaxPeriod, the first. Answers how many vectors these stand for.
template <class Visit>
std::int64_t every_distinct(const BankedPort& port, const AddressStream& stream, const Visit& visit) {
    SYSTOLE_CHECK(port.banks >= 1 && port.bank_width >= Bytes(1), "a port of {} banks of {} bytes",
                  port.banks, port.bank_width.value());
    const FoldedLevel outer = fold(stream.levels[0], port.period());
    const FoldedLevel middle = fold(stream.levels[1], port.period());
    const FoldedLevel inner = fold(stream.levels[2], port.period());
    std::int64_t vectors = 0, budget = kMaxPeriod;
    for (std::int64_t i = 0; i < outer.distinct; ++i) {
        for (std::int64_t j = 0; j < middle.distinct; ++j) {
            for (std::int64_t k = 0; k < inner.distinct; ++k) {
                if (budget-- == 0) return vectors;
                const std::int64_t weight = outer.weight(i) * middle.weight(j) * inner.weight(k);
                visit(stream.base + outer.stride * i + middle.stride * j + inner.stride * k, weight);
                vectors += weight;
            }
        }
    }
    return vectors;
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
    return port.map().distinct((base + low) / port.bank_width, (base + high) / port.bank_width);
}

std::int64_t most_lines(const BankedPort& port, const AddressStream& stream) {
    std::int64_t lines = 0;
    for (const Segment& segment : stream.segments)
        lines += (segment.bytes.value() - 1 + port.bank_width.value() - 1) / port.bank_width.value() + 1;
    return lines;
}

bool never_conflicts(const BankedPort& port, const AddressStream& stream) {
    const auto [low, high] = reach(stream);
    // Wherever it begins, it begins at worst in the last byte of a line, or of a turn of an xor map.
    if (port.kind == BankMapKind::Xor) return high == low;
    return (high - low) <= port.bank_width * (port.banks - 1);
}

namespace {

/// The lines of some vectors as runs of neighbours: short lines and rows one behind the other join as they
/// come, so that what is kept does not grow with the bytes.
class LineRuns {
public:
    void add(const BankedPort& port, const AddressStream& stream, Bytes vector_base);
    /// Adds each distinct line `times` to the load of its bank.
    void add_to(BankLoad& load, std::int64_t times);

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

void LineRuns::add_to(BankLoad& load, std::int64_t times) {
    merge();
    for (const Run& run : runs_) load.add(run.first, run.last, times);
}

std::int64_t cycles_of(const BankedPort& port, const BankLoad& load) {
    return std::max<std::int64_t>(1, ceil_div(load.busiest(), port.lines));
}

/// A vector of one piece, as its lines.
std::pair<std::int64_t, std::int64_t> only_run(const BankedPort& port, const AddressStream& stream,
                                               Bytes base) {
    const Segment& segment = stream.segments.front();
    const Bytes first = base + segment.offset;
    return {first / port.bank_width, (first + segment.bytes - Bytes(1)) / port.bank_width};
}

/// Adds a vector's lines `times`.
void add_vector(BankLoad& load, const BankedPort& port, const AddressStream& stream, Bytes base,
                std::int64_t times) {
    if (stream.segments.size() == 1) {
        const auto [first, last] = only_run(port, stream, base);
        return load.add(first, last, times);
    }
    LineRuns lines;
    lines.add(port, stream, base);
    lines.add_to(load, times);
}

}  // namespace

std::int64_t vector_cycles(const BankedPort& port, const AddressStream& stream, Bytes vector_base) {
    BankLoad load(port.map());
    add_vector(load, port, stream, vector_base, 1);
    return cycles_of(port, load);
}

Rational cycles_per_vector(const BankedPort& port, const AddressStream& stream) {
    if (conflict_free(port, stream, stream.base)) return {};
    std::int64_t cycles = 0;
    BankLoad load(port.map());
    const std::int64_t vectors = every_distinct(port, stream, [&](Bytes base, std::int64_t weight) {
        if (stream.segments.size() == 1) {
            const auto [first, last] = only_run(port, stream, base);
            if (port.map().distinct(first, last)) return void(cycles += weight);
        }
        load.clear();
        add_vector(load, port, stream, base, 1);
        cycles += weight * cycles_of(port, load);
    });
    return Rational::reduced(cycles, vectors);
}

BankLoad vector_load(const BankedPort& port, const AddressStream& stream) {
    BankLoad load(port.map());
    const std::int64_t vectors = every_distinct(
        port, stream, [&](Bytes base, std::int64_t weight) { add_vector(load, port, stream, base, weight); });
    load.scale(stream.vectors(), vectors);
    return load;
}

BankLoad buffered_load(const BankedPort& port, const AddressStream& stream, std::int64_t first,
                       std::int64_t count) {
    LineRuns lines;
    for (std::int64_t vector = first; vector < first + count; ++vector)
        lines.add(port, stream, stream.base + stream.offset_of(vector));
    BankLoad load(port.map());
    lines.add_to(load, 1);
    return load;
}

std::int64_t buffered_cycles(const BankedPort& port, const AddressStream& stream, std::int64_t first,
                             std::int64_t count) {
    const std::int64_t bytes = stream.vector_bytes().value() * count;
    const std::int64_t least = std::max<std::int64_t>(1, ceil_div(bytes, port.bytes_a_cycle()));
    if (conflict_free(port, stream, stream.base)) return least;
    return std::max(least, cycles_of(port, buffered_load(port, stream, first, count)));
}

}  // namespace systole
