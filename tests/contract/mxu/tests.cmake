# SPDX-License-Identifier: Apache-2.0
systole_test(contract_mxu SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/engines_agree.cpp
    ${CMAKE_CURRENT_LIST_DIR}/mxu_case.cpp
    ${CMAKE_CURRENT_LIST_DIR}/mxu_run.cpp
    ${CMAKE_CURRENT_LIST_DIR}/mxu_values.cpp
    DEPENDS systole_mxu SLOW_TWIN)

# Prints how fast the engines are (bench_mxu_speed); no test.
add_executable(bench_mxu_speed ${CMAKE_CURRENT_LIST_DIR}/../../bench/mxu_speed.cpp)
target_link_libraries(bench_mxu_speed PRIVATE systole_mxu)
