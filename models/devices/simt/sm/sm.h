// SPDX-License-Identifier: Apache-2.0
// One SM, warp instruction by warp instruction: sub-cores with a scheduler, pipelines and a tensor core each;
// a load/store unit, shared memory and barriers that all share. Plain C++: time is a number of cycles.
//
//   warps ─► scheduler ─┬─► integer, fp32 ─► registers        a warp issues in order, at most one instruction
//   (in order, each     ├─► tensor core                       a cycle and sub-core, once its operands are
//    by its scoreboard) └─► load/store unit ─► shared memory  there and the pipe takes it
//                                           ─► memory (who owns the SM says when data come)
//
// It goes from issue to issue, never cycle by cycle.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "models/devices/simt/sm/l1.h"
#include "models/devices/simt/sm/scoreboard.h"
#include "models/devices/simt/sm/tensor_time.h"
#include "models/devices/simt/spec/spec.h"
#include "models/devices/simt/warp/warp_program.h"
#include "sim/base/units.h"

namespace systole::simt {

class Sm {
public:
    /// Asked when a copy or load leaves the SM: when are its data there? At `at` or later.
    using Memory = std::function<std::int64_t(Op op, std::int64_t bytes, std::int64_t at)>;

    /// A copy, load or store that leaves the SM at `at`.
    struct Access {
        Op op = Op::GlobalLoad;
        std::int64_t bytes = 0, at = 0;
        std::size_t cta = 0;      ///< as launch() numbered it
        int warp = 0;             ///< in its role
        std::int64_t number = 0;  ///< of the warp's copies, loads or stores, each counted by themselves
        std::int64_t request = 0;
        int role = 0;  ///< the warp's, in its program
    };
    /// As Memory, told which access it is. Of one that reads, and of a bulk store, it may answer kLater:
    /// arrived(request) tells.
    using Accesses = std::function<std::int64_t(const Access& access)>;

    /// Asked when sectors that a load misses leave the SM at `at`: when are they there? Answers kLater if
    /// that cannot be told yet: arrived(request) tells.
    using Sectors = std::function<std::int64_t(const std::vector<std::int64_t>& sectors, std::int64_t at,
                                               std::int64_t request)>;
    static constexpr std::int64_t kLater = -1;
    static constexpr std::int64_t kNever = std::int64_t{1} << 62;

    /// What was seen of one CTA.
    struct CtaTrace {
        /// When the first copy left, the data of the first step were all there, products began and ended.
        std::int64_t first_request = -1, first_data = -1, first_mma = -1, last_mma_end = -1, end = -1;
        std::vector<std::int64_t> requests;  ///< when the last of each step's copies left
        std::vector<std::int64_t> steps;     ///< when each step had been issued by the role that counts them
    };

    /// `macs_per_cycle`: of one tensor core, at the format of the program. The programs must fit the SM.
    /// `sectors` is asked for loads of addresses.
    Sm(const SmSpec& spec, std::int64_t macs_per_cycle, Accesses accesses, Sectors sectors = {});
    Sm(const SmSpec& spec, std::int64_t macs_per_cycle, Memory memory, Sectors sectors = {});

    /// Places a CTA, whose warps may issue from `at` on; one that has ended leaves its places to it.
    /// `program` must outlive the SM. Answers its number.
    std::size_t launch(const CtaProgram& program, std::int64_t at);
    /// Until all warps have ended. A program whose warps wait for each other for ever is a failed check.
    void run();
    /// All instructions that issue before `until`: for an owner that answers loads later. Time goes on only.
    void advance(std::int64_t until);
    /// When the next instruction issues, as far as what has arrived tells; kNever: not before something does.
    std::int64_t next_issue();
    /// The data of a request are there at `at`, which nothing that has issued is behind.
    void arrived(std::int64_t request, std::int64_t at);
    bool finished() const { return left_ == 0; }

