# SPDX-License-Identifier: Apache-2.0
systole_test(machines SOURCES ${CMAKE_CURRENT_LIST_DIR}/other_program.cpp ${CMAKE_CURRENT_LIST_DIR}/random_machines.cpp
                              ${CMAKE_CURRENT_LIST_DIR}/runs_of_folds.cpp
                              ${CMAKE_CURRENT_LIST_DIR}/turn_counts.cpp ${CMAKE_CURRENT_LIST_DIR}/turn_times.cpp
             DEPENDS systole_drawn)

# The mapper against every mapping (bench_mapper_quality), run from the project's folder.
add_executable(bench_mapper_quality ${CMAKE_CURRENT_LIST_DIR}/../../bench/mapper_quality.cpp)
target_link_libraries(bench_mapper_quality PRIVATE systole_systolic systole_workload systole_config)

systole_test(random_gpus SOURCES ${CMAKE_CURRENT_LIST_DIR}/random_gpus.cpp DEPENDS systole_drawn)
