# SPDX-License-Identifier: Apache-2.0
# Sweeps under Slurm, on a cluster that the tests start. They mostly wait: for the controller's beat of a second, and for
# nodes to be given up. Skipped where Slurm is not installed.
foreach(subject cluster sweep)
    add_test(NAME slurm_${subject} COMMAND ${Python3_EXECUTABLE} -B -m unittest test_${subject}
             WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR})
    set_tests_properties(slurm_${subject} PROPERTIES COST 60 TIMEOUT 400 ENVIRONMENT
        "SYSTOLE=$<TARGET_FILE:systole>;SYSTOLE_HOME=${CMAKE_SOURCE_DIR}")
endforeach()
