// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/narrow_strips.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "tests/unit/lowering/fixtures.h"
#include "tests/unit/workload/graphs.h"

namespace systole::systolic {
namespace {

constexpr std::int64_t kPacket = 256;

Token writer(std::uint32_t count, UnitIndex unit = 0) {
    Token token;
    token.unit = unit;
    token.count = count;
    return token;
}

}  // namespace

TEST_CASE("Strips wait until those beside them make rows of a packet, or whole ones", "[lowering]") {
    NarrowStrips strips;
    // Rows of 48 B: 8 B, then 40 B.
    CHECK_FALSE(strips.join({{100, 5, 8, 48}, writer(1), 0, 3}, kPacket));
    CHECK(strips.bytes_waiting() == 40);
    const auto whole = strips.join({{108, 5, 40, 48}, writer(2, 7), 0, 3}, kPacket);
    REQUIRE(whole);
    CHECK(whole->box.offset == 100);
    CHECK(whole->box.row_bytes == 48);
    CHECK(whole->box.rows == 5);
    const std::vector<Token> writers(whole->writers.begin(), whole->writers.end());
    CHECK(std::ranges::is_permutation(writers, std::vector<Token>{writer(1), writer(2, 7)}));
    CHECK(strips.waiting().empty());
    // Rows of 1,000 B: the second strip makes a packet's width of the first.
    CHECK_FALSE(strips.join({{400, 9, 100, 1000}, writer(3), 0, 3}, kPacket));
    const auto wide = strips.join({{200, 9, 200, 1000}, writer(4), 0, 3}, kPacket);
    REQUIRE(wide);
    CHECK(wide->box.offset == 200);
    CHECK(wide->box.row_bytes == 300);
}

TEST_CASE("Only strips of as many rows, of one core and one layer, that touch leave together", "[lowering]") {
    const NarrowStrips::Strip first{{0, 4, 8, 16}, writer(1), 0, 0};
    for (const NarrowStrips::Strip& other : {NarrowStrips::Strip{{8, 3, 8, 16}, writer(1), 0, 0},
                                             NarrowStrips::Strip{{8, 4, 8, 32}, writer(1), 0, 0},
                                             NarrowStrips::Strip{{8, 4, 8, 16}, writer(1), 1, 0},
                                             NarrowStrips::Strip{{8, 4, 8, 16}, writer(1), 0, 1},
                                             NarrowStrips::Strip{{10, 4, 4, 16}, writer(1), 0, 0}}) {
        NarrowStrips strips;
        CHECK_FALSE(strips.join(first, kPacket));
        CHECK_FALSE(strips.join(other, kPacket));
        CHECK(strips.waiting().size() == 2);
    }
}

TEST_CASE("Strips of a map leave once each, whatever their order", "[lowering]") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        INFO("seed " << seed);
        std::mt19937 dice(seed);
        const std::int64_t stride = 2 + dice() % 60, rows = 2 + dice() % 6;
        std::vector<TensorBox> cut;
        for (std::int64_t at = 0; at < stride;) {
            const std::int64_t width = std::min<std::int64_t>(1 + dice() % 9, stride - at);
            cut.push_back({at, rows, width, stride});
            at += width;
        }
        std::shuffle(cut.begin(), cut.end(), dice);
        NarrowStrips strips;
        const std::int64_t packet = 1 + dice() % 40;
        std::vector<int> left(static_cast<std::size_t>(stride * rows));
        const auto leave = [&](const TensorBox& box) {
            for (std::int64_t row = 0; row < box.rows; ++row)
                for (std::int64_t byte = 0; byte < box.row_bytes; ++byte)
                    ++left.at(static_cast<std::size_t>(box.offset + row * box.stride + byte));
        };
        for (const TensorBox& box : cut) {
            if (!NarrowStrips::narrow(box, packet))
                leave(box);
            else if (const auto wide = strips.join({box, writer(1), 0, 0}, packet))
                leave(wide->box);
        }
        for (const NarrowStrips::Strip& strip : strips.waiting()) {
            CHECK(NarrowStrips::narrow(strip.box, packet));
            leave(strip.box);
        }
        CHECK(std::ranges::all_of(left, [](int times) { return times == 1; }));
    }
}

TEST_CASE("A strip that nobody writes beside leaves with the layer that wrote it", "[lowering]") {
    SystolicSpec spec = test::small_machine(1);
    spec.host.kind = HostLinkSpec::Kind::Pcie;
    spec.host.pcie.max_payload = Bytes(4);
    // Of y two columns are narrow, and the six beside them are not.
    const Graph graph = systole::test::graph_of(
        "trace: two\ninputs:\n  a: {shape: [6, 2], dtype: int8}\n  b: {shape: [6, 6], dtype: int8}\nlayers:\n"
        "  - {name: y, op: concat, in: [a, b], axis: 1}\n"
        "  - {name: z, op: activation, in: y, function: relu}\noutputs: [y, z]\n");
    const Lowered lowered = test::check(graph, spec, Protocol::of_run());
    std::vector<std::int64_t> left(2);
    std::vector<std::int32_t> layers;  // of what leaves, in order
    for (const Command& command : lowered.program.commands) {
        if (command.unit >= kSharedUnits || unit_kind(command.unit) == UnitKind::Vector) continue;
        const Transfer& transfer = lowered.program.transfer(command);
        if (transfer.to.place != Place::Host) continue;
        left.at(static_cast<std::size_t>(command.layer)) += transfer.bytes();
        layers.push_back(command.layer);
    }
    CHECK(left == std::vector<std::int64_t>{6 * 8, 6 * 8});
    CHECK(std::ranges::is_sorted(layers));
}

}  // namespace systole::systolic
