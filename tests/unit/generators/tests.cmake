# SPDX-License-Identifier: Apache-2.0
systole_test(generators SOURCES ${CMAKE_CURRENT_LIST_DIR}/llm_trace_test.cpp
    ALONE ${CMAKE_CURRENT_LIST_DIR}/llm_training_test.cpp
    DEPENDS systole_generators systole_workload)
