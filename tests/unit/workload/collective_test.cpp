// SPDX-License-Identifier: Apache-2.0
// What chips do together: shapes, and what cannot be.
#include "graphs.h"

using namespace systole;
using namespace systole::test;

namespace {

Graph together(const std::string& keys, const std::string& in = "[2, 6, 12]") {
    return graph_of(trace_of(in, "  - {name: out, op: collective, " + keys + "}\n"));
}

std::string told(const std::string& keys, const std::string& in = "[2, 6, 12]",
                 const std::string& dtype = "int8") {
    return mistakes_of(trace_of(in, "  - {name: out, op: collective, " + keys + "}\n", dtype));
}

}  // namespace

TEST_CASE("a collective gives every chip the sum, all parts, or a part of the sum", "[workload]") {
    CHECK(tensor(together("kind: all_reduce, chips: 8"), "out").shape == Shape{2, 6, 12});
    CHECK(tensor(together("kind: all_gather, chips: 4"), "out").shape == Shape{2, 6, 48});
    CHECK(tensor(together("kind: all_gather, chips: 4, axis: 0"), "out").shape == Shape{8, 6, 12});
    CHECK(tensor(together("kind: reduce_scatter, chips: 4"), "out").shape == Shape{2, 6, 3});
    CHECK(tensor(together("kind: all_to_all, chips: 3, axis: 1"), "out").shape == Shape{2, 6, 12});
    CHECK(tensor(together("kind: reduce_scatter, chips: 3, axis: 1"), "out").shape == Shape{2, 2, 12});
    const auto op =
        std::get<Collective>(layer(together("kind: reduce_scatter, chips: 3, axis: 1"), "out").op);
    CHECK(op.outer == 2);
    CHECK(op.row == 72);
    CHECK(total_macs(together("kind: all_reduce, chips: 8")) == Macs(0));
}

TEST_CASE("a table asks for a collective by elements", "[workload]") {
    const auto shape = [](const std::string& kind) {
        return tensor(
                   single_operator("collective", {{"kind", kind}, {"chips", "4"}, {"elements", "100"}}, {}),
                   "collective")
            .shape;
    };
    CHECK(shape("all_reduce") == Shape{100});
    CHECK(shape("all_gather") == Shape{400});
    CHECK(shape("reduce_scatter") == Shape{25});
}

TEST_CASE("collectives that cannot be are refused", "[workload]") {
    CHECK(told("kind: all_reduce, chips: 7") ==
          "t:4:5: error: collective 'out': 7 chips do not divide the 144 elements of the tensor");
    CHECK_THAT(told("kind: reduce_scatter, chips: 5"),
               Catch::Contains("5 chips do not divide axis 2 of 'x' [2, 6, 12]"));
    CHECK_THAT(told("kind: all_to_all, chips: 5"),
               Catch::Contains("5 chips do not divide axis 2 of 'x' [2, 6, 12]"));
    CHECK_THAT(told("kind: all_sum, chips: 4"), Catch::Contains("all_reduce"));
    CHECK_THAT(told("kind: all_reduce, chips: 4, axis: 0"), Catch::Contains("an all_reduce has no axis"));
    CHECK_THAT(told("kind: all_gather, chips: 4, axis: 3"), Catch::Contains("'axis' must be 0"));
    CHECK_THAT(told("kind: all_reduce, chips: 1"), Catch::Contains("'chips'"));
    CHECK_THAT(told("kind: all_reduce, chips: 65537"),
               Catch::Contains("'chips' must be at most 65536, not 65537"));
    CHECK_THAT(told("kind: all_gather, chips: 65536", "[1, 100000]"),
               Catch::Contains("more than 2147483647 indices"));
    CHECK_THAT(told("kind: all_reduce, chips: 2", "[2, 6, 12]", "int4"),
               Catch::Contains("is done on whole bytes, but 'x' is int4"));
    CHECK_THAT(told("kind: all_reduce, chips: 2, out_dtype: int32"), Catch::Contains("out_dtype"));
}
