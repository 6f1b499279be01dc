# SPDX-License-Identifier: Apache-2.0
systole_test(base
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/clock_test.cpp ${CMAKE_CURRENT_LIST_DIR}/error_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/expression_test.cpp ${CMAKE_CURRENT_LIST_DIR}/heap_test.cpp ${CMAKE_CURRENT_LIST_DIR}/mistakes_test.cpp ${CMAKE_CURRENT_LIST_DIR}/numbers_test.cpp ${CMAKE_CURRENT_LIST_DIR}/schema_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/text_test.cpp ${CMAKE_CURRENT_LIST_DIR}/text_style_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/text_table_test.cpp ${CMAKE_CURRENT_LIST_DIR}/utf8_test.cpp
    DEPENDS systole_base)
