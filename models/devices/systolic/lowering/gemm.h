// SPDX-License-Identifier: Apache-2.0
// A matrix operator (matmul, convolution) on the matrix units: blocks of outputs whose partial sums stay in
// the accumulators, in rounds that give each matrix unit one block, in steps along K.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/devices/systolic/lowering/gemm_block.h"
#include "models/devices/systolic/lowering/gemm_input.h"
#include "models/devices/systolic/lowering/gemm_weights.h"
#include "models/devices/systolic/lowering/head_layout.h"
#include "models/devices/systolic/lowering/mapping.h"
#include "models/devices/systolic/lowering/pipeline.h"
#include "models/devices/systolic/lowering/pixel_layout.h"
#include "models/devices/systolic/lowering/tiling.h"

namespace systole::systolic {

/// Tiles along K at most: each is looked at when the operator is mapped.
constexpr std::int64_t kMaxKTiles = 1 << 24;
/// Folds of one operator at most, however few commands they take: each costs a microsecond of simulation and
/// some 200 bytes of accounts.
constexpr std::int64_t kMaxFolds = 1 << 25;

/// out[item][m, n] = post(bias + sum over k), as both kinds of operator look to the array.
struct GemmProblem {
    std::int64_t items = 1, m = 1, n = 1, k = 1;
    bool groups = false;  ///< items are groups of a convolution: side by side in the output's rows
    std::int64_t experts =
        0;  ///< stored matrices, of which the items meet the first ones, each its own; 0: one
    TensorId input = 0, second = 0, output = 0;
    bool stored_weights = true;
    Operand second_operand = Operand::Weights;
    std::vector<TensorId> columns;  ///< what a drain adds to or multiplies into whole columns: bias, scales
    Function post = Function::None;
    /// A tensor like the output, with which results are combined on their way out, and a function behind
    /// that.
    struct Join {
        TensorId tensor = 0;
        Function post = Function::None;
    };
    std::optional<Join> join;
    std::optional<HeadLayout> heads;  ///< how results lie, where not as [items, m, n]
    std::optional<PixelLayout> pixels;
    std::int64_t part = 0;           ///< of a layer that is several problems: which one
    std::optional<CausalMask> mask;  ///< hides products of attention
    /// Which of the product's extents keys are, where it has a mask; queries are M, or with keys as M are K.
    enum class Keys { AlongM, AlongN, AlongK };
    Keys keys = Keys::AlongN;
    WeightFormat format;               ///< of stored weights
    DType second_dtype = DType::Bf16;  ///< of the second operand, as it stands in the arrays
    /// Of a second operand that lies row by row in DRAM: bytes of a row, of K, or of N where they are
    /// columns.
    std::int64_t second_row_bytes = 0;
    bool second_by_column = false;
    bool unpacked = false;       ///< they become numbers of the input's dtype on their way into the arrays
    std::int32_t sparsity = 1;   ///< elements of K that share a place in the arrays
    OutputShape tile;            ///< of the arrays
    std::vector<Range> k_tiles;  ///< folds (ws, is), or what a step along K is made of (os)
    std::shared_ptr<GemmInput> source;
    std::shared_ptr<GemmWeights> weights;

    /// What the core does that this is the problem of, as deal() says; its rows of M are the source's to
    /// know.
    struct Share {
        Range items, n;      ///< of groups, too
        std::int64_t m = 0;  ///< rows of an item
        int cores = 1;       ///< that are at work, and share the memory's bandwidth
        /// Of the whole problem.
        double part = 1;
    };
    Share share;

    /// Additions and multiplications of a drain: of a bias, of a scale of a column or of all.
    int operations() const { return static_cast<int>(columns.size()) + (format.scales == Scales::Tensor); }
};

/// The problem of a Conv2d or MatMul layer. Throws UserError for operand types that the matrix units lack.
GemmProblem gemm_problem(const Workspace& workspace, const Layer& layer);
/// The problem of one phase of a ConvTranspose layer, under its windows.
GemmProblem phase_problem(const Workspace& workspace, const Layer& layer, std::size_t phase,
                          const WindowGeometry& window);
/// Decides how the stored weights of a layer get into the arrays: as they are, unpacked, or as the kept ones
/// of a pattern that the arrays know. Answers the most of K that a pass takes. Throws UserError for operand
/// types that the matrix units lack, for weights that this machine cannot take, or whose groups and patterns
/// do not fit its arrays.
std::int64_t take_packed(const Workspace& workspace, const Layer& layer, GemmProblem& problem);
/// MACs of a PE on two formats of operands. Throws UserError for those that the matrix units lack.
MacRate expect_rate(const Workspace& workspace, const Layer& layer, DType input, DType second);
/// How a matrix operator is cut, on every core alike.
struct GemmMapping {
    Tiling tiling;
    std::int64_t rows = 1;  ///< of a block, at most
    CoreSplit cores = CoreSplit::None;
    /// If they were asked for: mappings to be tried, this one first; none of one by hand.
    std::vector<LayerMapping> variants = {};
};
/// Gives a core its part: sets `problem.share`, and what `problem.source` has.
void deal(GemmProblem& problem, CoreSplit split, const CoreShare& core);
/// How it maps onto the machine, by hand where the workspace's mapping says so; deals the problem and cuts
/// `problem.source`. Throws UserError when not even the smallest tiles fit, or what the mapping asks for, or
/// when there are too many.
GemmMapping map_gemm(const Workspace& workspace, const Layer& layer, GemmProblem& problem);
/// The same for a problem that is dealt, which then has its best mapping without regard to cores.
GemmMapping map_share(const Workspace& workspace, const Layer& layer, GemmProblem& problem);
/// The mapping that was chosen, as a file says it.
LayerMapping used_mapping(const GemmProblem& problem, const GemmMapping& mapping);
/// A tiling of the core's share, as a file says it, but for what cores deal.
LayerMapping mapping_of_tiling(const GemmProblem& problem, const TilingRequest& request,
                               const Tiling& tiling);
/// What was weighed for the core's share, as the operator is cut by it.
MappingChoice mapping_choice(const Layer& layer, const GemmProblem& problem, const TilingRequest& request);
/// "4 MXUs: 2 over M x 2 over N; blocks 784 x 512 x 1152; m outer"; of several cores "2 cores over M, each
/// ..."
std::string describe_mapping(const GemmProblem& problem, const GemmMapping& mapping);

/// How many of the K tiles, from the first on, one command takes: all of them where outputs stay in the
/// array, a run of folds whose reads follow one pattern where that is allowed, else one.
std::int64_t folds_at_once(const Workspace& workspace, const GemmProblem& problem, Range k_tiles);

class GemmSteps : public Steps {
public:
    GemmSteps(Workspace& workspace, std::int64_t layer, GemmProblem problem, const Tiling& tiling);

