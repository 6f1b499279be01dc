# SPDX-License-Identifier: Apache-2.0
systole_test(network SOURCES ${CMAKE_CURRENT_LIST_DIR}/arrangement_test.cpp ${CMAKE_CURRENT_LIST_DIR}/products_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/feature_maps_test.cpp ${CMAKE_CURRENT_LIST_DIR}/vectors_test.cpp ${CMAKE_CURRENT_LIST_DIR}/recognize_test.cpp ${CMAKE_CURRENT_LIST_DIR}/recurrent_test.cpp
    DEPENDS systole_network systole_importers systole_workload)
