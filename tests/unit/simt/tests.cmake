# SPDX-License-Identifier: Apache-2.0
systole_test(simt_kernels SOURCES ${CMAKE_CURRENT_LIST_DIR}/attention_kernel_test.cpp
                                  ${CMAKE_CURRENT_LIST_DIR}/conv_gather_test.cpp
                                  ${CMAKE_CURRENT_LIST_DIR}/gemm_kernel_test.cpp
             DEPENDS systole_simt_kernels)
systole_test(simt_memory SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/dirty_pages_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/fabric_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/l2_blocks_test.cpp
    DEPENDS systole_simt_memory SLOW_TWIN)
systole_test(simt_tlb SOURCES ${CMAKE_CURRENT_LIST_DIR}/tlb_test.cpp DEPENDS systole_simt_memory systole_simt_spec systole_device)
systole_test(simt_groups SOURCES ${CMAKE_CURRENT_LIST_DIR}/activity_test.cpp ${CMAKE_CURRENT_LIST_DIR}/attention_blocks_test.cpp
                                 ${CMAKE_CURRENT_LIST_DIR}/cta_deal_test.cpp ${CMAKE_CURRENT_LIST_DIR}/cta_sample_test.cpp ${CMAKE_CURRENT_LIST_DIR}/cta_places_test.cpp
                                 ${CMAKE_CURRENT_LIST_DIR}/gathered_blocks_test.cpp ${CMAKE_CURRENT_LIST_DIR}/groups.cpp
                                 ${CMAKE_CURRENT_LIST_DIR}/held_clock_test.cpp
                                 ${CMAKE_CURRENT_LIST_DIR}/power_cap_test.cpp ${CMAKE_CURRENT_LIST_DIR}/qkv_blocks_test.cpp
                                 ${CMAKE_CURRENT_LIST_DIR}/row_blocks_test.cpp
                                 ${CMAKE_CURRENT_LIST_DIR}/sm_activity_test.cpp ${CMAKE_CURRENT_LIST_DIR}/sm_history_test.cpp
                                 ${CMAKE_CURRENT_LIST_DIR}/stream_k_test.cpp
                                 ${CMAKE_CURRENT_LIST_DIR}/window_blocks_test.cpp
    ALONE ${CMAKE_CURRENT_LIST_DIR}/kernel_in_warps_test.cpp ${CMAKE_CURRENT_LIST_DIR}/gemm_blocks.cpp ${CMAKE_CURRENT_LIST_DIR}/vector_blocks_test.cpp
    DEPENDS systole_simt_chip systole_simt_spec systole_device)
systole_test(simt_l2_sectors SOURCES ${CMAKE_CURRENT_LIST_DIR}/l2_sectors_test.cpp DEPENDS systole_simt_chip SLOW_TWIN)
systole_test(simt_spec SOURCES ${CMAKE_CURRENT_LIST_DIR}/presets_test.cpp
                               ${CMAKE_CURRENT_LIST_DIR}/simt_config_test.cpp ${CMAKE_CURRENT_LIST_DIR}/simt_energy_test.cpp
             DEPENDS systole_simt_spec systole_device)
systole_test(simt_sm
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/attention_program_test.cpp ${CMAKE_CURRENT_LIST_DIR}/gemm_program_test.cpp ${CMAKE_CURRENT_LIST_DIR}/gemv_program_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/l1_test.cpp ${CMAKE_CURRENT_LIST_DIR}/lookup_test.cpp ${CMAKE_CURRENT_LIST_DIR}/moves_test.cpp ${CMAKE_CURRENT_LIST_DIR}/row_kernels_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/sm_answers_test.cpp ${CMAKE_CURRENT_LIST_DIR}/sm_waves_test.cpp ${CMAKE_CURRENT_LIST_DIR}/stream_program_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/staged_program_test.cpp ${CMAKE_CURRENT_LIST_DIR}/tensor_time_test.cpp ${CMAKE_CURRENT_LIST_DIR}/thread_mma_program_test.cpp ${CMAKE_CURRENT_LIST_DIR}/turn_test.cpp ${CMAKE_CURRENT_LIST_DIR}/vector_program_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/wmma_program_test.cpp
    ALONE ${CMAKE_CURRENT_LIST_DIR}/sm_test.cpp ${CMAKE_CURRENT_LIST_DIR}/operand_map_test.cpp
    DEPENDS systole_simt_kernels)
systole_test(simt_collectives SOURCES ${CMAKE_CURRENT_LIST_DIR}/collective_cost_test.cpp
                                      ${CMAKE_CURRENT_LIST_DIR}/collectives_config_test.cpp
    ALONE ${CMAKE_CURRENT_LIST_DIR}/collective_run_test.cpp
    DEPENDS systole_simt_chip systole_simt_spec systole_device)
systole_test(simt_choose SOURCES ${CMAKE_CURRENT_LIST_DIR}/catalogue_test.cpp
                                 ${CMAKE_CURRENT_LIST_DIR}/steady_steps_test.cpp
                                 ${CMAKE_CURRENT_LIST_DIR}/tuned_sizes_test.cpp
                                 ${CMAKE_CURRENT_LIST_DIR}/conv_plan_test.cpp
                                 ${CMAKE_CURRENT_LIST_DIR}/experts_plan_test.cpp
                                 ${CMAKE_CURRENT_LIST_DIR}/top_k_plan_test.cpp
                                 ${CMAKE_CURRENT_LIST_DIR}/winograd_plan_test.cpp
    ALONE ${CMAKE_CURRENT_LIST_DIR}/choose_test.cpp
    DEPENDS systole_simt_chip systole_simt_spec systole_device systole_workload systole_config)

