// SPDX-License-Identifier: Apache-2.0
// Hops of a collective on a ring of chips that all run this program, in step: in each a chip sends a part of
// a tensor on and receives one of the same size. To sum, parts go round and grow by what each chip has of
// them, until each chip holds one that is whole; to gather, whole parts go round. Parts travel in pieces, of
// which one crosses the link while another is summed.
#pragma once

#include <cstdint>
#include <vector>

#include "models/devices/systolic/lowering/box_cut.h"
#include "models/devices/systolic/lowering/pipeline.h"
#include "models/devices/systolic/lowering/workspace.h"

namespace systole::systolic {

/// Where the parts of a collective lie. This chip's own is number 0; number i belongs to the chip i places
/// on.
class RingParts {
public:
    RingParts(const Workspace& workspace, const Layer& layer, const Collective& op);

    /// In the tensor that has them all.
    TensorBox among_all(std::int64_t part) const { return {part * row_, outer_, row_, chips_ * row_}; }
    /// In a tensor that has one of them.
    TensorBox alone() const { return {0, outer_, row_, row_}; }

private:
    std::int64_t chips_, outer_, row_ = 0;  ///< row_: bytes of a part's rows
};

class RingSteps : public Steps {
public:
    /// Pieces of at most `most_bytes`.
    RingSteps(Workspace& workspace, std::int64_t layer, std::int64_t most_bytes);

    std::int64_t count() const override { return hops() * cut_.count(); }
    bool stage_weights(std::int64_t, Holds&) override { return true; }
    bool stage_inputs(std::int64_t step, Holds& holds) override;
    void work(std::int64_t step) override;

    /// Of a part.
    std::int64_t piece_count() const { return cut_.count(); }
    /// Pieces that go round together, so that the link has another while one is summed.
    static constexpr std::int64_t kTogether = 2;
    /// Whether a collective makes a sum.
    static bool sums(Collective::Kind kind) {
        return kind == Collective::Kind::AllReduce || kind == Collective::Kind::ReduceScatter;
    }

private:
    /// What a piece of a part has left behind in its last hop.
    struct Piece {
        BufferTile* sum = nullptr;  ///< as far as it was made, where not in the output
        Holds held;                 ///< it
        Tokens sent;                ///< the neighbour has what this chip sent
    };
    struct Hop {
        std::int64_t number = 0, piece = 0;
    };
    bool sums() const { return sums(op_.kind); }
    bool gathers() const { return op_.kind != Collective::Kind::ReduceScatter; }
    std::int64_t hops() const { return (op_.chips - 1) * (std::int64_t{sums()} + std::int64_t{gathers()}); }
    bool is_sum(const Hop& hop) const { return sums() && hop.number < op_.chips - 1; }
    Hop hop(std::int64_t step) const;
    Piece& piece(const Hop& hop) { return pieces_[static_cast<std::size_t>(hop.piece)]; }
    TensorBox box(const TensorBox& part, const Hop& hop) const { return cut_.part(part, hop.piece); }
    /// Of the part that a hop adds to what it receives, this chip's piece.
    TensorBox own(const Hop& hop) const { return box(parts_.among_all(op_.chips - 2 - hop.number), hop); }
    /// Where this chip's part of the sum goes.
    TensorBox result(const Hop& hop) const {
        return box(gathers() ? parts_.among_all(0) : parts_.alone(), hop);
    }
    TileKey key(std::int64_t step) const { return {layer_, 0, step, 0}; }

    /// Sends what lies there, and receives as much; both once `after` and, of what comes in, `room` are
    /// there.
    struct Crossing {
        Token sent, received;
    };
    Crossing cross(const Region& from, const Region& to, const TensorBox& shape, Operand operand,
                   const Tokens& after, const Tokens& room);
    BufferTile& allocate(std::int64_t bytes, Tokens& room);
    void sum(const Hop& hop, std::int64_t step);
    Token add(const Hop& hop, std::int64_t step, const BufferTile& received, Tokens after, BufferTile* to);
    void gather(const Hop& hop);

    Workspace& workspace_;
    std::int64_t layer_;
    const Layer& source_;
    const Collective op_;
    TensorId input_, output_;
    RingParts parts_;
    BoxCut cut_;
    std::vector<Piece> pieces_;
};

}  // namespace systole::systolic
