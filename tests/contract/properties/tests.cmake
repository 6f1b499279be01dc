# SPDX-License-Identifier: Apache-2.0
# Programs of their own, so that they run beside each other.
systole_test(properties SOURCES ${CMAKE_CURRENT_LIST_DIR}/conservation.cpp ${CMAKE_CURRENT_LIST_DIR}/engines.cpp
             ALONE ${CMAKE_CURRENT_LIST_DIR}/scaling.cpp ${CMAKE_SOURCE_DIR}/tests/support/outside_sums.cpp
             DEPENDS systole_drawn)
systole_test(monotonicity SOURCES ${CMAKE_CURRENT_LIST_DIR}/monotonicity.cpp DEPENDS systole_drawn)

# What a better machine loses at worst (bench_anomalies), run from the project's folder.
add_executable(bench_anomalies ${CMAKE_CURRENT_LIST_DIR}/../../bench/anomalies.cpp $<TARGET_OBJECTS:systole_sc_main>)
target_link_libraries(bench_anomalies PRIVATE systole_drawn)
