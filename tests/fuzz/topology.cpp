// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/scalesim_topology.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/imported_input.h"

namespace systole::fuzz {

void read_input(const std::string& input) {
    import_input([&] { return import_scalesim_topology(input, "f.csv"); });
}

const std::vector<std::string_view>& words() {
    static const std::vector<std::string_view> pieces{",",   ",,",   "\n", "Layer,M,N,K,\n", "DP",   "2:4,",
                                                      "\"",  "\r\n", "\t", " 3 64",          "null", "batch",
                                                      "\xff"};
    return pieces;
}

}  // namespace systole::fuzz
