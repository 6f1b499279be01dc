// SPDX-License-Identifier: Apache-2.0
#include "sim/account/run_result.h"

#include <catch2/catch.hpp>

#include "tests/unit/account/sample_result.h"

namespace systole {
namespace {

std::string sentence(std::vector<CriticalStep> steps) {
    DeviceResult result;
    result.critical_path = std::move(steps);
    return critical_path_sentence(result);
}

}  // namespace

TEST_CASE("fractions are shares of the capacity") {
    const ResultRow row = test::sample_result().layers[0];  // of 240,000: 90,000 useful, 144,000 working
    CHECK(row.capacity() == 240'000);
    CHECK(row.utilization() == 0.375);
    CHECK(row.fraction(SlotClass::Memory) == 0.4);
    CHECK(row.compute_cycles() == Approx(36).epsilon(1e-15));
    CHECK(row.time() == Ticks(60'000));
}

TEST_CASE("a row without capacity has no utilization and nothing that binds it") {
    const ResultRow row;
    CHECK(row.utilization() == 0);
    CHECK(row.compute_cycles() == 0);
    CHECK(bound_by({}, {}) == "none");
}

TEST_CASE("utilization is over the slots that another simulator counts, if there are any") {
    ResultRow row = test::sample_result().layers[0];  // of 240,000: 90,000 useful
    row.utilization_slots = 120'000;
    CHECK(row.utilization() == 0.75);
    CHECK(row.fraction(SlotClass::Useful) == 0.375);
    row.utilization_slots = 45'000;
    CHECK(row.utilization() == 2);
    row.utilization_slots = 0;
    CHECK(row.utilization() == 0);
}

TEST_CASE("useful, padding and ramp bind together as compute") {
    const auto step = [](SlotClass owner, std::int64_t time) { return CriticalStep{owner, Ticks(time)}; };
    const auto useful = step(SlotClass::Useful, 3), padding = step(SlotClass::Padding, 3),
               ramp = step(SlotClass::Ramp, 3);
    CHECK(bound_by({useful, padding, ramp, step(SlotClass::Memory, 8)}, {}) == "compute");
    CHECK(bound_by({step(SlotClass::Memory, 10), useful, padding, ramp}, {}) == "memory");
    CHECK(bound_by({step(SlotClass::Host, 9), useful, padding, ramp, step(SlotClass::Memory, 9)}, {}) ==
          "compute");
    CHECK(bound_by({step(SlotClass::Dependency, 7), step(SlotClass::OnChip, 7), step(SlotClass::Tail, 6)},
                   {}) == "on_chip");
}

TEST_CASE("waits for links are those for other chips where these have more to do than the host's") {
    const std::vector<CriticalStep> waits = {{SlotClass::Host, Ticks(9)}, {SlotClass::Memory, Ticks(1)}};
    Roofline work;
    CHECK(bound_by(waits, work) == "host");
    work.cycles[static_cast<std::size_t>(Level::Chips)] = Cycles(5);
    CHECK(bound_by(waits, work) == "chips");
    work.cycles[static_cast<std::size_t>(Level::Host)] = Cycles(5);
    CHECK(bound_by(waits, work) == "host");
    CHECK(bound_by({{SlotClass::Memory, Ticks(2)}, {SlotClass::Host, Ticks(1)}}, work) == "memory");
}

TEST_CASE("the critical path reads as a sentence, largest share first") {
    CHECK(sentence({{SlotClass::Memory, Ticks(71)},
                    {SlotClass::Useful, Ticks(15)},
                    {SlotClass::Launch, Ticks(9)},
                    {SlotClass::Ramp, Ticks(5)}}) ==
          "The critical path is 71 % memory, 20 % compute and 9 % launch.");
    CHECK(sentence({{SlotClass::Host, Ticks(5)}}) == "The critical path is 100 % host.");
    CHECK(sentence({}) == "The critical path is empty.");
}

TEST_CASE("shares that round to nothing are not listed but admitted") {
    CHECK(sentence({{SlotClass::Host, Ticks(996)}, {SlotClass::Tail, Ticks(4)}}) ==
          "The critical path is 100 % host; others below 1 %.");
    CHECK(sentence({{SlotClass::Host, Ticks(995)}, {SlotClass::Tail, Ticks(5)}}) ==
          "The critical path is 100 % host and 1 % tail.");
}

TEST_CASE("keys are spelled as in the formats") {
    std::string keys;
    for (std::size_t i = 0; i < kSlotClasses; ++i)
        keys += std::string(to_string(static_cast<SlotClass>(i))) + " ";
    CHECK(keys == "useful padding ramp host memory on_chip dependency vector launch tail ");
    CHECK(to_string(Place::WeightFifo) == "weight_fifo");
    CHECK(to_string(Operand::KvCache) == "kv_cache");
    CHECK(to_string(Operand::OptimizerState) == "optimizer_state");
}

}  // namespace systole
