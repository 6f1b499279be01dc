# SPDX-License-Identifier: Apache-2.0
# Apart, as they take minutes each; begun first, as app_presets.
foreach(kernels IN ITEMS attention conv gemm vector)
    systole_test(simt_engines_${kernels} SOURCES ${CMAKE_CURRENT_LIST_DIR}/${kernels}_steps_and_warps.cpp
                 DEPENDS systole_simt systole_workload systole_account systole_config)
    set_tests_properties(simt_engines_${kernels} PROPERTIES COST 999)
endforeach()
