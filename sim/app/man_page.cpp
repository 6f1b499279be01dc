// SPDX-License-Identifier: Apache-2.0
#include "sim/app/man_page.h"

#include <fmt/format.h>

#include <string_view>

namespace systole::app {
namespace {

constexpr std::string_view kAbout =
    R"(Simulates systolic-array accelerators and GPUs cycle by cycle, driven by traces of networks, and says where every
cycle went and which bytes moved where.
Devices, memories and traces are names of what is shipped
.RB ( "systole list devices" )
or YAML files.
Every command explains itself with
.BR \-\-help .
)";

constexpr std::string_view kEnd = R"(.SH EXIT STATUS
.TP
.B 0
Done.
.TP
.B 2
The input is wrong: one line for each mistake on the standard error output, with file, line and column.
Nothing was written.
.TP
.B 3
The simulation stands still; a list of who waits for whom follows.
.TP
.B 4
.BR "systole sweep" :
some points have no result, or were refused by their device.
.TP
.B 130
.BR "systole sweep" :
interrupted;
.B systole sweep resume
goes on.
.TP
.B 134
An internal check failed.
Please report it.
.TP
.B 141
Who read the standard output has closed it.
.SH ENVIRONMENT
.TP
.B SYSTOLE_HOME
The directory that holds
.I configs
and
.IR traces .
Without it,
.I share/systole
of the prefix that the program is installed in, or the sources of a program in its build tree.
.TP
.B NO_COLOR
Tables on a terminal have no colours if this is set and not empty.
.TP
.B CLICOLOR_FORCE
Tables have colours in pipes, too, if this is set and not 0.
.TP
.B TERM
A terminal named
.I dumb
gets neither colours nor pictures.
.TP
.BR LC_ALL ", " LC_CTYPE ", " LANG
Pictures in tables need a locale of UTF-8.
.SH FILES
.TP
.I configs/devices, configs/memory, configs/energy, configs/cost
Shipped devices, memories, energies and prices.
.TP
.I configs/experiments
Experiments for
.BR "systole sweep" .
.TP
.I traces
Shipped networks.
.TP
.I docs/formats.md
Every file that is read or written.
.TP
.I docs/reference
Every key, and JSON Schemas for editors.
)";

/// `text` as troff shows it: a backslash and a hyphen are themselves, and no line is a request.
std::string escaped(std::string_view text) {
    std::string out;
    bool at_start = true;
    for (const char c : text) {
        if (at_start && (c == '.' || c == '\'')) out += "\\&";
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else if (c == '^' || c == '~' || c == '`')
            out += c == '^' ? "\\(ha" : c == '~' ? "\\(ti" : "\\(ga";
        else
            out += c;
        at_start = c == '\n';
    }
    return out;
}

/// In quotes, as one argument of a request.
std::string in_quotes(std::string_view text) {
    std::string out;
    for (const char c : escaped(text)) out += c == '"' ? std::string("\\(dq") : std::string(1, c);
    return '"' + out + '"';
}

/// Lines that belong together as a paragraph; lines that begin with spaces stand as they are.
std::string paragraphs(const std::string& text) {
    std::string out;
    bool is_list = false;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = std::string_view(text).substr(at, end - at);
        const bool listed = line.starts_with(' ');
        if (listed != is_list) out += listed ? ".PP\n.nf\n" : ".fi\n.PP\n";
        is_list = listed;
        out += line.empty() ? std::string(".PP") : escaped(line);
        out += '\n';
        at = end + 1;
    }
    return is_list ? out + ".fi\n" : out;
}

std::string option_of(const boost::program_options::option_description& option) {
    return fmt::format(".TP\n.B {}\n{}\n",
                       in_quotes(option.format_name() +
                                 (option.format_parameter().empty() ? "" : " " + option.format_parameter())),
                       escaped(option.description()));
}

std::string section_of(const Command& command) {
    std::string text =
        fmt::format(".SS {}\n{}\n", in_quotes("systole " + command.name), escaped(command.summary));
    text += fmt::format(".PP\n.B {}\n", in_quotes(command.usage()));
    if (!command.about.empty()) text += ".PP\n" + paragraphs(command.about);
    for (const auto& option : command.options.options()) text += option_of(*option);
    text += ".PP\nExamples:\n";
    for (const Example& example : command.examples)
        text += fmt::format(".TP\n.B {}\n{}\n", in_quotes(example.line), escaped(example.what));
    return text;
}

}  // namespace

std::string man_page(const std::vector<Command>& commands) {
    std::string text =
        ".\\\" Written by tools/reference from the commands' declarations; do not edit.\n"
        ".TH SYSTOLE 1\n.SH NAME\nsystole \\- a cycle\\-level simulator of systolic arrays and GPUs\n"
        ".SH SYNOPSIS\n.ad l\n";
    for (const Command& command : commands) text += fmt::format(".B {}\n.br\n", in_quotes(command.usage()));
    text +=
        ".B \"systole help\"\n[\\fICOMMAND\\fR]\n.br\n.B \"systole \\-\\-version\"\n.SH DESCRIPTION\n.ad b\n";
    text += kAbout;
    text += ".SH COMMANDS\n";
    for (const Command& command : commands) text += section_of(command);
    return text += kEnd;
}

std::string command_page(const std::vector<Command>& commands) {
    std::string text =
        "# Commands\n\nWritten by `tools/reference` from the commands' declarations; do not edit. `systole "
        "COMMAND --help`\n"
        "shows the same, and [systole.1](../man/systole.1) is the manual page (`man -l "
        "docs/man/systole.1`).\n";
    for (const Command& command : commands)
        text += fmt::format("\n## systole {}\n\n```\n{}```\n", command.name, command.help());
    return text;
}

}  // namespace systole::app
