// SPDX-License-Identifier: Apache-2.0
// Where tensors lie between layers, who wrote which bytes of them, who still reads them, and how they come
// from and go to the outside. Inputs arrive chunk by chunk as they are first read; outputs leave as they are
// written. Of a resident tensor each core of a chip has an even share (core_share.h), in its own scratchpad.
#pragma once

#include <cstdint>
#include <vector>

#include "models/devices/systolic/lowering/core_share.h"
#include "models/devices/systolic/lowering/emitter.h"
#include "models/devices/systolic/lowering/narrow_strips.h"
#include "models/devices/systolic/lowering/tensor_box.h"
#include "models/devices/systolic/spec/spec.h"
#include "sim/device/device.h"
#include "sim/workload/allocation.h"
#include "sim/workload/graph.h"

namespace systole::systolic {

class TensorFlow {
public:
    /// Throws UserError when the protocol asks for a place that the placements do not allow.
    TensorFlow(const Graph& graph, const SystolicSpec& spec, const Protocol& protocol,
               const std::vector<Placement>& placements, int cores, Emitter& emitter);

    bool resident(TensorId tensor) const { return placements_[tensor].space == Space::Scratchpad; }
    /// Bytes that still have to come from DRAM before all of a resident tensor is there.
    std::int64_t to_arrive(TensorId tensor) const;
    /// Whether what is written to it goes to DRAM, because it lives there or leaves for there.
    bool stored_in_dram(TensorId tensor) const;
    /// A box of the tensor where it lies; of a resident one, in the core that commands are issued for.
    Region region(TensorId tensor, const TensorBox& box) const;

    /// Lets the bytes [begin, end), and those before them in a core's share, arrive, where the tensor comes
    /// from the outside: before anybody reads them, so that what is fetched for later steps stays behind them
    /// in the queue.
    void fetch(TensorId tensor, std::int64_t begin, std::int64_t end);
    /// Adds what a reader of bytes [begin, end) has to wait for, and lets those bytes arrive first. Nothing,
    /// of weights and an optimizer's state: who writes them is the last to use them (check_updates).
    void before_read(TensorId tensor, std::int64_t begin, std::int64_t end, Tokens& after);
    void read_by(TensorId tensor, Token reader);
    /// Adds what a writer has to wait for: users of tensors that lay in the same place before; of weights,
    /// which have their place to themselves, all who have read them.
    void before_write(TensorId tensor, Tokens& after);
    /// Enters a finished write; bytes of the graph's outputs then leave for where the protocol wants them.
    void wrote(TensorId tensor, const TensorBox& box, Token writer);
    /// Lets inputs arrive that nothing has read, and those leave that are outputs themselves.
    void finish();

    /// A host or on-chip transfer of inputs and outputs carries at most this much, so that work starts early.
    static constexpr std::int64_t kChunkBytes = 256 * 1024;

private:
    struct Write {
        std::int64_t begin, end;
        Token writer;
    };
    /// How bytes come in or go out: by this unit, from or to the same offsets of that place.
    struct Passage {
        bool exists = false;
        UnitKind unit = UnitKind::HostIn;
        Region outside;
        /// Bytes of one transfer: HBM takes about as long for them as an array for a pass.
        std::int64_t piece() const { return unit == UnitKind::Load ? kChunkBytes / 4 : kChunkBytes; }
    };
    struct State {
        std::vector<Write> writes;
        bool sorted = true;  ///< begins and ends of writes both ascend
        Tokens users;        ///< readers, and writers
        bool first_write_done = false;
        Tokens before;  ///< users of what lay here before
        Passage arrival, departure;
        NarrowStrips strips;                ///< that are to leave
        bool leaving = false;               ///< some has
        std::vector<std::int64_t> arrived;  ///< by core: bytes, from the front of its share
        bool fetched_ahead = false;         ///< by fetch()
    };

    Passage passage(TensorId tensor, Protocol::Where where, bool arrival);
    /// Lies in its place before and behind the run.
    bool stays(TensorId tensor) const {
        const TensorRole role = graph_.tensors[root(tensor)].role;
        return role == TensorRole::Weights || role == TensorRole::OptimizerState;
    }
    /// A view's bytes, writers and readers are those of the tensor behind it.
    TensorId root(TensorId tensor) const { return graph_.tensors[tensor].view_of.value_or(tensor); }
    /// Where in it the view begins.
    std::int64_t offset(TensorId tensor) const { return graph_.tensors[tensor].view_offset.value(); }
    std::int64_t stored(TensorId tensor) const { return stored_bytes(graph_.tensors[tensor]).value(); }
    /// A core's share of the bytes.
    Range share(TensorId tensor, int core) const { return CoreShare{core, cores_}.of(stored(root(tensor))); }
    /// Whose share begins last before that byte.
    int core_at(TensorId tensor, std::int64_t byte) const;
    /// The shares of [begin, end), and `ahead` bytes more of each.
    void arrive(TensorId tensor, std::int64_t begin, std::int64_t end, std::int64_t ahead = 0);
    void arrive_share(TensorId tensor, int core, std::int64_t until);
    void depart(TensorId tensor, const TensorBox& box, const Tokens& after);
    void depart_written(TensorId tensor, const TensorBox& box, Token writer);
    /// Strips that layers before this one have written leave as they are: nobody writes beside them.
    void depart_strips_before(std::int32_t layer);
    void depart_strips(TensorId tensor);
    void depart_whole(TensorId tensor);
    void enter(State& state, const TensorBox& box, Token writer);

    const Graph& graph_;
    const SystolicSpec& spec_;
    const std::vector<Placement>& placements_;
    const int cores_;  ///< at work
    Emitter& emitter_;
    std::vector<State> states_;
    std::vector<bool> learnt_;           ///< by tensor: weights that an optimizer writes
    std::vector<TensorId> touched_;      ///< tensors with users
    std::vector<TensorId> with_strips_;  ///< outputs of which narrow strips may wait
    std::int64_t packet_ = 0;            ///< of the host link, bytes: narrower rows are narrow; 0: none is
    std::int64_t host_end_ = 0, dram_end_ = 0;
};

}  // namespace systole::systolic
