# SPDX-License-Identifier: Apache-2.0
systole_test(training
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/differences.cpp ${CMAKE_CURRENT_LIST_DIR}/experts_difference_test.cpp ${CMAKE_CURRENT_LIST_DIR}/interpreter.cpp
            ${CMAKE_CURRENT_LIST_DIR}/training_refusal_test.cpp ${CMAKE_CURRENT_LIST_DIR}/training_step_test.cpp
    ALONE ${CMAKE_CURRENT_LIST_DIR}/finite_difference_test.cpp
    DEPENDS systole_workload SLOW_TWIN)
