# SPDX-License-Identifier: Apache-2.0
systole_test(simt_l2_module SOURCES ${CMAKE_CURRENT_LIST_DIR}/l2.cpp
    ALONE ${CMAKE_CURRENT_LIST_DIR}/mmu.cpp
    DEPENDS systole_simt_l2)
systole_test(simt_caches SOURCES ${CMAKE_CURRENT_LIST_DIR}/caches.cpp DEPENDS systole_simt_l2)
systole_test(simt_few_ctas SOURCES ${CMAKE_CURRENT_LIST_DIR}/few_ctas.cpp DEPENDS systole_simt systole_workload systole_config)
systole_test(simt_microbench SOURCES ${CMAKE_CURRENT_LIST_DIR}/microbench.cpp ${CMAKE_CURRENT_LIST_DIR}/other_plan.cpp
             DEPENDS systole_simt_chip systole_simt_spec)
