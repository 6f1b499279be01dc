# SPDX-License-Identifier: Apache-2.0
systole_test(simt_kernels SOURCES ${CMAKE_CURRENT_LIST_DIR}/gemm_kernel_test.cpp DEPENDS systole_simt_kernels)
systole_test(simt_memory SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/fabric_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/l2_blocks_test.cpp
    DEPENDS systole_simt_memory)
