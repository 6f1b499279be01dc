# SPDX-License-Identifier: Apache-2.0
systole_test(machines SOURCES ${CMAKE_CURRENT_LIST_DIR}/random_machines.cpp ${CMAKE_CURRENT_LIST_DIR}/runs_of_folds.cpp
                              ${CMAKE_SOURCE_DIR}/tests/support/random_machine.cpp
             DEPENDS systole_systolic systole_workload systole_account systole_config)
