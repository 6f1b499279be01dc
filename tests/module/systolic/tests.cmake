# SPDX-License-Identifier: Apache-2.0
systole_test(machine SOURCES ${CMAKE_CURRENT_LIST_DIR}/machine.cpp DEPENDS systole_systolic)
