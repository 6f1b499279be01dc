// SPDX-License-Identifier: Apache-2.0
// Replays a program abstractly and collects every broken promise as a sentence: order of conflicting accesses
// (happens-before from tokens and in-order units), addresses, operands that reach the arrays, coverage of
// every product, standstill with the shallowest queues. Knows operators and layouts from their definitions,
// nothing of how lowering works.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/devices/systolic/lowering/lower.h"

namespace systole::systolic::test {

class Replay {
public:
    Replay(const Graph& graph, const SystolicSpec& spec, const Lowered& lowered);
    /// The first few faults; empty when all is well.
    std::vector<std::string> run();
    /// Whether all commands complete when every unit has a queue of one.
    bool completes_with_shallow_queues() const;

private:
    static constexpr std::size_t kUnits = 40;
    /// By unit, core by core without gaps: commands known to be complete.
    using Clock = std::array<std::uint32_t, kUnits>;

    /// Bytes (or rows) of one place: who touched them last, and what they hold.
    struct Cells {
        std::vector<std::int64_t> holds;  ///< the DRAM address of the original; -1: unknown
        std::vector<Token> writer;
        /// Zero, and no memory before somebody touches it: most of a large scratchpad nobody does.
        std::unique_ptr<Clock[], decltype(&std::free)> readers{nullptr, &std::free};
        void resize(std::int64_t size);
    };

    void fault(const std::string& text);
    /// Places of units in clocks, and of the command's core and matrix unit among all.
    std::size_t units_of_core() const { return kSharedUnits + 2 * static_cast<std::size_t>(spec_.mxu.count); }
    UnitIndex dense(UnitIndex unit) const {
        return static_cast<UnitIndex>(static_cast<std::size_t>(core_of(unit)) * units_of_core() +
                                      unit % kUnitsOfCore);
    }
    std::string name_of(UnitIndex dense) const;
    std::size_t core() const { return static_cast<std::size_t>(core_of(command_.unit)); }
    std::size_t mxu_index(int own) const {
        return core() * static_cast<std::size_t>(spec_.mxu.count) + static_cast<std::size_t>(own);
    }
    Dataflow dataflow() const { return lowered_.program.dataflow_of(command_); }
    std::size_t mxu_index() const { return mxu_index(mxu_of(command_.unit)); }
    Cells& scratchpad() { return scratchpads_[core()]; }
    /// Byte `offset` of a tensor as the command's core has it; nowhere, if it is resident in another's.
    std::int64_t address_of(TensorId tensor, std::int64_t offset) const;
    /// Of a resident tensor the bytes in the command's core: an equal part, the first core the first.
    std::int64_t share_begin(TensorId tensor) const;
    std::int64_t share_bytes(TensorId tensor) const;
    void order(const Command& command);
    bool before(Token earlier) const;
    void read(Cells& cells, std::int64_t begin, std::int64_t count);
    void write(Cells& cells, std::int64_t begin, std::int64_t count);
    Cells* cells(Place place);
    void replay_transfer(const Transfer& transfer);
    void replay_pass(const MatrixPass& pass);
    std::vector<std::vector<std::int64_t>> vectors_of(const EdgeRead& edge, std::int64_t fold);
    bool read_element(TensorId tensor, std::int64_t at, std::int64_t wanted);
    void check_inputs(const MatrixPass& pass, const EdgeRead& edge, std::int64_t fold);
    void check_second(const MatrixPass& pass, const EdgeRead& edge, std::int64_t fold);
    void check_fifo_tile(const MatrixPass& pass);
    bool packed() const { return layer().weights && graph_.tensors[*layer().weights].format.packed(); }
    std::int64_t packed_bytes(std::int64_t count) const;
    std::int64_t packed_address(const MatrixPass& pass, std::int64_t k, std::int64_t n) const;
    void check_packed_bytes(const std::vector<std::int64_t>& held, std::int64_t wanted, std::int64_t bytes);
    void check_packed_second(const MatrixPass& pass, const EdgeRead& edge, std::int64_t fold);
    void check_packed_tile(const MatrixPass& pass);
    std::int64_t share_of_products(const Layer& layer) const;
    void check_edges(const MatrixPass& pass, std::int64_t fold);
    void replay_vector(const VectorWork& work);
    void replay_accesses(const VectorWork& work);
    void visit_rows(const EdgeRead& access,
                    const std::function<void(std::int64_t, std::int64_t)>& visit) const;
    std::int64_t inside_input(std::int64_t begin, std::int64_t count) const;
    void check_coverage();
    void check_left();
    bool moves() const;
    std::int64_t origin_of(std::int64_t at) const;
    void note_written(std::int64_t at);
    void note_moved(std::int64_t at, std::int64_t from);
    bool looks_up() const;
    bool is_row_of_table(std::int64_t at, std::int64_t from) const;
    void check_moved(const Transfer& transfer);
    bool writes_output(const Transfer& transfer) const;
    bool takes_indices() const;
    void note_lookups(const Transfer& transfer);
    void read_indices(std::int64_t lookups);
    void check_copied(const VectorWork& work);

    /// Bytes of tensors: which, and where in it.
    using Origins = std::vector<std::pair<TensorId, std::int64_t>>;
    const Optimizer* optimizer() const { return std::get_if<Optimizer>(&layer().op); }
    const Reduce* column_sums() const;
    /// Results that several commands add to.
    bool sums() const {
        return column_sums() != nullptr || std::holds_alternative<EmbeddingGradient>(layer().op);
    }
    void note_origins(const VectorWork& work);
    void check_sums_go_on(const VectorWork& work);
    void check_sum(std::int64_t begin, std::int64_t end);
    Origins gradients_of(const EmbeddingGradient& op, std::int64_t first, std::int64_t behind,
                         const Origins& found);
    std::int64_t place_of_weight(TensorId tensor, std::int64_t number) const;
    void check_update(const Transfer& transfer);
    void check_training(const Transfer& transfer);
    void check_training(const VectorWork& work);
    void check_trained();
    bool turns() const { return std::holds_alternative<Transpose>(layer().op); }
    std::int64_t turned_origin(std::int64_t at) const;
    void note_turned(const VectorWork& work);
    void check_turned(const Transfer& transfer);
    void compare_turned(const std::vector<std::int64_t>& written, const std::vector<std::int64_t>& sources);

