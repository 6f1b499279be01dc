// SPDX-License-Identifier: Apache-2.0
// Counts what a program asks of malloc, calloc and realloc, operator new included: a library to be preloaded.
// The count is a number in the file that SYSTOLE_ALLOCATIONS names (eight bytes at least, mapped), so that it
// is there however the program ends, children that it forks included. GNU libc only: it hands on to the names
// under which that library keeps its own.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
}

namespace {

using Counter = std::atomic<std::uint64_t>;

Counter before_it_is_mapped;
Counter* counter = &before_it_is_mapped;

void count() {
    counter->fetch_add(1, std::memory_order_relaxed);
}

[[gnu::constructor]] void map_counter() {
    const char* const path = std::getenv("SYSTOLE_ALLOCATIONS");
    const int file = path ? open(path, O_RDWR) : -1;
    if (file < 0) return;
    void* const place = mmap(nullptr, sizeof(Counter), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (place == MAP_FAILED) return;
    counter = static_cast<Counter*>(place);
    counter->fetch_add(before_it_is_mapped, std::memory_order_relaxed);
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) {
    count();
    return __libc_malloc(bytes);
}

void* calloc(std::size_t number, std::size_t bytes) {
    count();
    return __libc_calloc(number, bytes);
}

void* realloc(void* old, std::size_t bytes) {
    count();
    return __libc_realloc(old, bytes);
}
}
