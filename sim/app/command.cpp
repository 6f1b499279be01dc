// SPDX-License-Identifier: Apache-2.0
#include "sim/app/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/parsers.hpp>
#include <sstream>

#include "sim/base/error.h"

namespace systole::app {
namespace {

namespace po = boost::program_options;

std::vector<std::string> long_names(const po::options_description& options) {
    std::vector<std::string> names{"--help"};
    for (const auto& option : options.options()) names.push_back("--" + option->long_name());
    return names;
}

po::options_description with_help(const po::options_description& options) {
    po::options_description all(options);
    all.add_options()("help,h", "this page");
    return all;
}

/// Without the folders of an absolute path, which may stand behind "--option=".
std::string without_place(const std::string& word) {
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::size_t begin = equals == std::string::npos ? 0 : equals + 1;
    if (begin >= word.size() || word[begin] != '/') return word;
    return word.substr(0, begin) + word.substr(word.rfind('/') + 1);
}

/// A word as a shell takes it for one.
std::string in_shell(const std::string& word) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,@%+-";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
    std::string quoted = "'";
    for (const char c : word) c == '\'' ? quoted += "'\\''" : quoted += c;
    return quoted + "'";
}

}  // namespace

std::string Command::usage() const {
    std::string text = "systole " + name;
    for (const std::string& argument : arguments) text += ' ' + argument;
    if (!more_arguments.empty()) text += " [" + more_arguments + ']';
    return options.options().empty() ? text : text + " [options]";
}

std::string Command::help() const {
    std::ostringstream text;
    text << usage() << "\n\n" << summary << '\n' << about;
    text << "\nExamples\n";
    for (const Example& example : examples)
        text << "  " << example.line << "\n      " << example.what << '\n';
    text << "\nOptions\n" << with_help(options);
    return text.str();
}

Arguments::Arguments(const Command& command, const std::vector<std::string>& words) : command_(command) {
    // Abbreviated options would change their meaning the day another option is added.
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    const po::options_description known = with_help(command.options);
    try {
        const po::parsed_options parsed = po::command_line_parser(words).options(known).style(style).run();
        for (const po::option& option : parsed.options)
            words_.push_back({option.string_key, option.original_tokens});
        for (const po::option& option : parsed.options)
            if (option.string_key.empty())
                positional_.insert(positional_.end(), option.value.begin(), option.value.end());
        po::store(parsed, values_);
    } catch (const po::unknown_option& error) {
        const std::string name = error.get_option_name();
        misused(fmt::format("unknown option '{}'{}", name, did_you_mean(name, long_names(command.options))));
    } catch (const po::error& error) {
        misused(error.what());
    }
    if (!has("help") && command.more_arguments.empty() && positional_.size() > command.arguments.size())
        misused(fmt::format("unexpected argument '{}'", positional_[command.arguments.size()]));
}

const std::string& Arguments::at(std::size_t i) const {
    if (i >= positional_.size())
        misused(fmt::format("missing {}; for example: {}", command_.arguments.at(i),
                            command_.examples.at(0).line));
    return positional_[i];
}

std::vector<std::string> Arguments::from(std::size_t first) const {
    return {positional_.begin() + static_cast<std::ptrdiff_t>(std::min(first, count())), positional_.end()};
}

std::optional<std::string> Arguments::option(const std::string& name) const {
    if (!has(name)) return std::nullopt;
    return values_[name].as<std::string>();
}

std::vector<std::string> Arguments::list(const std::string& name) const {
    if (!has(name)) return {};
    return values_[name].as<std::vector<std::string>>();
}

std::string Arguments::choice(const std::string& name, const std::vector<std::string>& values) const {
    std::string value = option(name).value_or(values.front());
    if (std::find(values.begin(), values.end(), value) == values.end())
        misused(fmt::format("--{} takes {}, not '{}'{}", name, fmt::join(values, ", "), value,
                            did_you_mean(value, values)));
    return value;
}

std::string Arguments::line_without(const std::vector<std::string>& options) const {
    std::string line = "systole " + command_.name;
    for (const Word& word : words_) {
        if (std::find(options.begin(), options.end(), word.option) != options.end()) continue;
        for (const std::string& token : word.tokens) line += ' ' + in_shell(without_place(token));
    }
    return line;
}

void Arguments::misused(const std::string& what) const {
    throw UserError(fmt::format("{}: {}; see 'systole help {}'", command_.name, what, command_.name));
}

}  // namespace systole::app
