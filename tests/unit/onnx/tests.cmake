# SPDX-License-Identifier: Apache-2.0
set(sources ${CMAKE_CURRENT_LIST_DIR}/onnx_files_test.cpp)
if(SYSTOLE_READS_ONNX)
    list(APPEND sources ${CMAKE_CURRENT_LIST_DIR}/operators_test.cpp ${CMAKE_CURRENT_LIST_DIR}/wire_scan_test.cpp
                        ${CMAKE_CURRENT_LIST_DIR}/meanings_test.cpp ${CMAKE_CURRENT_LIST_DIR}/windows_test.cpp)
endif()
systole_test(onnx SOURCES ${sources} DEPENDS systole_onnx systole_network systole_importers systole_workload)
if(SYSTOLE_READS_ONNX)
    target_compile_definitions(test_onnx PRIVATE ONNX_NAMESPACE=onnx ONNX_ML=1)
    target_include_directories(test_onnx SYSTEM PRIVATE ${ONNX_INCLUDE} ${Protobuf_INCLUDE_DIRS})
    target_link_libraries(test_onnx PRIVATE ${ONNX_LIBRARY} ${ONNX_PROTO_LIBRARY} ${Protobuf_LIBRARIES})
endif()
