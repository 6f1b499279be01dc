# SPDX-License-Identifier: Apache-2.0
systole_test(explain
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/array_time_test.cpp ${CMAKE_CURRENT_LIST_DIR}/array_work_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/drawing_test.cpp ${CMAKE_CURRENT_LIST_DIR}/device_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/explanation_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/random_array.cpp ${CMAKE_CURRENT_LIST_DIR}/sum.cpp
    DEPENDS systole_explain)
