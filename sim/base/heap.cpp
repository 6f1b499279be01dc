// SPDX-License-Identifier: Apache-2.0
#include "sim/base/heap.h"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>

namespace systole {
namespace {

constexpr int kMiB = 1 << 20;
/// glibc takes no larger threshold than this.
constexpr int kMostInHeap = 32 * kMiB;

bool limited() {
    rlimit data{};
    return ::getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY;
}

}  // namespace

void keep_free_memory() {
    const int most = limited() ? 8 * kMiB : 1024 * kMiB;
    ::mallopt(M_TRIM_THRESHOLD, most);
    // Larger blocks are the system's, not the heap's. Set, as glibc no longer adapts it once the other one
    // is.
    ::mallopt(M_MMAP_THRESHOLD, std::min(most, kMostInHeap));
    if (limited()) ::malloc_trim(0);
}

}  // namespace systole
