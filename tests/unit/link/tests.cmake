# SPDX-License-Identifier: Apache-2.0
systole_test(link SOURCES ${CMAKE_CURRENT_LIST_DIR}/host_link.cpp DEPENDS systole_link)
