# SPDX-License-Identifier: Apache-2.0
systole_test(explore SOURCES ${CMAKE_CURRENT_LIST_DIR}/array_recorder_test.cpp ${CMAKE_CURRENT_LIST_DIR}/unit_finder_test.cpp
                             ${CMAKE_CURRENT_LIST_DIR}/warp_tile_test.cpp ${CMAKE_CURRENT_LIST_DIR}/explore_json_test.cpp
                             ${CMAKE_SOURCE_DIR}/sim/app/explore_json.cpp
             DEPENDS systole_systolic systole_simt_kernels systole_timeline nlohmann_json::nlohmann_json)
