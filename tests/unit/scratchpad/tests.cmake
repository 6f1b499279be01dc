# SPDX-License-Identifier: Apache-2.0
systole_test(scratchpad SOURCES ${CMAKE_CURRENT_LIST_DIR}/banks.cpp ${CMAKE_CURRENT_LIST_DIR}/scratchpad.cpp ${CMAKE_CURRENT_LIST_DIR}/turns.cpp
    ALONE ${CMAKE_CURRENT_LIST_DIR}/whole_accesses.cpp
    DEPENDS systole_memory SLOW_TWIN)
