// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "sim/base/error.h"
#include "sim/config/quantity.h"

namespace systole::sweep {
namespace {

constexpr std::int64_t kMostChunks = 100'000'000;
constexpr std::size_t kDefaultArray = 1001;  // MaxArraySize of slurm.conf(5) where nobody sets it

/// A word as sh reads it back.
std::string quoted(const std::string& word) {
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

/// A path in a pattern of sbatch's, where '%' begins a replacement.
std::string literal(const std::string& path) {
    std::string text;
    for (const char c : path) text += c == '%' ? std::string("%%") : std::string(1, c);
    return text;
}

std::size_t number(const std::string& text, const std::string& line) {
    const auto value = config::parse_integer(text, 0, kMostChunks);
    if (!value.value) throw UserError(fmt::format("squeue answers '{}', which names no chunk", line));
    return static_cast<std::size_t>(*value.value);
}

std::string words_of(const ProgramEnd& end) {
    const std::string& text = end.messages.empty() ? end.output : end.messages;
    if (text.find_first_not_of('\n') != std::string::npos)
        return text.substr(0, text.find_last_not_of('\n') + 1);
    return end.code > 128 ? fmt::format("ended by signal {}", end.code - 128)
                          : fmt::format("exit code {}, without a word", end.code);
}

}  // namespace

Slurm::Slurm(SlurmJob job, ProgramRunner run) : job_(std::move(job)), run_(std::move(run)) {}

/// An array of chunks from `base` on has the name NAME.BASE: task K of it is chunk BASE + K.
Slurm::Queued Slurm::queued() const {
    const ProgramEnd end =
        run_({"squeue", "--noheader", "--array",
              "--states=PENDING,RUNNING,CONFIGURING,COMPLETING,REQUEUED,SUSPENDED", "--format=%j %K %F"},
             "");
    if (end.code != 0)
        throw UserError(fmt::format("Slurm does not say what is in its queue: {}", words_of(end)));
    Queued queued;
    std::istringstream lines(end.output);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name, task, job;
        words >> name >> task >> job;
        if (!name.starts_with(job_.name + '.') || task == "N/A") continue;
        queued.chunks.insert(number(name.substr(job_.name.size() + 1), line) + number(task, line));
        queued.arrays.insert(job);
    }
    return queued;
}

Slurm::Submitted Slurm::submit(const std::vector<std::size_t>& chunks,
                               const std::set<std::string>& others) const {
    Submitted submitted;
    const std::size_t most = largest_array();
    for (std::size_t first = 0; first < chunks.size();) {
        const std::size_t base = chunks[first] / most * most;
        std::vector<std::size_t> tasks;
        for (; first < chunks.size() && chunks[first] < base + most; ++first)
            tasks.push_back(chunks[first] - base);
        std::vector<std::string> options{fmt::format("--job-name={}.{}", job_.name, base),
                                         "--array=" + ranges(tasks), "--requeue",
                                         "--output=" + literal(job_.folder) + "/slurm/chunk-%A_%a.txt"};
        if (job_.minutes > 0) options.push_back(fmt::format("--time={}", job_.minutes));
        if (job_.megabytes > 0) options.push_back(fmt::format("--mem={}M", job_.megabytes));
        submitted.arrays.push_back(sbatch(
            std::move(options),
            script(fmt::format("sweep chunk {} $((SLURM_ARRAY_TASK_ID + {}))", quoted(job_.folder), base),
                   job_.options)));
    }
    std::vector<std::string> before = submitted.arrays;
    before.insert(before.end(), others.begin(), others.end());
    submitted.merge = sbatch({"--job-name=" + job_.name + "-merge",
                              fmt::format("--dependency=afterany:{}", fmt::join(before, ":")), "--requeue",
                              "--output=" + literal(job_.folder) + "/slurm/merge-%j.txt"},
                             script("sweep merge " + quoted(job_.folder), job_.merge_options));
    return submitted;
}

std::string Slurm::ranges(const std::vector<std::size_t>& numbers) {
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[i]);
        if (last > i) text += fmt::format("-{}", numbers[last]);
        i = last + 1;
    }
    return text;
}

/// Numbers of an array's tasks are below it.
std::size_t Slurm::largest_array() const {
    const ProgramEnd end = run_({"scontrol", "show", "config"}, "");
    if (end.code != 0) throw UserError(fmt::format("Slurm does not answer: {}", words_of(end)));
    std::istringstream lines(end.output);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string key, equals, value;
        words >> key >> equals >> value;
        if (key != "MaxArraySize") continue;
        const auto size = config::parse_integer(value, 1, kMostChunks);
        if (size.value) return static_cast<std::size_t>(*size.value);
    }
    return kDefaultArray;
}

std::string Slurm::sbatch(std::vector<std::string> options, const std::string& script) const {
    std::vector<std::string> words{"sbatch", "--parsable"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), job_.sbatch_options.begin(), job_.sbatch_options.end());
    const ProgramEnd end = run_(words, script);
    if (end.code != 0) throw UserError(fmt::format("sbatch refuses the job: {}", words_of(end)));
    // "ID", or "ID;CLUSTER".
    std::string id = end.output.substr(0, end.output.find_first_of(";\n"));
    if (id.empty() || id.find_first_not_of("0123456789") != std::string::npos)
        throw UserError(fmt::format("sbatch answers '{}', which is no job", words_of(end)));
    return id;
}

std::string Slurm::script(const std::string& command, const std::vector<std::string>& options) const {
    std::string text = "#!/bin/sh\n";
    for (const auto& [name, value] : job_.environment)
        text += fmt::format("export {}={}\n", name, quoted(value));
    text += fmt::format("exec {} {}", quoted(job_.program), command);
    for (const std::string& option : options) text += ' ' + quoted(option);
    return text + '\n';
}

}  // namespace systole::sweep
