# SPDX-License-Identifier: Apache-2.0
# The program as a process: its exit codes, messages, files. Standard library of Python only.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

foreach(subject command_line compare claims cost determinism energy trace_llm bad_input refused_inputs output_places outputs_leave results timeline op_table operators explain explore lessons mapping dataflows trials import stablehlo onnx cores presets reuse scalesim schemas simt simt_attention simt_collectives simt_copies simt_formats simt_measured simt_networks simt_power simt_sweep simt_vector sweep sweep_bad_input sweep_failures sweep_going_on sweep_slurm terminal wave dram dram_golden onnxim tpu_measured tpu_v1 report reference)
    add_test(NAME app_${subject} COMMAND ${Python3_EXECUTABLE} -B -m unittest test_${subject}
             WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR})
    set_tests_properties(app_${subject} PROPERTIES ENVIRONMENT
        "SYSTOLE=$<TARGET_FILE:systole>;SYSTOLE_HOME=${CMAKE_SOURCE_DIR}")
endforeach()
# Begun first, so that nothing waits for it alone in the end.
set_tests_properties(app_presets PROPERTIES COST 1000)
