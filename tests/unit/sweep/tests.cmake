# SPDX-License-Identifier: Apache-2.0
systole_test(sweep
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/axis_test.cpp ${CMAKE_CURRENT_LIST_DIR}/digest_test.cpp ${CMAKE_CURRENT_LIST_DIR}/folder_test.cpp ${CMAKE_CURRENT_LIST_DIR}/local_runner_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/pareto_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/point_identity_test.cpp ${CMAKE_CURRENT_LIST_DIR}/range_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/sampling_test.cpp ${CMAKE_CURRENT_LIST_DIR}/sqlite_table_test.cpp
    ALONE ${CMAKE_CURRENT_LIST_DIR}/formula_test.cpp ${CMAKE_CURRENT_LIST_DIR}/plan_test.cpp ${CMAKE_CURRENT_LIST_DIR}/experiment_test.cpp ${CMAKE_CURRENT_LIST_DIR}/manifest_test.cpp ${CMAKE_CURRENT_LIST_DIR}/merge_test.cpp
    DEPENDS systole_sweep)
