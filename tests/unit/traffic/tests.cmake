# SPDX-License-Identifier: Apache-2.0
systole_test(traffic SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/latency_log.cpp
    ${CMAKE_CURRENT_LIST_DIR}/pattern.cpp
    ${CMAKE_CURRENT_LIST_DIR}/stepped_driver.cpp
    ${CMAKE_CURRENT_LIST_DIR}/traffic_driver.cpp
    DEPENDS systole_traffic)