    const CtaTrace& trace(std::size_t cta) const { return ctas_[cta].trace; }
    /// Cycles of all tensor cores in which they worked in [from, until), and what the others were lost to:
    /// together sub_cores x (until - from). Only up to accounted(), or after run().
    std::int64_t busy(std::int64_t from, std::int64_t until) const;
    LostTime lost(std::int64_t from, std::int64_t until) const;
    std::int64_t instructions() const { return issued_; }
    /// Up to here busy() and lost() stay what they are.
    std::int64_t accounted() const {
        std::int64_t until = kNever;
        for (const SubCore& core : cores_) until = std::min(until, core.time.covered());
        return until;
    }

private:
    struct Mbarrier {
        int expected = 1, missing = 1;
        std::int64_t last = 0;  // arrival of the phase under way
        Loss loss = Loss::Dependency;
        std::vector<Stall> phases;  // when each was complete, and what for warps waited
    };
    struct Cta {
        const CtaProgram* program = nullptr;
        std::vector<Mbarrier> barriers;
        std::size_t first_warp = 0;
        int warps_left = 0;
        int awaited = 0;  // copies, loads and bulk stores on their way
        CtaTrace trace;
    };
    /// Copies that a warp has committed together.
    struct CopyGroup {
        std::int64_t ready = 0;  // of those that are there, or for which it is known
        int missing = 0;         // others
        std::int64_t complete() const { return missing > 0 ? kNever : ready; }
    };
    /// When a warp's next instruction can issue, and what keeps it until then.
    struct Readiness {
        std::int64_t at = 0;
        Loss loss = Loss::Dependency;
        void wait(std::int64_t until, Loss why) {
            if (until > at) at = until, loss = why;
        }
    };
    struct Warp {
        std::size_t cta = 0;
        std::size_t core = 0;
        int number = 0;  // in its role
        int role = 0;
        const WarpProgram* program = nullptr;
        bool counts_steps = false;
        std::size_t section = 0, index = 0;
        std::int64_t trip = 0, step = 0;
        std::int64_t next = 0;  // it may issue from here on, whatever its next instruction needs
        Scoreboard registers;
        std::vector<CopyGroup> copies;    // groups under way, oldest first
        CopyGroup open_copies;            // the group not yet committed
        std::int64_t groups_behind = 0;   // that were complete before the oldest
        std::vector<std::int64_t> mmas;   // when the groups under way are complete, oldest first
        std::int64_t mma_begins = 0;      // when the last GroupMma's turn comes
        std::int64_t open_mmas = 0;       // the same of the group not yet committed, or of all TensorMmas
        std::vector<std::int64_t> reads;  // when bulk stores have left shared memory, oldest first
        std::int64_t copied = 0, loaded = 0, stored = 0;     // instructions so far
        std::int64_t stores_under_way = 0, stores_done = 0;  // bulk stores; the last answer known
        std::vector<std::size_t> waited;                     // phases that it has waited for, by barrier
        std::vector<Stall> stalls;                           // since its last instruction for the tensor core
    };
    struct SubCore;
    /// A warp as its sub-core's scheduler sees it for every instruction that issues: what is looked at of all
    /// of them lies together.
    struct WarpSlot {
        std::size_t warp = 0;
        // Its next instruction, and when it can issue as far as pipes let it: known until it issues, or until
        // something comes for which warps may wait.
        Readiness ready = {};
        std::int64_t known = -1;  // releases_, when it was found
        // The pipe that it waits for, if any: when it is free, and what is lost until then.
        std::int64_t SubCore::*pipe = nullptr;
        Loss pipe_loss = Loss::OnChip;
        bool through_lsu = false;
        bool ended = false;
    };
    struct SubCore {
        std::vector<WarpSlot> warps;  // by age
        // Free from here on; `tensor_read`: the way out of tensor memory; `addresses`: what computes those of
        // memory instructions.
        std::int64_t issue = 0, fp32 = 0, integer = 0, special = 0, tensor = 0, tensor_read = 0,
                     addresses = 0;
        std::size_t last = ~std::size_t{0};  // place in `warps` that issued last; none at first
        TensorTime time;
        std::int64_t earliest = 0;  // nothing issues before
    };
    /// A copy or load without addresses that is on its way: into registers, to a barrier, or of a group; or a
    /// bulk store.
    struct Fetch {
        std::size_t warp = 0;
        bool store = false;
        RegisterGroups registers = 0;
        std::optional<std::size_t> barrier = {};
        std::optional<std::int64_t> group = {};
        std::int64_t least = 0;  ///< not before
    };
    /// A load that waits for `missing` requests; what it has of others is there at `ready`.
    struct Load {
        std::size_t warp;
        RegisterGroups registers;
        std::int64_t ready;
        std::size_t missing;
    };

