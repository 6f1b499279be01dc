// SPDX-License-Identifier: Apache-2.0
// What the warps of a CTA execute, in loop form and for timing only: instructions name groups of registers,
// not registers, and bytes, not addresses (loads may name where their threads load).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/units.h"

namespace systole::simt {

/// A warp instruction, by what it keeps busy. Named as in PTX where PTX has it.
enum class Op : std::uint8_t {
    Integer,       ///< addresses, predicates, branches; `amount` cycles until its result may be read, or, if
                   ///< that is 0, the pipe's
    Fp32,          ///< arithmetic on accumulators, conversions; likewise
    Special,       ///< of the special function units: ex2, rcp, tanh
    Mma,           ///< mma.sync: `amount` MACs
    Fma,           ///< a product's fma on FP32 pipes, in the tensor cores' place: `amount` MACs
    GroupMma,      ///< the warp's quarter of a wgmma: `amount` MACs, and `bytes` read out of shared memory
    TensorMma,     ///< tcgen05.mma, on all sub-cores' tensor cores: `amount` MACs, and `bytes` read out of
                   ///< shared memory
    TensorCopy,    ///< tcgen05.cp: `bytes` out of shared memory into tensor memory, in turn with TensorMmas
    CommitTensor,  ///< tcgen05.commit: arrives at `barrier` when the warp's TensorMmas so far are complete
    TensorLoad,    ///< tcgen05.ld: `bytes` out of tensor memory into registers
    CommitMmas,    ///< wgmma.commit_group
    WaitMmas,      ///< wgmma.wait_group: until at most `amount` groups are under way
    SharedLoad,    ///< ldmatrix, ld.shared: `bytes`
    SharedStore,   ///< stmatrix, st.shared: `bytes`
    AsyncCopy,     ///< cp.async: `bytes` from memory into shared memory
    CommitCopies,  ///< cp.async.commit_group
    WaitCopies,    ///< cp.async.wait_group: until at most `amount` groups are under way
    BulkCopy,      ///< cp.async.bulk.tensor into shared memory: `bytes`; arrives at `barrier` with its data;
                   ///< `amount` 1: the last one of a step
    BulkStore,     ///< cp.async.bulk.tensor out of shared memory: `bytes`
    WaitStores,    ///< cp.async.bulk.wait_group: until all of the warp's bulk stores were answered
    WaitReads,     ///< cp.async.bulk.wait_group.read: until at most `amount` of the warp's bulk stores have
                   ///< not left shared memory
    GlobalLoad,    ///< `bytes`, into registers
    TableLoad,     ///< a word of a table that the L2 has (lengths, numbers of pages): there `amount` cycles
                   ///< later
    StepLoad,      ///< the same, of a step's operands, which a SharedStore passes on; committed as copies are
    GlobalStore,   ///< `bytes`, out of registers
    Arrive,        ///< mbarrier.arrive; the first half of bar.sync
    Await          ///< mbarrier.try_wait, until the next phase that the warp has not seen is complete
};

/// A set of groups of registers, a bit each.
using RegisterGroups = std::uint64_t;

/// Where the threads of a warp load: `bytes` each, from base + (thread * thread_stride + warp * warp_stride +
/// trip * trip_stride) mod set, by the warp's number in its role and the trip of its section. Nothing is
/// negative.
struct ThreadAddresses {
    std::int64_t base = 0, bytes = 4;
    std::int64_t thread_stride = 0, warp_stride = 0, trip_stride = 0;
    std::int64_t set = 0;  ///< 0: offsets do not go round
};

struct Instruction {
    Op op = Op::Integer;
    RegisterGroups reads = 0, writes = 0;
    std::int64_t amount = 0;
    std::int64_t bytes = 0;
    /// Of barriers: index in CtaProgram::barriers. In a ring, of the first of them.
    int barrier = 0;
    /// The barrier is one of so many of a ring, the one of the step `lag` steps ago. 0: no ring.
    int ring = 0;
    int lag = 0;
    /// Of global loads that the L1 may keep; `bytes` is not used then. Nothing: they go past it.
    std::optional<ThreadAddresses> addresses = {};
};

/// Instructions one behind the other, `trips` times. Of steps: each trip is a step along K, whose number goes
/// on from section to section.
struct Section {
    std::vector<Instruction> body;
    std::int64_t trips = 1;
    bool steps = false;
};

using WarpProgram = std::vector<Section>;

/// Warps that do the same.
struct Role {
    int warps = 1;
    WarpProgram program;
};

/// A barrier: complete, again and again, when so many warps (or copies) have arrived.
struct BarrierSpec {
    int arrivals = 1;
    bool open = false;  ///< complete once before anybody arrives: places that are free at first
};

struct CtaProgram {
    std::vector<Role> roles;
    std::vector<BarrierSpec> barriers;
    int registers_of_thread = 0;
    /// Of a thread of the group of warps that only copies, which gives the others away (setmaxnreg); 0: as
    /// all.
    int registers_of_copier = 0;
    Bytes shared;       ///< shared memory that it takes
    Bytes tensor;       ///< tensor memory that it takes
    int step_role = 0;  ///< whose first warp's trips are the CTA's steps

    int warps() const {
        int sum = 0;
        for (const Role& role : roles) sum += role.warps;
        return sum;
    }
};

}  // namespace systole::simt
