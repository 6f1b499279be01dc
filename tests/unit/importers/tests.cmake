# SPDX-License-Identifier: Apache-2.0
systole_test(importers SOURCES ${CMAKE_CURRENT_LIST_DIR}/huggingface_config_test.cpp ${CMAKE_CURRENT_LIST_DIR}/trace_writer_test.cpp
    ALONE ${CMAKE_CURRENT_LIST_DIR}/json_object_test.cpp ${CMAKE_CURRENT_LIST_DIR}/scalesim_topology_test.cpp ${CMAKE_CURRENT_LIST_DIR}/shipped_models_test.cpp
    DEPENDS systole_importers systole_workload)
