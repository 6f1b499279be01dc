# SPDX-License-Identifier: Apache-2.0
systole_test(report
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/page_test.cpp
    DEPENDS systole_report)
