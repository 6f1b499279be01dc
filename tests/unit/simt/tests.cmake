# SPDX-License-Identifier: Apache-2.0
systole_test(simt_groups SOURCES ${CMAKE_CURRENT_LIST_DIR}/gemm_blocks.cpp ${CMAKE_CURRENT_LIST_DIR}/groups.cpp
             DEPENDS systole_simt_chip)
systole_test(simt_spec SOURCES ${CMAKE_CURRENT_LIST_DIR}/presets_test.cpp
                               ${CMAKE_CURRENT_LIST_DIR}/simt_config_test.cpp
             DEPENDS systole_simt_spec)
systole_test(simt_sm
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/gemm_program_test.cpp ${CMAKE_CURRENT_LIST_DIR}/sm_test.cpp
    DEPENDS systole_simt_kernels)
