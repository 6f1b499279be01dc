# SPDX-License-Identifier: Apache-2.0
systole_test(simt_groups SOURCES ${CMAKE_CURRENT_LIST_DIR}/gemm_blocks.cpp ${CMAKE_CURRENT_LIST_DIR}/groups.cpp
             DEPENDS systole_simt_chip)
