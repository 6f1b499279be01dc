// SPDX-License-Identifier: Apache-2.0
// The checker of commands: it lets pass what the slow twin gives, agrees with a judge that reads the table
// off the whole list of commands, and notices each row of each table when it is broken by one clock.
#include "models/memory/standards/command_checker.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/unit/memory/memory_presets.h"
#include "tests/unit/memory/memory_specs.h"
#include "tests/unit/memory/random_channel.h"

namespace systole::test {
namespace {

constexpr std::int64_t kLongAgo = 5000;

std::string in_words(const GivenCommand& given) {
    return fmt::format("{} of bank {} row {} in pseudo-channel {} at {}", to_string(given.command),
                       given.bank, given.row, given.pseudo_channel, given.clock.value());
}

bool is_timing(const std::string& fault) {
    return fault.find(" takes ") != std::string::npos;
}

DramSpec without_refresh() {
    DramSpec spec = hbm2();
    spec.refresh = RefreshPolicy::Off;
    return spec;
}

/// The names of shipped memories, one of each standard.
std::vector<std::string> one_of_each_standard() {
    return {"hbm2_2000", "hbm2e_3200", "hbm3_6400",   "hbm3e_9600",
            "ddr3_2133", "ddr4_3200",  "gddr6_16000", "lpddr5_6400"};
}

/// Where a command after one of bank 0 in pseudo-channel 0 meets it in `scope` and no closer; nothing where
/// the organisation has no such place.
std::optional<GivenCommand> place(const DramSpec& spec, Scope scope, Command command, std::int64_t clock) {
    GivenCommand given{command, 0, 0, 0, Cycles(clock)};
    if (!names_bank(command)) {
        given.pseudo_channel = scope == Scope::Channel ? spec.pseudo_channels - 1 : 0;
        return given;
    }
    switch (scope) {
        case Scope::Bank:
            return given;
        case Scope::Group:
            given.bank = 1;
            return spec.banks_per_group > 1 ? std::optional(given) : std::nullopt;
        case Scope::PseudoChannel:
            given.bank = spec.bank_groups > 1 ? spec.banks_per_group : 1;
            return given;
        case Scope::Channel:
            given.pseudo_channel = spec.pseudo_channels - 1;
            given.bank = spec.pseudo_channels > 1 ? 0 : spec.banks() - 1;
            return given;
    }
    return std::nullopt;
}

/// A checker that has seen `command` of bank 0 in pseudo-channel 0 last, and nothing for long before.
struct After {
    DramSpec spec;
    CommandChecker checker;
    std::int64_t clock = 2 * kLongAgo;

