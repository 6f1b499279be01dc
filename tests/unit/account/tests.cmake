# SPDX-License-Identifier: Apache-2.0
systole_test(account
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/slot_account_test.cpp ${CMAKE_CURRENT_LIST_DIR}/causal_log_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/byte_ledger_test.cpp ${CMAKE_CURRENT_LIST_DIR}/run_result_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/device_energy_test.cpp ${CMAKE_CURRENT_LIST_DIR}/energy_ledger_test.cpp ${CMAKE_CURRENT_LIST_DIR}/roofline_test.cpp ${CMAKE_CURRENT_LIST_DIR}/invariants_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/refresh_window_test.cpp ${CMAKE_CURRENT_LIST_DIR}/repeated_turn_test.cpp ${CMAKE_CURRENT_LIST_DIR}/turn_agreement_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/writers_test.cpp ${CMAKE_CURRENT_LIST_DIR}/output_files_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/sample_result.cpp ${CMAKE_CURRENT_LIST_DIR}/comparison_test.cpp ${CMAKE_CURRENT_LIST_DIR}/cost_test.cpp ${CMAKE_CURRENT_LIST_DIR}/result_style_test.cpp
    DEPENDS systole_account)
