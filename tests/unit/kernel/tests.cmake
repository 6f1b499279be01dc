# SPDX-License-Identifier: Apache-2.0
systole_test(kernel SOURCES ${CMAKE_CURRENT_LIST_DIR}/memory_test.cpp DEPENDS systole_kernel)