    static DramSpec calm(DramSpec spec, Command command) {
        spec.refresh = command == Command::RefreshBank ? RefreshPolicy::PerBank : RefreshPolicy::AllBank;
        spec.timing["REFI"] = spec.timing["REFISB"] = 2 * kLongAgo;
        spec.refresh_phase = Ticks();
        return spec;
    }
    After(const DramSpec& memory, Command command) : spec(calm(memory, command)), checker(spec) {
        if (is_column(command) || command == Command::Pre)
            checker.see({Command::Act, 0, 0, 0, Cycles(clock - kLongAgo)});
        checker.see({command, 0, 0, 0, Cycles(clock)});
    }
};

}  // namespace

TEST_CASE("each row of each table is noticed when it is broken by one clock") {
    int rows = 0, dominated = 0;
    for (const std::string& name : one_of_each_standard()) {
        const DramSpec spec = memory_spec(name);
        const ConstraintTable& table = *find_constraint_table(spec.standard);
        for (const ConstraintRow& row : table.rows) {
            if (row.window > 1) continue;
            for (const Command preceding : row.preceding) {
                for (const Command following : row.following) {
                    const After after(spec, preceding);
                    const bool banks = names_bank(preceding) && names_bank(following);
                    const Scope scope = banks ? row.scope : std::max(row.scope, Scope::PseudoChannel);
                    const std::int64_t latency = evaluate_latency(row.latency, spec.timing).value();
                    const std::int64_t least =
                        min_distance(table, spec.timing, banks ? scope : Scope::Bank, preceding, following)
                            .value();
                    const bool across = scope == Scope::Channel && spec.pseudo_channels == 1;
                    ++rows;
                    if (latency < least || across) {
                        ++dominated;
                        continue;
                    }
                    const auto early = place(spec, scope, following, after.clock + latency - 1);
                    if (!early) continue;
                    GivenCommand timely = *early;
                    timely.clock += Cycles(1);
                    INFO(name << ": " << to_string(preceding) << " to " << to_string(following) << " "
                              << row.latency << ": " << after.checker.fault(timely));
                    CHECK(is_timing(after.checker.fault(*early)));
                    CHECK(after.checker.fault(*early).find(fmt::format(" = {} clocks", latency)) !=
                          std::string::npos);
                    CHECK_FALSE(is_timing(after.checker.fault(timely)));
                }
            }
        }
    }
    CHECK(dominated < rows / 2);
}

TEST_CASE("a fifth activation within FAW is noticed") {
    DramSpec spec = without_refresh();
    spec.timing["FAW"] = 40;  // else four RRD_S are as long
    CommandChecker checker(spec);
    for (int i = 0; i < 4; ++i) checker.see({Command::Act, 0, 4 * i, 7, Cycles(100 + 8 * i)});
    CHECK(
        checker.fault({Command::Act, 0, 1, 7, Cycles(139)}) ==
        "39 clocks after ACT of bank 0 row 7 in pseudo-channel 0 at clock 100, but in one pseudo-channel ACT "
        "to ACT takes FAW = 40 clocks, 4 commands on");
    CHECK(checker.fault({Command::Act, 0, 1, 7, Cycles(140)}).empty());
}

TEST_CASE("a command of all banks minds the last one of each") {
    const DramSpec spec = without_refresh();
    CommandChecker checker(spec);
    checker.see({Command::Act, 0, 5, 7, Cycles(100)});
    const std::int64_t soonest = 100 + spec.timing.at("RAS") + 1;  // an ACT takes two clocks
    CHECK_THAT(checker.fault({Command::PreAll, 0, 0, 0, Cycles(soonest - 1)}),
               Catch::StartsWith("34 clocks after ACT of bank 5 row 7"));
    CHECK(checker.fault({Command::PreAll, 0, 0, 0, Cycles(soonest)}).empty());
}

TEST_CASE("a command that its bank cannot take is noticed") {
    CommandChecker checker(without_refresh());
    CHECK(checker.fault({Command::Read, 0, 3, 5, Cycles(0)}) == "the bank does not have that row open");
    CHECK(checker.fault({Command::Pre, 0, 3, 5, Cycles(0)}) == "the bank does not have that row open");
    checker.see({Command::Act, 0, 3, 5, Cycles(0)});
    CHECK(checker.fault({Command::Act, 0, 3, 6, Cycles(500)}) == "the bank has a row open");
    CHECK(checker.fault({Command::Read, 0, 3, 6, Cycles(500)}) == "the bank does not have that row open");
    CHECK(checker.fault({Command::Pre, 0, 3, 6, Cycles(500)}) == "the bank does not have that row open");
    CHECK(checker.fault({Command::Read, 0, 3, 5, Cycles(500)}).empty());
    checker.see({Command::ReadAp, 0, 3, 5, Cycles(500)});
    CHECK(checker.fault({Command::Write, 0, 3, 5, Cycles(600)}) == "the bank does not have that row open");
    CHECK(checker.fault({Command::Act, 0, 3, 6, Cycles(600)}).empty());
}

TEST_CASE("what is not there, or not in the order of time, is noticed") {
    CommandChecker checker(without_refresh());
    CHECK(checker.fault({Command::Act, 1, 0, 0, Cycles(0)}) == "there is no such pseudo-channel");
    CHECK(checker.fault({Command::Act, 0, 16, 0, Cycles(0)}) == "there is no such bank");
    CHECK(checker.fault({Command::Act, 0, 0, 32768, Cycles(0)}) == "there is no such row");
    checker.see({Command::Act, 0, 0, 0, Cycles(10)});
    CHECK(checker.fault({Command::Act, 0, 5, 0, Cycles(9)}) == "it is earlier than the command before it");
}

TEST_CASE("data that meet on the bus are noticed, whatever the table allows") {
    DramSpec spec = without_refresh();
    spec.timing["RTW"] = 8;  // wrong: CL + BL - CWL is 11
    CommandChecker checker(spec);
    checker.see({Command::Act, 0, 0, 0, Cycles(0)});
    checker.see({Command::Read, 0, 0, 0, Cycles(100)});
    CHECK(checker.fault({Command::Write, 0, 0, 0, Cycles(110)}) ==
          "its data would meet other data on the bus");
    CHECK(checker.fault({Command::Write, 0, 0, 0, Cycles(111)}).empty());
}

TEST_CASE("a refresh needs closed banks, and its turn") {
    CommandChecker all(hbm2());
    all.see({Command::Act, 0, 2, 0, Cycles(3000)});
    CHECK(all.fault({Command::Refresh, 0, 0, 0, Cycles(3900)}) == "banks are open");
    all.see({Command::PreAll, 0, 0, 0, Cycles(3800)});
    CHECK(all.fault({Command::Refresh, 0, 0, 0, Cycles(3899)}) == "no refresh is due");
    CHECK(all.fault({Command::RefreshBank, 0, 0, 0, Cycles(3900)}) ==
          "that is not how this memory is refreshed");
    CHECK(all.fault({Command::Refresh, 0, 0, 0, Cycles(3900)}).empty());

    DramSpec spec = memory_spec("hbm2_golden_1pc");
    spec.refresh = RefreshPolicy::PerBank;
    CommandChecker each(spec);
    CHECK(each.fault({Command::RefreshBank, 0, 1, 0, Cycles(244)}) ==
          "the bank is not the next to be refreshed");
    each.see({Command::RefreshBank, 0, 0, 0, Cycles(244)});
    each.see({Command::Act, 0, 1, 0, Cycles(400)});
    CHECK(each.fault({Command::RefreshBank, 0, 1, 0, Cycles(488)}) == "the bank is open");
}

TEST_CASE("a refresh may be owed up to the limit, and then for as long as closing the banks takes") {
    DramSpec spec = hbm2();
    const auto first_fault = [](const DramSpec& memory) {
        const CommandChecker checker(memory);
        std::int64_t clock = 0;
        while (checker.fault({Command::Act, 0, 0, 0, Cycles(clock)}).empty()) ++clock;
        CHECK(checker.fault({Command::Act, 0, 0, 0, Cycles(clock)}) == "a refresh is owed for too long");
        return clock;
    };
    const std::int64_t at_once = first_fault(spec);
    CHECK(at_once > 3900 + 35 + 14);  // RAS, RP
    CHECK(at_once < 3900 + 35 + 260 + 20);
    spec.refresh_postpone = 3;
    CHECK(first_fault(spec) == at_once + 3 * 3900);
}

TEST_CASE("the checker passes the twin's commands and agrees with the judge of the whole list") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        Random random(seed);
        const DramSpec spec = some_memory(random);
        const AddressMap map(spec);
        SlowChannel twin(spec, map);
        twin.run(some_traffic(random, spec, 400));
        INFO("seed " << seed << ": " << text_of(spec));
        CommandChecker checker(spec);
        TableJudge judge(spec);
        for (const GivenCommand& given : twin.commands()) {
            GivenCommand other = given;  // some other command at that clock
            other.command = static_cast<Command>(pick(random, 0, kCommands - 1));
            other.bank = names_bank(other.command) ? static_cast<int>(pick(random, 0, spec.banks() - 1)) : 0;
            other.pseudo_channel = static_cast<int>(pick(random, 0, spec.pseudo_channels - 1));
            INFO(in_words(given) << ", other " << in_words(other) << ": " << checker.fault(other));
            REQUIRE(is_timing(checker.fault(other)) == !judge.allows(other));
            REQUIRE(checker.fault(given).empty());
            checker.see(given);
            judge.record(given);
        }
    }
}

}  // namespace systole::test