    std::int64_t count() const override { return rounds_ * k_steps_; }
    bool stage_weights(std::int64_t step, Holds& holds) override;
    bool stage_inputs(std::int64_t step, Holds& holds) override;
    void work(std::int64_t step) override;

private:
    std::vector<Block> round(std::int64_t index) const;
    Range k_tiles(std::int64_t step) const;
    Range k_tile(std::int64_t index) const { return problem_.k_tiles[static_cast<std::size_t>(index)]; }
    Range k_range(Range k_tiles) const;
    std::int64_t kind(std::int64_t kind) const;
    bool last_k(std::int64_t step) const { return step % k_steps_ == k_steps_ - 1; }
    TileKey input_key(const Block& block, std::int64_t step) const;
    TileKey weights_key(const Block& block, std::int64_t step) const;
    TileKey column_key(const Block& block, std::size_t which) const;
    void reserve_rooms();
    Staging weights_staging(const Block& block, Range k) const;
    Staging input_staging(const Block& block, Range k) const;
    Staging column_staging(const Block& block, std::size_t which) const;
    bool staged_weights() const;

    void open_accumulators();
    void open_step(std::int64_t step);
    bool in_array(const Block& block, const OutputTile& tile, Range k);
    void issue(Block& block, OutputTile& tile, Range step, Range k_tiles);
    void set_edges(Block& block, const OutputTile& tile, Range step, Range k_tiles, MatrixPass& pass);
    EdgeRead input_edge(Block& block, const OutputTile& tile, Range step, Range k_tiles);
    EdgeRead second_edge(const Block& block, const OutputTile& tile, Range step, Range k_tiles);
    Tokens awaited(Block& block, Range step);
    void fetch_weights(Block& block, Range step_k, Range n, Range k);
    void release(const Block& block, Token reader);
    void drain_round();
    void drain(const std::vector<Block*>& row);
    void drain_in_bands(const std::vector<Block*>& row);
    void store(const std::vector<Block*>& row, Range rows, Range columns, bool single);
    /// Where in the scratchpad the first result of a drain goes, and how far apart rows lie.
    struct Destination {
        std::int64_t address = 0, pitch = 0;
        std::int64_t group = 0, group_pitch = 0;  ///< where rows come in groups, these lie that far apart
    };
    template <class ResultLayout>
    void drain_to(const ResultLayout& layout, Block& block, OutputTile& tile, const Tokens& room);
    Tokens fetch_joined(const TensorBox& box, const Destination& to, const Tokens& room);
    void read_joined(const Block& block, Range m, Range n, const Destination& to, VectorWork& work,
                     Tokens& after);
    void send(const Block& first, Range rows, Range columns, BufferTile& tile, std::int64_t pitch);
    std::int64_t masked(Range m, Range n, Range k) const;
    Token drain_tile(Block& block, OutputTile& tile, Range m, Range n, const Destination& to,
                     const Tokens& room);
    TensorBox output_box(const Block& block, Range m, Range n) const;

    Workspace& workspace_;
    std::int64_t layer_;
    GemmProblem problem_;
    Tiling tiling_;
    std::int64_t n_blocks_, m_rounds_, n_rounds_, rounds_, k_steps_;
    std::int64_t input_room_ = 0, weight_room_ = 0;  ///< bytes that a staged tile takes at least
    std::vector<Block> blocks_;                      ///< of the round at work
    /// By matrix unit: item, n (is: m) and k of the tile it holds.
    std::vector<std::optional<std::array<std::int64_t, 3>>> in_array_;
};

}  // namespace systole::systolic
