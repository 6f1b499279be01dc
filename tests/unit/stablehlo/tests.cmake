# SPDX-License-Identifier: Apache-2.0
systole_test(stablehlo SOURCES ${CMAKE_CURRENT_LIST_DIR}/hlo_meanings_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/stablehlo_import_test.cpp
    ALONE ${CMAKE_CURRENT_LIST_DIR}/mlir_module_test.cpp
    DEPENDS systole_stablehlo systole_workload)
