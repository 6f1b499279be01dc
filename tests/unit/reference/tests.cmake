# SPDX-License-Identifier: Apache-2.0
systole_test(reference
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/catalogue_test.cpp ${CMAKE_CURRENT_LIST_DIR}/operators_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/pages_test.cpp
    DEPENDS systole_reference)
