# SPDX-License-Identifier: Apache-2.0
# What tests/bench/performance.py preloads to count allocations.
add_library(bench_allocations SHARED EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/allocations.cpp)
target_link_libraries(bench_allocations PRIVATE systole_flags)
# All that performance.py runs beside the program.
add_custom_target(bench_performance DEPENDS systole bench_allocations bench_dram_speed)
