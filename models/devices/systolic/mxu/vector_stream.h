// SPDX-License-Identifier: Apache-2.0
// The passes of a grid from their start until they are taken, and their vectors on the way along its edges:
// the port feeds a token per vector into a skewed line, whose tap n is one cycle behind tap n - 1.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "models/devices/systolic/mxu/matrix.h"
#include "models/devices/systolic/mxu/matrix_engine.h"
#include "models/devices/systolic/mxu/skew_line.h"
#include "models/devices/systolic/mxu/stream_port.h"
#include "models/devices/systolic/mxu/visit_counts.h"
#include "sim/base/check.h"

namespace systole {

template <class Operand>
class VectorStream {
public:
    struct RunningPass {
        Pass pass;
        Tile tile;
        Matrix<Operand> left, top;
        PassReport report;
        bool streamed = false;
        bool done = false;
    };
    /// One vector on its way along the edges; no pass: a bubble.
    struct Token {
        RunningPass* pass = nullptr;
        std::int64_t vector = 0;

        /// The first vector of the first pass over a tile, the last vector of a pass, that of a tile.
        bool first_of_tile() const { return pass != nullptr && vector == 0 && pass->pass.new_tile; }
        bool last_of_pass() const { return pass != nullptr && vector == pass->pass.vectors - 1; }
        bool last_of_tile() const { return last_of_pass() && pass->pass.last_use; }
    };

    /// Taps 0 … taps - 1.
    explicit VectorStream(int taps) : line_(taps) {}

    /// The port can take a pass.
    bool free() const { return port_.free(); }
    /// Every pass started is streamed and done.
    bool idle() const { return in_array_ == 0 && port_.free(); }

    /// Streams `pass` from the coming clock on; the reference stays valid until it is taken.
    RunningPass& start(const Pass& pass, const Tile& tile, Matrix<Operand> left, Matrix<Operand> top);
    /// Cycle `now`: the vector that enters tap 0, if one does.
    const Token& clock(Cycles now);
    const Token& tap(int n) const { return line_.tap(n); }
    /// As many clocks as it takes to push every token out.
    void clear() { line_.clear(); }

    /// Adds the counts that have come down to the passes they belong to. Column j's last row of a span is
    /// `row` + j taps down the line.
    void count(VisitCounts& counts, int cols, Cycles now);

    void finish(RunningPass& running, Cycles done);
    std::optional<PassReport> take_finished();

private:
    StreamPort port_;
    SkewLine<Token> line_;
    std::deque<RunningPass> passes_;
    std::int64_t in_array_ = 0;  // passes started and not done
};

template <class Operand>
auto VectorStream<Operand>::start(const Pass& pass, const Tile& tile, Matrix<Operand> left,
                                  Matrix<Operand> top) -> RunningPass& {
    port_.start(pass);
    ++in_array_;
    return passes_.emplace_back(RunningPass{pass, tile, std::move(left), std::move(top), {}});
}

template <class Operand>
auto VectorStream<Operand>::clock(Cycles now) -> const Token& {
    const bool streaming = !port_.free();
    const std::int64_t vector = port_.clock();
    line_.push(vector == StreamPort::kNone ? Token{} : Token{&passes_.back(), vector});
    if (streaming && port_.free()) {
        passes_.back().report.times.stream_end = now + Cycles(1);
        passes_.back().streamed = true;
    }
    return line_.tap(0);
}

template <class Operand>
void VectorStream<Operand>::count(VisitCounts& counts, int cols, Cycles now) {
    counts.read([&](int row, int span, const std::uint8_t* visits, const std::uint8_t* hits) {
        for (int col = 0; col < cols; ++col) {
            const Token& token = line_.tap(row + col);
            SYSTOLE_CHECK(visits[col] == (token.pass == nullptr ? 0 : span),
                          "{} of the {} PEs down to ({}, {}) multiplied a vector that passed in cycle {}",
                          visits[col], span, row, col, now.value());
            if (token.pass == nullptr) continue;
            token.pass->report.useful_slots += hits[col];
            token.pass->report.padding_slots += visits[col] - hits[col];
        }
    });
}

template <class Operand>
void VectorStream<Operand>::finish(RunningPass& running, Cycles done) {
    running.report.times.done = done;
    running.done = true;
    --in_array_;
}

template <class Operand>
std::optional<PassReport> VectorStream<Operand>::take_finished() {
    if (passes_.empty() || !passes_.front().done || !passes_.front().streamed) return std::nullopt;
    const PassReport report = passes_.front().report;
    passes_.pop_front();
    return report;
}

}  // namespace systole
