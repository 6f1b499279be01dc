# SPDX-License-Identifier: Apache-2.0
systole_test(mapping_trials SOURCES ${CMAKE_CURRENT_LIST_DIR}/mapping_trials_test.cpp
             DEPENDS systole_systolic systole_workload)
systole_test(systolic_energy SOURCES ${CMAKE_CURRENT_LIST_DIR}/systolic_energy_test.cpp
             DEPENDS systole_systolic systole_device)
systole_test(edge_ports SOURCES ${CMAKE_CURRENT_LIST_DIR}/edge_ports_test.cpp DEPENDS systole_systolic)
