# SPDX-License-Identifier: Apache-2.0
systole_test(machine
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/banks.cpp ${CMAKE_CURRENT_LIST_DIR}/machine.cpp
            ${CMAKE_CURRENT_LIST_DIR}/direct.cpp ${CMAKE_CURRENT_LIST_DIR}/matrix_account.cpp
            ${CMAKE_CURRENT_LIST_DIR}/mixed_dataflows.cpp ${CMAKE_CURRENT_LIST_DIR}/pending.cpp
            ${CMAKE_CURRENT_LIST_DIR}/training.cpp ${CMAKE_CURRENT_LIST_DIR}/unpacking.cpp
    ALONE ${CMAKE_CURRENT_LIST_DIR}/foreign_memory.cpp
    DEPENDS systole_systolic)