    const ConvTranspose* transposed() const { return std::get_if<ConvTranspose>(&layer().op); }
    /// Output pixel of a row of M of a phase: image, row, column.
    std::array<std::int64_t, 3> phase_pixel(std::int64_t phase, std::int64_t m) const;
    std::int64_t phase_input(const MatrixPass& pass, std::int64_t m, std::int64_t k) const;
    std::int64_t phase_weight(const MatrixPass& pass, std::int64_t k, std::int64_t n) const;

    const Attention* attention() const { return std::get_if<Attention>(&layer().op); }
    /// Where a pass of attention stands: its head of keys, which product it is of, the first of its keys.
    struct AttentionPlace {
        std::int64_t item = 0;
        bool scores = false;
        std::int64_t first_key = 0;
    };
    AttentionPlace place_of(const PassOrigin& origin) const;
    void find_first_keys();
    std::int64_t query_element(std::int64_t item, std::int64_t row, std::int64_t dim,
                               std::int64_t width) const;
    std::int64_t key_element(std::int64_t item, std::int64_t key, std::int64_t dim, std::int64_t width) const;
    std::int64_t attention_input(const MatrixPass& pass, std::int64_t m, std::int64_t k) const;
    std::int64_t attention_second(const MatrixPass& pass, std::int64_t k, std::int64_t n) const;
    void count_attention(const MatrixPass& pass);
    TensorId second_of(const MatrixPass& pass) const;
    bool second_by_column(const MatrixPass& pass) const;
    const Layer& owner_of_weights() const;
    bool weights_turned() const;
    bool writes_of_cache_are_right(std::size_t layer) const;
    void check_drain(const VectorWork& work);
    std::int64_t drained_rows(const VectorWork& work) const;
    std::int64_t drained_cols(const VectorWork& work) const;
    std::int64_t drained_to(const VectorWork& work, std::int64_t row) const;
    void check_joined(const VectorWork& work);

    /// Streamed elements that the vector unit has made: no tensor has them.
    static constexpr std::int64_t kMade = -2;
    static constexpr std::int64_t kNowhere = std::int64_t{1} << 60;
    /// DRAM or scratchpad address of a streamed element; -1 for padding.
    std::int64_t input_address(const MatrixPass& pass, std::int64_t m, std::int64_t k) const;
    std::int64_t weight_address(const MatrixPass& pass, std::int64_t k, std::int64_t n) const;
    const Layer& layer() const { return graph_.layers[static_cast<std::size_t>(command_.layer)]; }
    std::int64_t element_bytes(TensorId t) const { return row_bytes(graph_.tensors[t].dtype, 1).value(); }

    std::map<std::int64_t, int> left_;  ///< by byte of the host: times that it was sent there
    const Graph& graph_;
    const SystolicSpec& spec_;
    const Lowered& lowered_;
    std::vector<std::string> faults_;

    Command command_;
    Token self_;
    Clock now_{};
    std::vector<std::vector<Clock>> history_;  ///< by unit: what each of its commands knew when it started
    Cells dram_;
    std::vector<Cells> scratchpads_;  ///< by core
    std::vector<Cells> accumulators_;
    std::vector<std::vector<std::vector<std::int64_t>>>
        fifo_;                                     ///< by matrix unit of all cores: bytes of waiting tiles
    std::vector<std::optional<Dataflow>> set_up_;  ///< by matrix unit: for its last pass
    std::vector<std::vector<std::int64_t>> in_array_;
    /// By matrix unit without FIFO: layer, batch item, k, its extent, n (is: m), its extent of the tile it
    /// holds.
    std::vector<std::array<std::int64_t, 6>> held_;
    std::vector<Origins> origins_;  ///< by core: what went into the result that is being made
    /// By core: where the sums of that result lie so far, and their bytes.
    std::vector<std::optional<std::pair<std::int64_t, std::int64_t>>> begun_;
    std::map<std::int32_t, std::int64_t> updated_;  ///< by layer: weights written
    std::map<std::pair<std::int32_t, std::int64_t>, std::int64_t>
        gathered_;  ///< by layer and gradient: how often it was added
    /// By core and place of a tile that a transpose has written: what its bytes are made of.
    std::map<std::pair<std::size_t, std::int64_t>, std::vector<std::int64_t>> turned_;
    /// By core: vector commands whose results no store has taken yet.
    std::vector<std::vector<Token>> undelivered_;
    std::map<std::array<std::int64_t, 5>, int> products_;  ///< layer, batch, m, n, k -> times
    std::vector<std::int64_t> layer_macs_;
    /// By layer that looks rows up, and core: the next lookup; and where in the scratchpad indices from a
    /// number on were staged.
    std::map<std::pair<std::int32_t, std::size_t>, std::int64_t> looked_up_;
    std::map<std::pair<std::int32_t, std::int64_t>, std::pair<std::int64_t, std::int64_t>> lists_;
    std::map<std::pair<std::int32_t, std::int64_t>, std::int64_t>
        first_keys_;                         ///< by layer and block of keys
    std::vector<std::vector<int>> written_;  ///< by layer: how often each byte of its output was written
};

}  // namespace systole::systolic::test
