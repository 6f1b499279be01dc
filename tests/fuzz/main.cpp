// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target without libFuzzer: the corpus as it is, then inputs made from it, one for each seed.
//
//   fuzz_trace [--runs N] [--seed S] [--seconds T] FILE-OR-FOLDER...
//
// Each input may take 10 s of CPU and all together 4 GiB of memory. A fault prints the seed; `--seed S --runs
// 1` makes the same input again, and `--keep FILE` writes it there first.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "sim/base/sanitized.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/mutator.h"

namespace {

namespace fs = std::filesystem;

constexpr double kSecondsEach = 10;
constexpr std::size_t kLargest = std::size_t{1} << 16;
constexpr rlim_t kMostMemory = rlim_t{4} << 30;

// What a signal handler can say: which input it was.
volatile std::sig_atomic_t at_file = -1;
volatile std::uint64_t at_seed = 0;

void tell_input(int signal) {
    char text[100];
    const int size = at_file >= 0
                         ? std::snprintf(text, sizeof text, "fault in file %d of the corpus\n", int(at_file))
                         : std::snprintf(text, sizeof text, "fault at --seed %llu --runs 1\n",
                                         static_cast<unsigned long long>(at_seed));
    if (write(STDERR_FILENO, text, static_cast<std::size_t>(size)) < 0) _exit(1);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

struct Options {
    std::uint64_t seed = 1, runs = 1000;
    double seconds = 1e9;
    std::string keep;
    std::vector<std::string> files;
};

Options options_of(int count, char** arguments) {
    Options options;
    for (int i = 1; i < count; ++i) {
        const std::string name = arguments[i];
        const bool takes = name.starts_with("--");
        if (takes && i + 1 == count) throw std::runtime_error(name + " needs a value");
        if (name == "--seed")
            options.seed = std::stoull(arguments[++i]);
        else if (name == "--runs")
            options.runs = std::stoull(arguments[++i]);
        else if (name == "--seconds")
            options.seconds = std::stod(arguments[++i]);
        else if (name == "--keep")
            options.keep = std::filesystem::absolute(arguments[++i]).string();
        else if (takes)
            throw std::runtime_error("unknown option " + name);
        else if (fs::is_directory(name))
            for (const auto& entry : fs::recursive_directory_iterator(name)) {
                if (entry.is_regular_file()) options.files.push_back(entry.path().string());
            }
        else
            options.files.push_back(name);
    }
    std::sort(options.files.begin(), options.files.end());
    if (options.files.empty()) throw std::runtime_error("a corpus is needed: files or folders");
    return options;
}

std::string content(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw std::runtime_error("cannot read " + file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

double cpu_seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// CPU seconds that the reader took.
double read_timed(const std::string& input) {
    const double begin = cpu_seconds();
    systole::fuzz::read_input(input);
    const double taken = cpu_seconds() - begin;
    if (taken > kSecondsEach) throw std::runtime_error("one input took " + std::to_string(taken) + " s");
    return taken;
}

/// On a stack of its own: a fault may be that there was none left.
void catch_faults() {
    static char stack[1 << 16];
    stack_t own{};
    own.ss_sp = stack;
    own.ss_size = sizeof stack;
    sigaltstack(&own, nullptr);
    struct sigaction action {};
    action.sa_handler = tell_input;
    action.sa_flags = SA_ONSTACK;
    for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS}) sigaction(signal, &action, nullptr);
}

void limit_memory() {
    if (systole::kAddressSanitizer) return;
    const rlimit limit{kMostMemory, kMostMemory};
    setrlimit(RLIMIT_AS, &limit);
}

int fuzz(const Options& options) {
    // All at once: a target may go to a folder of its own.
    std::vector<std::string> corpus;
    for (const std::string& file : options.files) corpus.push_back(content(file));
    double slowest = 0;
    for (const std::string& text : corpus) {
        at_file = at_file + 1;
        slowest = std::max(slowest, read_timed(text));
    }
    at_file = -1;
    systole::fuzz::Mutator mutator(std::move(corpus), systole::fuzz::words(), kLargest);
    const double begin = cpu_seconds();
    std::uint64_t runs = 0;
    for (; runs < options.runs && cpu_seconds() - begin < options.seconds; ++runs) {
        at_seed = options.seed + runs;
        const std::string input = mutator.input(at_seed);
        if (!options.keep.empty()) std::ofstream(options.keep, std::ios::binary) << input;
        slowest = std::max(slowest, read_timed(input));
    }
    std::printf("%zu files, %llu inputs from seed %llu on; slowest %.3f s\n", options.files.size(),
                static_cast<unsigned long long>(runs), static_cast<unsigned long long>(options.seed),
                slowest);
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    catch_faults();
    try {
        const Options options = options_of(count, arguments);
        limit_memory();
        return fuzz(options);
    } catch (const std::exception& error) {
        // Not to stderr, which a target may have turned away.
        dprintf(STDERR_FILENO, "%s (file %d, --seed %llu --runs 1)\n", error.what(), int(at_file),
                static_cast<unsigned long long>(at_seed));
        return 1;
    }
}
