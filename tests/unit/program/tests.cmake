# SPDX-License-Identifier: Apache-2.0
systole_test(program SOURCES ${CMAKE_CURRENT_LIST_DIR}/program_cores.cpp ${CMAKE_CURRENT_LIST_DIR}/program_text.cpp ${CMAKE_CURRENT_LIST_DIR}/repeated_steps.cpp DEPENDS systole_systolic)
