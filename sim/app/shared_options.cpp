// SPDX-License-Identifier: Apache-2.0
#include "sim/app/shared_options.h"

#include <boost/program_options/value_semantic.hpp>
#include <string>
#include <vector>

namespace systole::app {

namespace po = boost::program_options;

void add_set(po::options_description& options) {
    options.add_options()(
        "set", po::value<std::vector<std::string>>()->composing()->value_name("PATH=VALUE"),
        "change a value of the device, of the trace (workload.*) or of the protocol (run.*); "
        "may be repeated; NAME:PATH=VALUE concerns one device");
}

void add_cost(po::options_description& options) {
    options.add_options()("cost",
                          "tell what the run costs, by the prices of the device (cost.rent, cost.purchase)");
}

void add_check_dram(po::options_description& options) {
    options.add_options()("check-dram", "hold every command of the memory against its standard's table");
}

void add_mapping(po::options_description& options) {
    add_option(options, "mapping", "FILE",
               "map the layers that FILE names as it says, and the others as usual (docs/formats.md)");
}

void add_option(po::options_description& options, const char* name, const char* value, const char* meaning) {
    options.add_options()(name, po::value<std::string>()->value_name(value), meaning);
}

void add_list(po::options_description& options, const char* name, const char* value, const char* meaning) {
    options.add_options()(name, po::value<std::vector<std::string>>()->composing()->value_name(value),
                          meaning);
}

void add_flag(po::options_description& options, const char* name, const char* meaning) {
    options.add_options()(name, meaning);
}

}  // namespace systole::app
