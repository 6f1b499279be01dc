// SPDX-License-Identifier: Apache-2.0
#include "sim/base/heap.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <optional>

#include "sim/base/sanitized.h"

namespace systole {
namespace {

constexpr int kMiB = 1 << 20;

/// Of this process, in memory.
long pages() {
    long all = 0, there = 0;
    std::ifstream("/proc/self/statm") >> all >> there;
    return there;
}

/// MiB that are still with a process of its own when it has used `mib` of them and is done; `limit`: MiB of
/// data that it may have.
int kept_of(int mib, std::optional<int> limit) {
    const pid_t child = ::fork();
    if (child == 0) {
        const rlim_t most = limit ? static_cast<rlim_t>(*limit) * kMiB : RLIM_INFINITY;
        const rlimit data{most, RLIM_INFINITY};
        if (::setrlimit(RLIMIT_DATA, &data) != 0) ::_exit(255);
        keep_free_memory();
        const long before = pages();
        {
            const auto used = std::make_unique<char[]>(static_cast<std::size_t>(mib) * kMiB);
            volatile char* const seen = used.get();
            seen[0] = 1;
        }
        ::_exit(static_cast<int>((pages() - before) * ::sysconf(_SC_PAGESIZE) / kMiB));
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("free memory stays with the program, but where its data have a limit") {
    if (kAddressSanitizer) return;  // which has a heap of its own
    CHECK(kept_of(24, std::nullopt) >= 23);
    CHECK(kept_of(24, 512) <= 1);
    CHECK(kept_of(4, 512) >= 3);
}

}  // namespace systole
