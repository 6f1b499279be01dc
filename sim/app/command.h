// SPDX-License-Identifier: Apache-2.0
// A command of the program: its arguments, its options, examples that teach it, and what it does. One generic
// parser and one help page serve them all.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>
#include <optional>
#include <string>
#include <vector>

namespace systole::app {

class Arguments;

struct Example {
    std::string line;  ///< "systole run tpu_v4 resnet50"
    std::string what;  ///< one line: what it shows
};

struct Command {
    std::string name;
    std::string summary;                 ///< one line
    std::vector<std::string> arguments;  ///< names: "DEVICE", "TRACE"
    std::string more_arguments;          ///< what may follow in any number ("key=value..."); empty: nothing
    std::string about;                   ///< what is worth knowing, a paragraph
    boost::program_options::options_description options;
    std::vector<Example> examples;
    int (*run)(const Arguments&);  ///< answers the exit code; throws UserError

    /// "systole run DEVICE TRACE [options]".
    std::string usage() const;
    std::string help() const;
};

/// A command line, checked against the command's declaration.
class Arguments {
public:
    /// Throws UserError for unknown options (did you mean), options given twice or without their value, and
    /// too many arguments. Missing arguments are found by at(): some are optional.
    Arguments(const Command& command, const std::vector<std::string>& words);

    std::size_t count() const { return positional_.size(); }
    /// Argument `i`; throws UserError that names the missing one and gives an example.
    const std::string& at(std::size_t i) const;
    /// All arguments from `first` on.
    std::vector<std::string> from(std::size_t first) const;
    bool has(const std::string& option) const { return values_.count(option) > 0; }
    std::optional<std::string> option(const std::string& name) const;
    /// The values of an option that may be repeated.
    std::vector<std::string> list(const std::string& name) const;
    /// An option with a fixed set of values; the first is the default. Throws UserError with did-you-mean.
    std::string choice(const std::string& name, const std::vector<std::string>& values) const;
    /// The command as one would type it again, without these options ("output"); of absolute paths the file's
    /// name alone, as where it lies is nobody's business.
    std::string line_without(const std::vector<std::string>& options) const;
    /// Throws UserError: what is wrong, and where this command is explained.
    [[noreturn]] void misused(const std::string& what) const;

private:
    struct Word {
        std::string option;  ///< that it belongs to; empty: an argument
        std::vector<std::string> tokens;
    };

    const Command& command_;
    std::vector<Word> words_;
    std::vector<std::string> positional_;
    boost::program_options::variables_map values_;
};

}  // namespace systole::app
