# SPDX-License-Identifier: Apache-2.0
# What users get: the installed program and the Debian package, made of this build.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME release COMMAND ${Python3_EXECUTABLE} -B -m unittest discover
         --start-directory ${CMAKE_CURRENT_LIST_DIR} WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR})
set_tests_properties(release PROPERTIES ENVIRONMENT
    "SYSTOLE=$<TARGET_FILE:systole>;SYSTOLE_HOME=${CMAKE_SOURCE_DIR};SYSTOLE_BUILD=${CMAKE_BINARY_DIR};CMAKE=${CMAKE_COMMAND};CPACK=${CMAKE_CPACK_COMMAND}")
