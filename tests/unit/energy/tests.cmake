# SPDX-License-Identifier: Apache-2.0
systole_test(energy SOURCES ${CMAKE_CURRENT_LIST_DIR}/energy_table_test.cpp ${CMAKE_CURRENT_LIST_DIR}/shipped_tables_test.cpp
             DEPENDS systole_energy)
