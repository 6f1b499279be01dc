# SPDX-License-Identifier: Apache-2.0
systole_test(csv SOURCES ${CMAKE_CURRENT_LIST_DIR}/csv_test.cpp DEPENDS systole_base)
