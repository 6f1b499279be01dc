# SPDX-License-Identifier: Apache-2.0
systole_test(lowering
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/attention_test.cpp ${CMAKE_CURRENT_LIST_DIR}/buffer_ring_test.cpp ${CMAKE_CURRENT_LIST_DIR}/bus_spread_test.cpp ${CMAKE_CURRENT_LIST_DIR}/collective_test.cpp ${CMAKE_CURRENT_LIST_DIR}/conv3d_test.cpp ${CMAKE_CURRENT_LIST_DIR}/conv_transpose_test.cpp ${CMAKE_CURRENT_LIST_DIR}/fixtures.cpp
            ${CMAKE_CURRENT_LIST_DIR}/lowering_test.cpp ${CMAKE_CURRENT_LIST_DIR}/machines.cpp ${CMAKE_CURRENT_LIST_DIR}/mapping_test.cpp ${CMAKE_CURRENT_LIST_DIR}/movement_test.cpp ${CMAKE_CURRENT_LIST_DIR}/packed_weights_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/random_attention_test.cpp ${CMAKE_CURRENT_LIST_DIR}/random_graphs_test.cpp ${CMAKE_CURRENT_LIST_DIR}/random_layers.cpp ${CMAKE_CURRENT_LIST_DIR}/replay.cpp ${CMAKE_CURRENT_LIST_DIR}/replay_attention.cpp ${CMAKE_CURRENT_LIST_DIR}/replay_drain.cpp ${CMAKE_CURRENT_LIST_DIR}/replay_moves.cpp ${CMAKE_CURRENT_LIST_DIR}/replay_packed.cpp ${CMAKE_CURRENT_LIST_DIR}/replay_phases.cpp ${CMAKE_CURRENT_LIST_DIR}/replay_pass.cpp
            ${CMAKE_CURRENT_LIST_DIR}/repeated_test.cpp ${CMAKE_CURRENT_LIST_DIR}/resize_test.cpp ${CMAKE_CURRENT_LIST_DIR}/tiling_test.cpp ${CMAKE_CURRENT_LIST_DIR}/vector_rows_test.cpp ${CMAKE_CURRENT_LIST_DIR}/window_test.cpp
    DEPENDS systole_lowering systole_systolic_program)
