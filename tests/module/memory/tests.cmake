# SPDX-License-Identifier: Apache-2.0
systole_test(memory_module SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/dram.cpp
    ALONE ${CMAKE_CURRENT_LIST_DIR}/splitter.cpp
    DEPENDS systole_memory)
# Prints what a TLM chunk costs (bench_tlm_chunk); no test.
add_executable(bench_tlm_chunk ${CMAKE_CURRENT_LIST_DIR}/../../bench/tlm_chunk.cpp)
target_link_libraries(bench_tlm_chunk PRIVATE systole_memory)
