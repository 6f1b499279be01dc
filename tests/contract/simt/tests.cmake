# SPDX-License-Identifier: Apache-2.0
systole_test(simt_engines SOURCES ${CMAKE_CURRENT_LIST_DIR}/attention_steps_and_warps.cpp
                                  ${CMAKE_CURRENT_LIST_DIR}/conv_steps_and_warps.cpp
                                  ${CMAKE_CURRENT_LIST_DIR}/steps_and_warps.cpp
                                  ${CMAKE_CURRENT_LIST_DIR}/vector_steps_and_warps.cpp
             DEPENDS systole_simt systole_workload systole_account systole_config)
# Begun first, as app_presets.
set_tests_properties(simt_engines PROPERTIES COST 999)
