// SPDX-License-Identifier: Apache-2.0
// Options that several commands take, declared once so that they read the same everywhere.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <string>
#include <vector>

namespace systole::app {

/// Options that say where answers go, not what they are.
inline const std::vector<std::string> kWhereTo{"output", "format", "timeline", "timeline-events", "report"};

/// --set [NAME:]PATH=VALUE, any number of times.
void add_set(boost::program_options::options_description& options);

/// --cost.
void add_cost(boost::program_options::options_description& options);

/// --check-dram.
void add_check_dram(boost::program_options::options_description& options);

/// --mapping FILE.
void add_mapping(boost::program_options::options_description& options);

/// An option with one value, shown as `name=VALUE` in help.
void add_option(boost::program_options::options_description& options, const char* name, const char* value,
                const char* meaning);

/// The same for an option that may be repeated.
void add_list(boost::program_options::options_description& options, const char* name, const char* value,
              const char* meaning);

/// An option without a value.
void add_flag(boost::program_options::options_description& options, const char* name, const char* meaning);

}  // namespace systole::app
