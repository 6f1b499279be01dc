// SPDX-License-Identifier: Apache-2.0
// Memory that ends within a kernel's life. Each case is a process of its own, for the limit stays with it.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "sim/base/sanitized.h"
#include "sim/kernel/kernel.h"

namespace systole {
namespace {

constexpr std::size_t kMiB = 1 << 20;

/// The process may have no more data than it has.
void end_memory_here() {
    std::ifstream status("/proc/self/status");
    std::string word;
    rlim_t kilobytes = 0;
    while (status >> word)
        if (word == "VmData:") status >> kilobytes;
    rlimit data{};
    ::getrlimit(RLIMIT_DATA, &data);
    data.rlim_cur = kilobytes * 1024;
    ::setrlimit(RLIMIT_DATA, &data);
}

/// A process that asks for more memory than there is, as ours do: a method.
class Asks : public sc_core::sc_module {
public:
    explicit Asks(sc_core::sc_module_name name) : sc_module(name) {
        SC_HAS_PROCESS(Asks);
        SC_METHOD(ask);
    }

private:
    void ask() {
        end_memory_here();
        asked_.resize(64 * kMiB);
    }

    std::vector<char> asked_;
};

/// A process with a stack, which waits forever.
class Waits : public sc_core::sc_module {
public:
    explicit Waits(sc_core::sc_module_name name) : sc_module(name) {
        SC_HAS_PROCESS(Waits);
        SC_THREAD(go);
    }

private:
    void go() { wait(forever_); }

    sc_core::sc_event forever_{"forever"};
};

std::vector<std::unique_ptr<Waits>> waiting(int processes) {
    std::vector<std::unique_ptr<Waits>> all;
    for (int i = 0; i < processes; ++i)
        all.push_back(std::make_unique<Waits>(sc_core::sc_gen_unique_name("waits")));
    return all;
}

/// How a process ends that does this: its exit code, or a signal's number with a minus.
template <class Work>
int end_of(const Work& work) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(work());
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// 2 where a run says that memory has ended.
int run() {
    try {
        run_to_the_end();
        return 0;
    } catch (const std::bad_alloc&) {
        return 2;
    }
}

}  // namespace

TEST_CASE("memory that ends within a process is told as such") {
    if (kAddressSanitizer) return;  // which has a heap of its own
    CHECK(end_of([] {
              const FreshKernel kernel;
              const Asks asks("asks");
              return run();
          }) == 2);
}

TEST_CASE("a process for whose stack there is no memory is told as such") {
    if (kAddressSanitizer) return;
    CHECK(end_of([] {
              const FreshKernel kernel;
              const auto processes = waiting(200);
              end_memory_here();
              return run();
          }) == 2);
}

TEST_CASE("a kernel is taken down where memory has ended") {
    if (kAddressSanitizer) return;
    CHECK(end_of([] {
              const FreshKernel kernel;
              const auto processes = waiting(100);
              const int ended = run();
              end_memory_here();
              return ended;
          }) == 0);
}

}  // namespace systole
