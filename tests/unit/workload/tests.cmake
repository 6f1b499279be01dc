# SPDX-License-Identifier: Apache-2.0
systole_test(workload
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/allocation_test.cpp ${CMAKE_CURRENT_LIST_DIR}/attention_test.cpp ${CMAKE_CURRENT_LIST_DIR}/broadcast_test.cpp ${CMAKE_CURRENT_LIST_DIR}/collective_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/dtype_test.cpp ${CMAKE_CURRENT_LIST_DIR}/elementwise_chains_test.cpp ${CMAKE_CURRENT_LIST_DIR}/experts_test.cpp ${CMAKE_CURRENT_LIST_DIR}/fused_graph_test.cpp ${CMAKE_CURRENT_LIST_DIR}/mistakes_test.cpp ${CMAKE_CURRENT_LIST_DIR}/shapes_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/residency_test.cpp ${CMAKE_CURRENT_LIST_DIR}/serving_test.cpp ${CMAKE_CURRENT_LIST_DIR}/shipped_traces_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/shorter_graph_test.cpp ${CMAKE_CURRENT_LIST_DIR}/single_operator_test.cpp ${CMAKE_CURRENT_LIST_DIR}/sliced_graph_test.cpp ${CMAKE_CURRENT_LIST_DIR}/structure_test.cpp ${CMAKE_CURRENT_LIST_DIR}/tpu_v1_traces_test.cpp ${CMAKE_CURRENT_LIST_DIR}/vector_ops_test.cpp
    ALONE ${CMAKE_CURRENT_LIST_DIR}/weight_format_test.cpp ${CMAKE_CURRENT_LIST_DIR}/conv3d_test.cpp ${CMAKE_CURRENT_LIST_DIR}/transposed_operands_test.cpp ${CMAKE_CURRENT_LIST_DIR}/movement_test.cpp ${CMAKE_CURRENT_LIST_DIR}/conv_transpose_test.cpp
    DEPENDS systole_workload)
