# SPDX-License-Identifier: Apache-2.0
# Every command of the README, of CONTRIBUTING and of docs/ is run, and what a page shows of its output compared. One test for each page.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

function(systole_documents name)
    add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} -B ${ARGN} WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR})
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "SYSTOLE=$<TARGET_FILE:systole>;SYSTOLE_HOME=${CMAKE_SOURCE_DIR}")
endfunction()

systole_documents(docs_checker -m unittest test_check_page)
# Pictures of the tutorial and the course are what the program draws.
systole_documents(docs_pictures ${CMAKE_SOURCE_DIR}/tools/docs_pictures --check)
file(GLOB_RECURSE pages CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/docs/*.md)
list(REMOVE_ITEM pages docs/journal.md docs/status.md)  # records, as in pages.py
foreach(page README.md CONTRIBUTING.md ${pages})
    file(READ ${CMAKE_SOURCE_DIR}/${page} head LIMIT 600)
    if(NOT head MATCHES "Written by `tools/")  # those have tests of their own
        string(REGEX REPLACE "(docs/|\\.md)" "" stem ${page})
        string(MAKE_C_IDENTIFIER ${stem} stem)
        systole_documents(docs_page_${stem} check_page.py ${page})
    endif()
endforeach()