    static const Instruction& instruction(const Warp& warp);
    static int barrier_of(const Warp& warp, const Instruction& instruction);
    Readiness readiness(WarpSlot& slot, const SubCore& core) const;
    void look_again(WarpSlot& slot) const;
    /// What such an instruction holds for a while; nullptr: nothing of its sub-core.
    std::int64_t SubCore::*pipe_of(Op next) const;
    void wait_for_others(const Warp& warp, const Instruction& instruction, Readiness& ready) const;
    std::int64_t earliest(SubCore& core) const;
    SubCore& first_core();
    std::size_t select(SubCore& core, std::int64_t at) const;
    void release();
    void issue(SubCore& core, std::size_t place, std::int64_t at);
    void execute(SubCore& core, Warp& warp, const Instruction& instruction, std::int64_t at);
    void multiply(SubCore& core, Warp& warp, const Instruction& instruction, std::int64_t at);
    void multiply_on_all(Warp& warp, const Instruction& instruction, std::int64_t at);
    void copy_to_tensor(Warp& warp, const Instruction& instruction, std::int64_t at);
    void load_sums(SubCore& core, Warp& warp, const Instruction& instruction, std::int64_t at);
    void touch_shared(Warp& warp, const Instruction& instruction, std::int64_t at);
    void copy(Warp& warp, const Instruction& instruction, std::int64_t at);
    void fetch_later(Warp& warp, const Instruction& instruction, std::int64_t request,
                     std::int64_t least = 0);
    void fetched(const Fetch& fetch, std::int64_t at);
    void store(Warp& warp, const Instruction& instruction, std::int64_t at);
    void load(Warp& warp, const Instruction& instruction, std::int64_t at);
    void arrive(std::size_t cta, std::size_t barrier, std::int64_t at, Loss loss);
    std::size_t take_places(const CtaProgram& program);
    /// Goes on behind the last instruction of a body. Answers whether the warp has ended.
    bool leave_body(SubCore& core, Warp& warp, std::int64_t at);
    std::int64_t through_shared(std::int64_t bytes, std::int64_t at);

    const SmSpec spec_;
    const std::int64_t macs_;
    const Accesses accesses_;
    const Sectors sectors_;
    L1 l1_;
    std::unordered_map<std::int64_t, std::vector<std::shared_ptr<Load>>> waiting_;  // by request
    std::unordered_map<std::int64_t, Fetch> fetches_;                               // by request
    std::int64_t requests_ = 0;
    std::vector<Cta> ctas_;
    std::vector<std::size_t> ended_;  // CTAs whose warps' places nobody has taken yet
    std::vector<Warp> warps_;
    std::vector<SubCore> cores_;
    std::int64_t lsu_ = 0, shared_ = 0;  // free from here on
    std::int64_t stores_out_ = 0;        // the SM's port, of bulk stores
    std::int64_t bulk_copies_ = 0;       // the unit that makes bulk copies' requests, likewise
    std::int64_t issued_ = 0;
    std::size_t left_ = 0;       // warps that have not ended
    bool released_ = false;      // something has come for which warps may wait …
    std::int64_t releases_ = 0;  // … so often until now
};

}  // namespace systole::simt
