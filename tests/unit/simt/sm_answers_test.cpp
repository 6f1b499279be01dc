// SPDX-License-Identifier: Apache-2.0
// The SM whose memory answers later: what waits for which answer.
#include <catch2/catch.hpp>
#include <vector>

#include "tests/unit/simt/sm_programs.h"

using namespace systole;
using namespace systole::simt;
using systole::simt::test::group_mma_sm;
using systole::simt::test::program_of;
using systole::simt::test::warp_mma_sm;

namespace {

/// A use of what group 0 of registers holds, which ends the program a cycle after it is there.
const Instruction kUse{.op = Op::Integer, .reads = 1};

/// Of the SM under test: what it asked, to be answered by hand.
struct Asked {
    std::vector<Sm::Access> accesses;
    Sm::Accesses later() {
        return [this](const Sm::Access& access) {
            accesses.push_back(access);
            return Sm::kLater;
        };
    }
};

}  // namespace

TEST_CASE("A warp waits for a group of copies until all of them were answered, in whatever order") {
    const Instruction copy{.op = Op::AsyncCopy, .bytes = 512}, commit{.op = Op::CommitCopies};
    Asked asked;
    Sm sm(warp_mma_sm(), 256, asked.later());
    const CtaProgram program =
        program_of(1, {copy, copy, commit, copy, commit, {.op = Op::WaitCopies, .amount = 1}, kUse});
    sm.launch(program, 0);
    sm.advance(1000);
    REQUIRE(asked.accesses.size() == 3);
    CHECK(asked.accesses[2].number == 2);
    sm.arrived(asked.accesses[2].request, 1000);
    CHECK(sm.next_issue() == Sm::kNever);
    sm.arrived(asked.accesses[1].request, 1100);
    CHECK(sm.next_issue() == Sm::kNever);
    sm.arrived(asked.accesses[0].request, 1200);
    CHECK(sm.next_issue() == 1200);
    sm.advance(Sm::kNever);
    CHECK(sm.trace(0).end == 1202);  // the wait, and the use behind it
}

TEST_CASE("Copies that are answered later belong to their own group, however many were complete before") {
    const Instruction copy{.op = Op::AsyncCopy, .bytes = 512}, commit{.op = Op::CommitCopies};
    Asked asked;
    Sm sm(warp_mma_sm(), 256, asked.later());
    const CtaProgram program = program_of(1, {copy, commit, {.op = Op::WaitCopies, .amount = 1}}, 4);
    sm.launch(program, 0);
    // The second group's wait is for the first, the third's for the second, and so on.
    for (std::size_t group = 0; group < 3; ++group) {
        const auto now = static_cast<std::int64_t>(1000 * (group + 1));
        sm.advance(now);
        REQUIRE(asked.accesses.size() == group + 2);
        CHECK(sm.next_issue() == Sm::kNever);
        sm.arrived(asked.accesses[group].request, now);
        CHECK(sm.next_issue() == now);
    }
    sm.advance(Sm::kNever);
    CHECK(sm.trace(0).end == 3001);
}

TEST_CASE("A bulk copy that is answered later arrives at the barrier that it was issued for") {
    Asked asked;
    Sm sm(group_mma_sm(), 512, asked.later());
    CtaProgram program;
    program.barriers = {{1, false}, {1, false}};
    const Instruction copy{.op = Op::BulkCopy, .amount = 1, .bytes = 4096, .ring = 2},
        await{.op = Op::Await, .ring = 2};
    program.roles = {{1, {{{copy}, 2, true}}}, {1, {{{await}, 2, true}, {{kUse}}}}};
    sm.launch(program, 0);
    sm.advance(1000);
    REQUIRE(asked.accesses.size() == 2);
    sm.arrived(asked.accesses[1].request, 1000);  // of the second barrier: the warp waits at the first
    CHECK(sm.next_issue() == Sm::kNever);
    sm.arrived(asked.accesses[0].request, 1500);
    sm.advance(Sm::kNever);
    CHECK(sm.trace(0).end == 1503);
}

TEST_CASE("A warp that waits for its bulk stores goes on when the last was answered") {
    Asked asked;
    Sm sm(group_mma_sm(), 512, asked.later());
    const Instruction store{.op = Op::BulkStore, .bytes = 4096}, wait{.op = Op::WaitStores};
    CtaProgram program;
    program.roles = {{1, {{{store, store, wait, kUse}}}}};
    sm.launch(program, 0);
    sm.advance(1000);
    REQUIRE(asked.accesses.size() == 2);
    sm.arrived(asked.accesses[1].request, 1200);
    CHECK(sm.next_issue() == Sm::kNever);
    sm.arrived(asked.accesses[0].request, 1500);
    sm.advance(Sm::kNever);
    CHECK(sm.trace(0).end == 1502);  // the wait, and an instruction behind it
}

TEST_CASE("A load that is answered later keeps who reads its register") {
    Asked asked;
    Sm sm(warp_mma_sm(), 256, asked.later());
    const CtaProgram program = program_of(1, {{.op = Op::GlobalLoad, .writes = 1, .bytes = 128}, kUse});
    sm.launch(program, 0);
    sm.advance(500);
    CHECK(sm.next_issue() == Sm::kNever);
    sm.arrived(asked.accesses.at(0).request, 700);
    sm.advance(Sm::kNever);
    CHECK(sm.trace(0).end == 701);
}

TEST_CASE("An answer that comes later is that of the warp that asked") {
    Asked asked;
    Sm sm(warp_mma_sm(), 256, asked.later());
    const CtaProgram program = program_of(2, {{.op = Op::GlobalLoad, .writes = 1, .bytes = 128}, kUse});
    sm.launch(program, 0);
    sm.advance(500);
    REQUIRE(asked.accesses.size() == 2);
    const bool in_order = asked.accesses[0].warp == 0;
    sm.arrived(asked.accesses[in_order ? 1 : 0].request, 700);
    sm.advance(1000);
    CHECK(sm.next_issue() == Sm::kNever);  // the second warp is through, the first waits
    sm.arrived(asked.accesses[in_order ? 0 : 1].request, 1000);
    sm.advance(Sm::kNever);
    CHECK(sm.trace(0).end == 1001);
}

// On two sub-cores: the first CTA leaves its place for the third, and that for the fourth, beside the second,
// which keeps the other sub-core busy throughout.
TEST_CASE("A CTA whose data came late leaves its place to the next once they are there") {
    SmSpec spec = warp_mma_sm();
    spec.sub_cores = 2;
    const CtaProgram load = program_of(1, {{.op = Op::GlobalLoad, .writes = 1, .bytes = 128}, kUse});
    const CtaProgram busy = program_of(1, {{.op = Op::Integer}}, 1000),
                     work = program_of(1, {{.op = Op::Integer}}, 50);
    Asked asked;
    Sm sm(spec, 256, asked.later());
    sm.launch(load, 0);
    sm.launch(busy, 0);
    for (std::size_t cta = 0; cta < 2; ++cta) {
        const auto now = static_cast<std::int64_t>(200 * cta);
        if (cta > 0) sm.launch(load, now);
        sm.advance(now + 100);
        REQUIRE(asked.accesses.size() == cta + 1);
        sm.arrived(asked.accesses[cta].request, now + 100);
        sm.advance(now + 200);
    }
    const std::size_t last = sm.launch(work, 400);
    sm.advance(Sm::kNever);
    CHECK(sm.trace(last).end == 400 + systole::simt::test::cycles_of(work, spec));
}
