# SPDX-License-Identifier: Apache-2.0
systole_test(simt_kernels SOURCES ${CMAKE_CURRENT_LIST_DIR}/gemm_kernel_test.cpp DEPENDS systole_simt_kernels)
