# SPDX-License-Identifier: Apache-2.0
# The dataflow explorer's page in a real browser; skipped where there is none, or tools/web has no npm packages.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME explorer_page COMMAND ${Python3_EXECUTABLE} -B -m unittest test_explorer_page
         WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR})
set_tests_properties(explorer_page PROPERTIES ENVIRONMENT
    "SYSTOLE=$<TARGET_FILE:systole>;SYSTOLE_HOME=${CMAKE_SOURCE_DIR}")
