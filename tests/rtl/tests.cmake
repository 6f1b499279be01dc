# SPDX-License-Identifier: Apache-2.0
# The PE grid against arrays in Verilog. The test needs Icarus Verilog and is skipped without it.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

add_executable(rtl_cases ${CMAKE_CURRENT_LIST_DIR}/rtl_cases.cpp ${CMAKE_CURRENT_LIST_DIR}/rtl_case.cpp
               ${CMAKE_CURRENT_LIST_DIR}/grid_observer.cpp)
target_link_libraries(rtl_cases PRIVATE systole_flags systole_mxu)

add_test(NAME rtl COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/compare.py
         $<TARGET_FILE:rtl_cases>)
set_tests_properties(rtl PROPERTIES SKIP_RETURN_CODE 77)
