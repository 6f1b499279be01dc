# SPDX-License-Identifier: Apache-2.0
systole_test(wave SOURCES ${CMAKE_CURRENT_LIST_DIR}/probed_machines.cpp ${CMAKE_CURRENT_LIST_DIR}/array_by_hand.cpp
                          ${CMAKE_SOURCE_DIR}/tests/support/random_machine.cpp
             DEPENDS systole_systolic systole_workload systole_account systole_config)
