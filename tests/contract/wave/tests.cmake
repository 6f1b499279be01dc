# SPDX-License-Identifier: Apache-2.0
systole_test(wave SOURCES ${CMAKE_CURRENT_LIST_DIR}/probed_machines.cpp ${CMAKE_CURRENT_LIST_DIR}/array_by_hand.cpp
             DEPENDS systole_drawn SLOW_TWIN)
