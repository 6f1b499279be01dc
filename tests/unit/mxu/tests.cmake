# SPDX-License-Identifier: Apache-2.0
systole_test(mxu SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/drawing.cpp
    ${CMAKE_CURRENT_LIST_DIR}/hand_calculated.cpp
    ${CMAKE_CURRENT_LIST_DIR}/os_drawn.cpp
    ${CMAKE_CURRENT_LIST_DIR}/pass_times.cpp
    ${CMAKE_CURRENT_LIST_DIR}/parts.cpp
    ${CMAKE_CURRENT_LIST_DIR}/port_schedule.cpp
    ${CMAKE_CURRENT_LIST_DIR}/shift_parts.cpp
    ALONE ${CMAKE_CURRENT_LIST_DIR}/os_pass_times.cpp ${CMAKE_CURRENT_LIST_DIR}/reconfigurable.cpp
    DEPENDS systole_mxu SLOW_TWIN)
