// SPDX-License-Identifier: Apache-2.0
// Fused attention (Dao et al., "FlashAttention", 2022): scores never leave the chip. A round gives each
// matrix unit a block of queries; it meets the keys and values block by block. Each step makes a block of
// scores, turns them into shares of the maximum so far, and one step later adds their product with the values
// to the outputs, so that the vector unit works on one block while the array works on its neighbours.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/devices/systolic/lowering/attention_blocks.h"
#include "models/devices/systolic/lowering/attention_product.h"
#include "models/devices/systolic/lowering/pipeline.h"

namespace systole::systolic {

class AttentionSteps : public Steps {
public:
    AttentionSteps(Workspace& workspace, std::int64_t layer, const AttentionOperands& operands,
                   const AttentionBlocks& blocks);

    std::int64_t count() const override { return static_cast<std::int64_t>(steps_.size()); }
    bool stage_weights(std::int64_t, Holds&) override { return true; }
    bool stage_inputs(std::int64_t step, Holds& holds) override;
    void work(std::int64_t step) override;
    /// "4 MXUs; blocks of 512 rows of queries x 256 keys".
    std::string describe() const;

private:
    struct Step {
        std::int64_t round = 0, block = 0;  ///< of keys
    };
    /// What a matrix unit does in a round.
    struct Part {
        int mxu = 0;
        std::int64_t item = 0, query_block = 0, blocks = 0;
        Range rows;
        std::int64_t statistics = 0, partial = 0, shares = 0;  ///< addresses
    };
    /// Tiles that all of a round share.
    struct Round {
        BufferTile* statistics = nullptr;
        BufferTile* partial = nullptr;
        Tokens room;  ///< for the statistics, then for the outputs
    };
    /// A step whose second product is still to come.
    struct Open {
        Step step;
        bool last = false;  ///< of its round
        std::shared_ptr<Round> round;
        std::vector<Part> parts;
        std::vector<BufferTile*> values;  ///< by part; nothing: in place
        BufferTile* shares = nullptr;
    };
    enum class Second { Keys, Values };

    Range own_blocks() const;
    std::vector<Part> parts_of(const Step& step) const;
    Range keys_of(const Step& step) const;
    bool in_place(TensorId tensor) const;
    TileKey key(Second which, const Part& part, const Step& step) const;
    TileKey query_key(const Part& part) const;
    Staging second_staging(Second which, const Part& part, const Step& step) const;
    BufferTile* second_tile(Second which, const Part& part, const Step& step);

    Open opened(std::int64_t step);
    AttentionProduct scores(const Part& part, const Step& step);
    AttentionProduct context(const Open& open, std::size_t part);
    void take_maxima(Open& open, const Part& part, AttentionProduct& product);
    void take_shares(Open& open, const Part& part, AttentionProduct& product, const Tokens& room);
    void add_outputs(Open& open, const Part& part, AttentionProduct& product);
    /// Issues what is still to come of a step, and lets go of its tiles.
    void close(Open& open);
    void finish(Open& open, const Part& part);
    Token divide(Open& open, const Part& part, Range rows, EdgeRead write, std::int64_t written,
                 const Tokens& after);
    Token drained(Open& open, const OutputTile& tile, const VectorWork& work, Tokens after);
    BufferTile& scratch(std::int64_t bytes, Tokens& room);
    VectorWork drain(const AttentionProduct& product, const OutputTile& tile) const;
    EdgeRead statistics_of(const Part& part, Range rows);

    Workspace& workspace_;
    std::int64_t layer_;
    AttentionOperands operands_;
    AttentionCosts costs_;
    HeadsInput queries_;
    RowWeights keys_, values_;
    HeadLayout out_;
    CausalMask mask_;
    std::int64_t block_keys_;
    std::vector<Step> steps_;
    std::int64_t at_work_ = 0;
    std::optional<Open> open_;
    std::shared_ptr<Round> round_;  ///< of the step at work
};

}  // namespace systole::systolic
