// SPDX-License-Identifier: Apache-2.0
#include "sim/app/import_choices.h"

#include <fmt/format.h>

#include <boost/program_options/value_semantic.hpp>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/error.h"
#include "sim/workload/parameters.h"

namespace systole::app {
namespace {

namespace po = boost::program_options;

/// "NAME=VALUE" at its last '=': names of nodes may have one.
std::pair<std::string, std::string> parted(const std::string& text, const char* option,
                                           const char* expected) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0)
        throw UserError(fmt::format("{} {}: expected {}", option, excerpt(text), expected));
    return {text.substr(0, equals), text.substr(equals + 1)};
}

std::int64_t extent_of(const std::string& text, const std::string& name) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= 1 && value <= kMaxInteger)
        return value;
    throw UserError(fmt::format("--dim {}={}: expected a whole number from 1 to {}", excerpt(name),
                                excerpt(text), kMaxInteger));
}

}  // namespace

void add_import_choices(po::options_description& options) {
    options.add_options()("dim", po::value<std::vector<std::string>>()->composing()->value_name("NAME=N"),
                          "the extent of a symbolic dimension of an ONNX model; may be repeated");
    options.add_options()("branch",
                          po::value<std::vector<std::string>>()->composing()->value_name("NODE=then|else"),
                          "the branch of an If node of an ONNX model; may be repeated");
    options.add_options()("input", po::value<std::vector<std::string>>()->composing()->value_name("NAME"),
                          "an argument of a StableHLO module that is an input, all others being weights; may "
                          "be repeated");
}

void refuse_import_choices(const Arguments& arguments, const std::string& why) {
    for (const char* const option : {"dim", "branch", "input"})
        if (arguments.has(option))
            arguments.misused(fmt::format("--{} is for networks that are imported: {}", option, why));
}

ImportChoices read_import_choices(const Arguments& arguments) {
    ImportChoices choices;
    choices.inputs = arguments.list("input");
    for (const std::string& text : arguments.list("dim")) {
        const auto [name, value] = parted(text, "--dim", "NAME=N");
        if (!choices.onnx.dims.emplace(name, extent_of(value, name)).second)
            throw UserError(fmt::format("--dim {}: given twice", excerpt(name)));
    }
    for (const std::string& text : arguments.list("branch")) {
        const auto [name, value] = parted(text, "--branch", "NODE=then or NODE=else");
        if (value != "then" && value != "else")
            throw UserError(fmt::format("--branch {}: expected {}=then or {}=else", excerpt(text),
                                        excerpt(name), excerpt(name)));
        if (!choices.onnx.branches.emplace(name, value).second)
            throw UserError(fmt::format("--branch {}: given twice", excerpt(name)));
    }
    return choices;
}

}  // namespace systole::app
