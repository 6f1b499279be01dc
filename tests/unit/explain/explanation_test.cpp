// SPDX-License-Identifier: Apache-2.0
// Whole explanations in every dataflow, of a program cut by hand and a run made up around it.
#include "models/devices/systolic/explain/explain.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "models/devices/systolic/explain/array_work.h"
#include "sim/base/error.h"
#include "sim/workload/trace.h"
#include "tests/support/machines.h"

namespace systole::systolic {
namespace {

constexpr std::int64_t kM = 6, kN = 5, kK = 7, kSide = 4;

SystolicSpec machine(Dataflow dataflow) {
    SystolicSpec spec = systole::test::small_machine(kSide, kSide);
    spec.mxu.dataflow = dataflow;
    spec.memory.kind = DramSpec::Kind::Ideal;
    return spec;
}

/// Every tile of the array's size in turn; what streams is not cut.
Program cut_by_hand(Dataflow dataflow) {
    Program program;
    program.dataflow = dataflow;
    program.layers.push_back(
        {"matmul", "matmul", "by hand", kM * kN * kK, 2 * (kM * kK + kK * kN + kM * kN), DType::Bf16});
    const auto step = [&](Extent extent, std::int64_t whole) {
        return orientation(dataflow).streamed == extent ? whole : kSide;
    };
    for (std::int64_t m = 0; m < kM; m += step(Extent::M, kM))
        for (std::int64_t n = 0; n < kN; n += step(Extent::N, kN))
            for (std::int64_t k = 0; k < kK; k += step(Extent::K, kK)) {
                MatrixPass pass;
                pass.m = std::min(step(Extent::M, kM), kM - m);
                pass.n = std::min(step(Extent::N, kN), kN - n);
                pass.k = std::min(step(Extent::K, kK), kK - k);
                pass.accumulate = k > 0;
                pass.origin = {0, m, k, n};
                program.commands.push_back({unit_index(UnitKind::Matrix, 0), 0, 0,
                                            static_cast<std::uint32_t>(program.passes.size()), 0});
                program.passes.push_back(pass);
            }
    return program;
}

/// A run of 100 cycles in which the array does its work and otherwise waits for memory.
DeviceResult made_up_run(const Program& program, const SystolicSpec& spec) {
    const ArrayWork work = array_work(program, spec);
    DeviceResult result;
    ResultRow& total = result.total;
    total.cycles = Cycles(100);
    total.end = Ticks(100'000);
    total.slots[static_cast<std::size_t>(SlotClass::Useful)] = 1000 * work.useful_slots;
    total.slots[static_cast<std::size_t>(SlotClass::Padding)] = 1000 * (work.slots() - work.useful_slots);
    total.slots[static_cast<std::size_t>(SlotClass::Memory)] = 1000 * (100 * kSide * kSide - work.slots());
    total.bound_by = "memory";
    result.critical_path = {{SlotClass::Memory, Ticks(100'000)}};
    return result;
}

/// What a mapper could have said.
const MappingChoice kWeighed{"matmul",
                             1234,
                             {{1, 1, 2, 6, 4, 7, true, {11, 22, 33, 44, 0, 99, "results"}},
                              {1, 2, 1, 3, 5, 4, false, {12, 23, 98, 45, 0, 101, "memory"}}},
                             {{"n", 99.4}, {"none", 150.0}}};

std::string explained(Dataflow dataflow, SystolicSpec spec) {
    const Graph graph =
        single_operator("matmul", {{"m", "6"}, {"n", "5"}, {"k", "7"}, {"dtype", "bf16"}}, {});
    const Program program = cut_by_hand(dataflow);
    return explain(graph, program, &kWeighed, spec, Protocol::of_op(),
                   [&](const SystolicSpec& asked, const Protocol&) { return made_up_run(program, asked); });
}

}  // namespace

TEST_CASE("an explanation says what stays and what moves, and counts the passes") {
    struct Expected {
        Dataflow dataflow;
        const char *stays, *streamed, *passes, *tiles, *all;
    };
    // ws: (7 -> 2) x (5 -> 2) tiles under T = 6; os: (6 -> 2) x (5 -> 2) under T = 7; is: (7 -> 2) x (6 -> 2)
    // under T = 5. The first or last pass shows its T and every edge, the others hide 4 cycles of shift.
    for (const Expected& expected :
         {Expected{Dataflow::WeightStationary, "stays  weights b", "M = 6            streamed",
                   "1 of M x 2 of N x 2 of K = 4 passes", "4 tiles of weights are shifted in",
                   "= 2 x 4 + 4 - 2 + 6 + 3 x max(6, 4) = 34 cycles"},
          Expected{Dataflow::OutputStationary, "stays  outputs", "K = 7            streamed",
                   "2 of M x 2 of N x 1 of K = 4 passes", "4 tiles of outputs",
                   "= 2 x 4 + 4 - 2 + 7 + 3 x max(7, 4) = 38 cycles"},
          Expected{Dataflow::InputStationary, "stays  activations a", "N = 5            streamed",
                   "2 of M x 1 of N x 2 of K = 4 passes", "4 tiles of activations are shifted in",
                   "= 2 x 4 + 4 - 2 + 5 + 3 x max(5, 4) = 30 cycles"}}) {
        const std::string text = explained(expected.dataflow, machine(expected.dataflow));
        for (const char* words :
             {expected.stays, expected.streamed, expected.passes, expected.tiles, expected.all})
            CHECK_THAT(text, Catch::Contains(words));
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
        if (expected.dataflow == Dataflow::OutputStationary)
            CHECK_THAT(text, Catch::Contains("shift out") && !Catch::Contains("folds"));
        else
            CHECK_THAT(text, Catch::Contains("shift in") && Catch::Contains("pieces of K are folds"));
    }
}

TEST_CASE("without a shadow register every tile pays for its edges") {
    SystolicSpec spec = machine(Dataflow::OutputStationary);
    spec.mxu.shadow_register = false;
    CHECK_THAT(explained(Dataflow::OutputStationary, spec),
               Catch::Contains("= 4 x (2 x 4 + 4 - 2) + 4 x 7 = 68 cycles") &&
                   Catch::Contains("No shadow register"));
}

TEST_CASE("an explanation shows what else the mapper has weighed") {
    const Dataflow ws = Dataflow::WeightStationary;
    const std::string text = explained(ws, machine(ws));
    CHECK_THAT(text,
               Catch::Contains("Of 1,234 mappings that fit the buffers") && Catch::Contains("1 of 1") &&
                   Catch::Contains("n 99, nothing (one works) 150 cycles") &&
                   Catch::Matches("(.|\\n)*1 x 1 x 2 +6 x 4 +7 +m +11 +22 +33 +44 +99 +results(.|\\n)*") &&
                   Catch::Matches("(.|\\n)*1 x 2 x 1 +3 x 5 +4 +n +12 +23 +98 +45 +101 +memory(.|\\n)*") &&
                   Catch::Contains("Estimated 99 cycles, simulated 100."));
}

TEST_CASE("an operator that is refused on a changed machine gives no hint, and is still explained") {
    const Dataflow ws = Dataflow::WeightStationary;
    const Graph graph =
        single_operator("matmul", {{"m", "6"}, {"n", "5"}, {"k", "7"}, {"dtype", "bf16"}}, {});
    const Program program = cut_by_hand(ws);
    int runs = 0;
    const std::string text = explain(graph, program, &kWeighed, machine(ws), Protocol::of_op(),
                                     [&](const SystolicSpec& asked, const Protocol&) -> DeviceResult {
                                         if (runs++ > 0) throw UserError("it does not fit");
                                         return made_up_run(program, asked);
                                     });
    CHECK(runs == 2);
    CHECK_THAT(text, Catch::Contains("by formula  K and N grown") && !Catch::Contains("instead of 100"));
}

}  // namespace systole::systolic
