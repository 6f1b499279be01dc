# SPDX-License-Identifier: Apache-2.0
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME check_layers COMMAND ${Python3_EXECUTABLE} -m unittest discover
         --start-directory ${CMAKE_CURRENT_LIST_DIR} WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR})
set_tests_properties(check_layers PROPERTIES LABELS lint ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
