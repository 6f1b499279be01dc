# SPDX-License-Identifier: Apache-2.0
# systole_fuzz(NAME RUNS n CORPUS path ... DEPENDS lib ...): the target fuzz_NAME of tests/fuzz/NAME.cpp, which
# reads its corpus (paths from the top) and RUNS inputs made from it. With SYSTOLE_FUZZ (clang) it is one of
# libFuzzer instead, which tools/fuzz runs: fuzz_targets.txt has the name and the corpus of each.
set(fuzz_folder ${CMAKE_CURRENT_LIST_DIR})
set(fuzz_list ${CMAKE_CURRENT_BINARY_DIR}/fuzz_targets.txt)
file(WRITE ${fuzz_list} "")
if(SYSTOLE_FUZZ)
    add_library(systole_fuzz_driver OBJECT ${fuzz_folder}/libfuzzer.cpp)
else()
    add_library(systole_fuzz_driver OBJECT ${fuzz_folder}/main.cpp ${fuzz_folder}/mutator.cpp)
endif()
target_link_libraries(systole_fuzz_driver PRIVATE systole_flags)
function(systole_fuzz name)
    cmake_parse_arguments(ARG "" "RUNS" "CORPUS;DEPENDS" ${ARGN})
    add_executable(fuzz_${name} ${fuzz_folder}/${name}.cpp $<TARGET_OBJECTS:systole_fuzz_driver> $<TARGET_OBJECTS:systole_sc_main>)
    target_link_libraries(fuzz_${name} PRIVATE systole_flags systole_test_link ${ARG_DEPENDS})
    if(NOT SYSTOLE_FUZZ)
        target_compile_options(fuzz_${name} PRIVATE ${test_options})
        systole_take_test_headers(fuzz_${name})
    endif()
    if(SYSTOLE_FUZZ)
        target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
        list(JOIN ARG_CORPUS " " corpus)
        file(APPEND ${fuzz_list} "${name} ${corpus}\n")
    else()
        add_test(NAME fuzz_${name} COMMAND fuzz_${name} --runs ${ARG_RUNS} ${ARG_CORPUS}
                 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    endif()
endfunction()

systole_fuzz(trace RUNS 2000 CORPUS traces/teaching/three_layers.yaml traces/rec traces/llm traces/cnn/unet.yaml
             traces/cnn/mobilenet_v2.yaml tests/fuzz/corpus/trace DEPENDS systole_workload)
systole_fuzz(topology RUNS 5000 CORPUS tests/fuzz/corpus/topology DEPENDS systole_importers)
systole_fuzz(huggingface RUNS 2000 CORPUS tests/fuzz/corpus/huggingface DEPENDS systole_importers)
systole_fuzz(stablehlo RUNS 5000 CORPUS tests/fuzz/corpus/stablehlo DEPENDS systole_stablehlo systole_importers)
if(SYSTOLE_READS_ONNX)
    systole_fuzz(onnx RUNS 1000 CORPUS tests/fuzz/corpus/onnx DEPENDS systole_onnx systole_importers)
endif()
systole_fuzz(llm RUNS 2000 CORPUS tests/fuzz/corpus/llm DEPENDS systole_generators systole_importers)
systole_fuzz(expression RUNS 10000 CORPUS tests/fuzz/corpus/expression DEPENDS systole_sweep)
systole_fuzz(program RUNS 1000 CORPUS tests/fuzz/corpus/program DEPENDS systole_systolic)
systole_fuzz(mapping RUNS 500 CORPUS tests/fuzz/corpus/mapping DEPENDS systole_systolic systole_workload)
systole_fuzz(memory RUNS 1000 CORPUS configs/memory tests/fuzz/corpus/memory DEPENDS systole_traffic)
systole_fuzz(requests RUNS 2000 CORPUS tests/fuzz/corpus/requests DEPENDS systole_traffic)
systole_fuzz(energy_cost RUNS 1000 CORPUS configs/energy configs/cost tests/fuzz/corpus/energy_cost
             DEPENDS systole_systolic systole_workload)
systole_fuzz(device RUNS 300 CORPUS configs/devices/teaching_4x4.yaml configs/devices/tpu_v1.yaml
             configs/devices/tpu_v4.yaml configs/devices/tpu_v7.yaml DEPENDS systole_systolic systole_workload)
systole_fuzz(gpu RUNS 300 CORPUS configs/devices/a100.yaml configs/devices/h100.yaml tests/fuzz/corpus/gpu
             DEPENDS systole_simt systole_workload)
systole_fuzz(experiment RUNS 3000 CORPUS configs/experiments tests/fuzz/corpus/experiment DEPENDS systole_sweep)
systole_fuzz(sweep_folder RUNS 1000 CORPUS tests/fuzz/corpus/sweep_folder DEPENDS systole_sweep)
systole_fuzz(result RUNS 2000 CORPUS tests/fuzz/corpus/result DEPENDS systole_report)

# What has its reader in the program itself, and the program's commands.
systole_fuzz(op_table RUNS 100 CORPUS tests/fuzz/corpus/op_table traces/teaching/shapes.csv DEPENDS systole_app)
systole_fuzz(settings RUNS 300 CORPUS tests/fuzz/corpus/settings DEPENDS systole_app)
systole_fuzz(lesson RUNS 200 CORPUS configs/lessons tests/fuzz/corpus/lesson DEPENDS systole_app)
systole_fuzz(command RUNS 500 CORPUS tests/fuzz/corpus/command DEPENDS systole_app)

# The simulator itself, on machines and networks that bytes choose.
add_library(systole_fuzz_random STATIC ${fuzz_folder}/random_run.cpp)
target_link_libraries(systole_fuzz_random PUBLIC systole_drawn)
systole_fuzz(machine RUNS 200 CORPUS tests/fuzz/corpus/machine DEPENDS systole_fuzz_random)
systole_fuzz(gpu_machine RUNS 100 CORPUS tests/fuzz/corpus/machine DEPENDS systole_fuzz_random)
