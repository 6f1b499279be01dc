# SPDX-License-Identifier: Apache-2.0
systole_test(memory_module SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/dram.cpp
    ${CMAKE_CURRENT_LIST_DIR}/splitter.cpp
    DEPENDS systole_memory)
