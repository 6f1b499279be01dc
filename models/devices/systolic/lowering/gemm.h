// SPDX-License-Identifier: Apache-2.0
// A matrix operator (matmul, convolution) on the matrix units: output-stationary blocks whose partial sums
// stay in the accumulators, in rounds that give each matrix unit one block, in steps along K.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/devices/systolic/lowering/gemm_input.h"
#include "models/devices/systolic/lowering/gemm_weights.h"
#include "models/devices/systolic/lowering/pipeline.h"
#include "models/devices/systolic/lowering/tiling.h"

namespace systole::systolic {

/// out[item][m, n] = post(bias + sum over k), as both kinds of operator look to the array.
struct GemmProblem {
    std::int64_t items = 1, m = 1, n = 1, k = 1;
    bool groups = false;  ///< items are groups of a convolution: side by side in the output's rows
    TensorId input = 0, second = 0, output = 0;
    bool stored_weights = true;
    std::optional<TensorId> bias;
    Function post = Function::None;
    std::vector<Range> k_tiles;  ///< of the passes
    std::shared_ptr<GemmInput> source;
    std::shared_ptr<GemmWeights> weights;
};

/// The problem of a Conv2d or MatMul layer. Throws UserError for operand types that the matrix units lack.
GemmProblem gemm_problem(const Workspace& workspace, const Layer& layer);
/// How it maps onto the machine; cuts `problem.source`. Throws UserError when not even the smallest tiles
/// fit.
Tiling map_gemm(const Workspace& workspace, const Layer& layer, GemmProblem& problem);
/// "4 MXUs: 2 over M x 2 over N; blocks 784 x 512 x 1152; m outer".
std::string describe_mapping(const GemmProblem& problem, const Tiling& tiling, std::int64_t array_cols);

class GemmSteps : public Steps {
public:
    GemmSteps(Workspace& workspace, std::int64_t layer, GemmProblem problem, const Tiling& tiling);

    std::int64_t count() const override { return rounds_ * k_steps_; }
    bool stage_weights(std::int64_t step, Holds& holds) override;
    bool stage_inputs(std::int64_t step, Holds& holds) override;
    void work(std::int64_t step) override;

private:
    /// The part of a round that one matrix unit computes.
    struct Block {
        int mxu = 0;
        std::int64_t item = 0, m_block = 0;
        Range m, n;
        std::vector<BufferTile*> accumulators;  ///< by N tile
        std::vector<Tokens> room;               ///< by N tile: the last drain of those rows
        std::vector<Token> done;                ///< by N tile: its latest pass
        BufferTile* input = nullptr;            ///< staged for the step at work; none: read in place
        BufferTile* weights = nullptr;
        bool fresh = true;  ///< has not waited for them yet
    };

    std::vector<Block> round(std::int64_t index) const;
    Range k_tiles(std::int64_t step) const;
    Range k_range(Range k_tiles) const;
    bool last_k(std::int64_t step) const { return step % k_steps_ == k_steps_ - 1; }
    Range n_tile(const Block& block, std::int64_t index) const;
    TileKey input_key(const Block& block, std::int64_t step) const;
    TileKey weights_key(const Block& block, std::int64_t step) const;
    TileKey bias_key(const Block& block) const;
    Staging bias_staging(const Block& block) const;
    bool staged_weights() const;

    void open_accumulators();
    void open_step(std::int64_t step);
    void issue(Block& block, Range step_k, std::int64_t tile, std::int64_t n_index);
    void fetch_weights(Block& block, Range step_k, Range n, Range k);
    std::int64_t input_base(const Block& block, Tokens& after);
    void release_input(const Block& block, Token reader);
    void drain_round();
    void drain(std::vector<Block*> row);
    void store_rows(const std::vector<Block*>& row, Range rows, std::int64_t pitch);
    Token drain_tile(Block& block, std::int64_t n_index, Range rows, const Tokens& room);
    TensorBox output_box(const Block& block, Range rows, Range n) const;

    Workspace& workspace_;
    std::int64_t layer_;
    GemmProblem problem_;
    Tiling tiling_;
    std::int64_t n_blocks_, m_rounds_, n_rounds_, rounds_, k_steps_;
    std::vector<Block> blocks_;  ///< of the round at work
    std::vector<std::optional<std::array<std::int64_t, 3>>>
        in_array_;  ///< by matrix unit: item, n and k of its weights
};

}  // namespace systole::systolic
