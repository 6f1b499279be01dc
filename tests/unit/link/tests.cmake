# SPDX-License-Identifier: Apache-2.0
systole_test(link SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/chip_link.cpp
    ${CMAKE_CURRENT_LIST_DIR}/host_link.cpp
    ${CMAKE_CURRENT_LIST_DIR}/packet_link.cpp
    ${CMAKE_CURRENT_LIST_DIR}/pcie.cpp
    ALONE ${CMAKE_CURRENT_LIST_DIR}/host_link_config.cpp
    DEPENDS systole_link SLOW_TWIN)
