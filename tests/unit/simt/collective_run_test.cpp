// SPDX-License-Identifier: Apache-2.0
// A collective as its SMs see it: when pieces leave, what is read and written, whose the time is.
#include "models/devices/simt/machine/collective_run.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <vector>

#include "tests/unit/simt/gpu_config.h"

namespace systole::simt {
namespace {

constexpr Ticks kStart(1'000'000);
constexpr std::int64_t kMiB = 1 << 20;

/// 8 chips sum `bytes` in `total`, of which `latency` passes before the first data.
CollectivePlan plan_of(std::int64_t bytes, Ticks launch, Ticks latency, Ticks total) {
    CollectivePlan plan;
    plan.time.kernel = {Collective::Kind::AllReduce, CollectiveAlgorithm::Ring, WireProtocol::Simple, 8,
                        Bytes(bytes)};
    plan.time.launch = launch;
    plan.time.latency = latency;
    plan.time.total = plan.time.by_library = total;
    plan.ctas = 24;
    plan.from = {0, Operand::Activations, Bytes(bytes), {}};
    plan.to = {bytes, Operand::Outputs, Bytes(bytes), {}};
    return plan;
}

struct Seen {
    Ticks end;
    KernelAccount account;
    std::vector<std::pair<std::int64_t, std::int64_t>> read, written;  // address, bytes
    Bytes sent, received;
    std::int64_t exchanges = 0;
};

/// With an L2 and links that answer after so long.
Seen run(const CollectivePlan& plan, const SimtSpec& spec, Ticks l2, Ticks link) {
    CollectiveRun run(plan, spec, kStart);
    Seen seen;
    std::multimap<Ticks, std::int64_t> answers;
    std::vector<KernelExecution::Access> accesses;
    for (Ticks now = kStart; !run.finished();) {
        while (!answers.empty() && answers.begin()->first <= now) {
            run.answered(answers.begin()->second, now);
            answers.erase(answers.begin());
        }
        run.advance(now, accesses);
        for (const KernelExecution::Access& access : accesses) {
            if (access.exchange) {
                seen.sent += access.exchange->sent;
                seen.received += access.exchange->received;
                ++seen.exchanges;
            }
            for (const TileAccess::Block& block : access.tiles.blocks)
                (access.write ? seen.written : seen.read).emplace_back(block.address, block.bytes);
            answers.emplace(now + (access.exchange ? link : l2), access.number);
        }
        accesses.clear();
        if (run.finished()) {
            seen.end = now;
            break;
        }
        Ticks next = std::max(now, run.next_event());
        if (!answers.empty()) next = std::min(next, answers.begin()->first);
        REQUIRE(next < Ticks::max());
        now = next;
    }
    seen.account = run.finish(seen.end);
    return seen;
}

/// From `begin` on each byte once, up to `end`.
void check_once(std::vector<std::pair<std::int64_t, std::int64_t>> blocks, std::int64_t begin,
                std::int64_t end) {
    std::sort(blocks.begin(), blocks.end());
    for (const auto& [address, bytes] : blocks) {
        CHECK(address == begin);
        begin += bytes;
    }
    CHECK(begin == end);
}

Ticks time_of(const Seen& seen, SlotClass owner) {
    return Ticks(seen.account.last[static_cast<std::size_t>(owner)] >> kFineBits);
}

}  // namespace

TEST_CASE("on an idle chip a collective takes the library's time", "[simt]") {
    const SimtSpec spec = test::shipped_gpu("a100");
    const Ticks launch(8'400'000), latency(56'000'000), total(180'000'000);
    for (const std::int64_t bytes : {std::int64_t{4096}, 3 * kMiB + 4096, 16 * kMiB}) {
        CAPTURE(bytes);
        const Seen seen = run(plan_of(bytes, launch, latency, total), spec, Ticks(150'000), Ticks(500'000));
        CHECK(seen.end == kStart + total);
        CHECK(seen.sent == Bytes(bytes / 8 * 14));
        CHECK(seen.received == seen.sent);
        check_once(seen.read, 0, bytes);
        check_once(seen.written, bytes, 2 * bytes);
        CHECK(time_of(seen, SlotClass::Launch) == launch);
        CHECK(time_of(seen, SlotClass::Host) == total - launch);
        CHECK(time_of(seen, SlotClass::Memory) == Ticks(0));
        for (std::size_t c = 0; c < kSlotClasses; ++c)
            CHECK(seen.account.times[c] == Int128{seen.account.last[c]} * 108);
        CHECK(seen.account.ctas == 24);
    }
}

TEST_CASE("what a piece is read too late is the memory's time", "[simt]") {
    const SimtSpec spec = test::shipped_gpu("a100");
    // One piece, which could leave a hop before 56 us, but is read after 60.
    const Ticks hop = spec.chip_link->latency;
    const Seen seen = run(plan_of(4096, Ticks(8'400'000), Ticks(56'000'000), Ticks(57'000'000)), spec,
                          Ticks(60'000'000), Ticks(500'000));
    const Ticks late = Ticks(60'000'000) - (Ticks(56'000'000) - hop);
    // It is stored from there on, which takes as long as a read here.
    CHECK(time_of(seen, SlotClass::Memory) > late);
    CHECK(time_of(seen, SlotClass::Host) == Ticks(57'000'000 - 8'400'000));
    CHECK(seen.end - kStart == Ticks(57'000'000) + time_of(seen, SlotClass::Memory));
}

TEST_CASE("pieces leave at the library's pace, no more than four read ahead", "[simt]") {
    const SimtSpec spec = test::shipped_gpu("a100");
    CollectivePlan plan = plan_of(16 * kMiB, Ticks(0), Ticks(10'000'000), Ticks(110'000'000));
    CollectiveRun run(plan, spec, kStart);
    std::vector<KernelExecution::Access> accesses;
    run.advance(kStart, accesses);
    CHECK(accesses.size() == 4);
    // 28 MiB to send in pieces of half a MiB: 56. The first leaves a hop before its latency is over.
    const Ticks first = kStart + Ticks(10'000'000) - spec.chip_link->latency;
    for (const auto& access : accesses) run.answered(access.number, kStart);
    accesses.clear();
    CHECK(run.next_event() == first);
    run.advance(first - Ticks(1), accesses);
    CHECK(accesses.empty());
    run.advance(first, accesses);
    REQUIRE(accesses.size() == 2);  // and one more is read
    CHECK(accesses.front().exchange->sent == Bytes(kMiB / 2));
    const auto exchanges = [&] {
        return std::count_if(accesses.begin(), accesses.end(),
                             [](auto& one) { return one.exchange.has_value(); });
    };
    accesses.clear();
    const Ticks second = first + Ticks(100'000'000 / 56);
    run.advance(second - Ticks(1), accesses);
    CHECK(exchanges() == 0);  // but what has come in is being stored
    CHECK(accesses.size() == 1);
    run.advance(second, accesses);
    CHECK(exchanges() == 1);
    CHECK(accesses.size() == 3);
}

}  // namespace systole::simt
