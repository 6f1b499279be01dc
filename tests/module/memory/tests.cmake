# SPDX-License-Identifier: Apache-2.0
systole_test(memory_module SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/dram.cpp
    DEPENDS systole_memory)
