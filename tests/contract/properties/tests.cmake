# SPDX-License-Identifier: Apache-2.0
# Programs of their own, so that they run beside each other.
set(drawn ${CMAKE_SOURCE_DIR}/tests/support/random_case.cpp ${CMAKE_SOURCE_DIR}/tests/support/random_gpu.cpp
          ${CMAKE_SOURCE_DIR}/tests/support/random_machine.cpp)
set(simulator systole_systolic systole_simt systole_workload systole_account systole_config)

systole_test(properties SOURCES ${CMAKE_CURRENT_LIST_DIR}/conservation.cpp ${CMAKE_CURRENT_LIST_DIR}/engines.cpp
                                ${CMAKE_CURRENT_LIST_DIR}/scaling.cpp ${CMAKE_SOURCE_DIR}/tests/support/outside_sums.cpp
                                ${drawn}
             DEPENDS ${simulator})
systole_test(monotonicity SOURCES ${CMAKE_CURRENT_LIST_DIR}/monotonicity.cpp ${CMAKE_SOURCE_DIR}/tests/support/knobs.cpp
                                  ${drawn}
             DEPENDS ${simulator})

# What a better machine loses at worst (bench_anomalies), run from the project's folder.
add_executable(bench_anomalies ${CMAKE_CURRENT_LIST_DIR}/../../bench/anomalies.cpp
               ${CMAKE_SOURCE_DIR}/tests/support/knobs.cpp ${drawn} $<TARGET_OBJECTS:systole_sc_main>)
target_link_libraries(bench_anomalies PRIVATE systole_flags ${simulator})
