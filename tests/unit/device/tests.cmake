# SPDX-License-Identifier: Apache-2.0
systole_test(device SOURCES ${CMAKE_CURRENT_LIST_DIR}/equal_turns_test.cpp ${CMAKE_CURRENT_LIST_DIR}/growing_turns_test.cpp ${CMAKE_CURRENT_LIST_DIR}/reuse_test.cpp ${CMAKE_CURRENT_LIST_DIR}/reuse_sample_test.cpp
             ${CMAKE_CURRENT_LIST_DIR}/merged_parts_test.cpp
             ${CMAKE_CURRENT_LIST_DIR}/protocol_test.cpp ${CMAKE_CURRENT_LIST_DIR}/cost_config_test.cpp
             DEPENDS systole_device systole_workload systole_account)
