# SPDX-License-Identifier: Apache-2.0
systole_test(report
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/layer_limit_test.cpp ${CMAKE_CURRENT_LIST_DIR}/page_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/report_test.cpp ${CMAKE_CURRENT_LIST_DIR}/result_reader_test.cpp
    DEPENDS systole_report)
