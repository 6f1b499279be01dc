# SPDX-License-Identifier: Apache-2.0
# Pages in a real browser; skipped where there is none, or tools/web has no npm packages.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
foreach(subject Pages.test_report Pages.test_report_of_files Pages.test_report_of_a_sweep Pages.test_explorer Bundles)
    string(REGEX REPLACE "Pages.test_" "" name ${subject})
    string(TOLOWER ${name} name)
    add_test(NAME web_${name} COMMAND ${Python3_EXECUTABLE} -B -m unittest test_pages.${subject}
             WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR})
    set_tests_properties(web_${name} PROPERTIES ENVIRONMENT
        "SYSTOLE=$<TARGET_FILE:systole>;SYSTOLE_HOME=${CMAKE_SOURCE_DIR}")
endforeach()
