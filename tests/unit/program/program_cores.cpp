// SPDX-License-Identifier: Apache-2.0
// Programs of chips of several cores.
#include "tests/unit/program/small_program.h"

namespace systole::systolic {
namespace {

using test::check_refused;
using test::kProgram;
using test::parse;
using test::small_machine;
using test::with;

}  // namespace

TEST_CASE("units of a chip of several cores are named with their core", "[program]") {
    SystolicSpec spec = small_machine(4, 4);
    spec.cores = 2;
    std::string text = kProgram;
    for (const char* const unit : {"host_in ", "load ", "weights0 ", "mxu0 ", "vector "})
        text.replace(text.find(std::string("\n") + unit), 1, "\ncore1.");
    for (const char* const token : {"after=host_in", "after=load", ",weights0:1", "after=mxu0"}) {
        const std::size_t at = text.find(token);
        text.insert(text.find_first_of("=,", at) + 1, "core1.");
    }
    text.replace(text.find("dataflow=ws"), 11, "dataflow=ws cores=2");
    const Program program = parse(text, spec);
    CHECK(program.cores == 2);
    CHECK(program.commands.back().unit == unit_index(UnitKind::Vector, 0, 1));
    CHECK(program.tokens.back() == Token{unit_index(UnitKind::Matrix, 0, 1), 1});
    CHECK(to_text(program) == to_text(parse(to_text(program), spec)));

    const auto changed = [&](const std::string& what, const std::string& instead) {
        return with(what, instead, text);
    };
    check_refused(kProgram, "the program is for 1 core, and this machine has 2 (core.count)", spec);
    check_refused(changed("cores=2", "cores=3"), "the program is for 3 cores, and this machine has 2", spec);
    check_refused(changed("cores=2", "cores=0"), "cores", spec);
    check_refused(changed("core1.vector", "vector"), "unknown unit 'vector'", spec);
    check_refused(changed("core1.vector", "core2.vector"), "unknown unit 'core2.vector'", spec);
    check_refused(changed("after=core1.mxu0:1", "after=mxu0:1"), "with a unit of this machine", spec);
    check_refused(changed("core1.weights0 layer", "core0.weights0 layer"),
                  "core1.weights0 loads 0 tiles, the passes of core1.mxu0 use 1", spec);
    check_refused(text, "the program is for 2 cores, and this machine has 1 (core.count)");
}

TEST_CASE("every unit of every core has a number of its own", "[program]") {
    std::vector<bool> seen(unit_numbers(kMostCores, kMostMxus));
    const auto visit = [&](UnitKind kind, int mxu, int core) {
        const UnitIndex unit = unit_index(kind, mxu, core);
        REQUIRE(unit < seen.size());
        CHECK_FALSE(seen[unit]);
        seen[unit] = true;
        CHECK(unit_kind(unit) == kind);
        CHECK(core_of(unit) == core);
        if (kind >= UnitKind::Weights) CHECK(mxu_of(unit) == mxu);
    };
    for (int core = 0; core < kMostCores; ++core) {
        for (int kind = 0; kind < kSharedUnits; ++kind) visit(static_cast<UnitKind>(kind), 0, core);
        for (int mxu = 0; mxu < kMostMxus; ++mxu)
            for (const UnitKind kind : {UnitKind::Weights, UnitKind::Matrix}) visit(kind, mxu, core);
    }
    CHECK(unit_name(unit_index(UnitKind::Load, 0, 1), 2) == "core1.load");
    CHECK(unit_name(unit_index(UnitKind::Matrix, 3)) == "mxu3");
}

}  // namespace systole::systolic
