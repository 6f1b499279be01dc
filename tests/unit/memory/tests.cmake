# SPDX-License-Identifier: Apache-2.0
systole_test(memory SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/address_map.cpp
    ${CMAKE_CURRENT_LIST_DIR}/alike_channels.cpp
    ${CMAKE_CURRENT_LIST_DIR}/channel_by_hand.cpp
    ${CMAKE_CURRENT_LIST_DIR}/channel_streams.cpp
    ${CMAKE_CURRENT_LIST_DIR}/constraint_table.cpp
    ${CMAKE_CURRENT_LIST_DIR}/dram_config.cpp
    ${CMAKE_CURRENT_LIST_DIR}/dram_energy.cpp
    ${CMAKE_CURRENT_LIST_DIR}/dram_progress.cpp
    ${CMAKE_CURRENT_LIST_DIR}/forward_progress.cpp
    ${CMAKE_CURRENT_LIST_DIR}/memory_presets.cpp
    ${CMAKE_CURRENT_LIST_DIR}/preset_times.cpp
    ${CMAKE_CURRENT_LIST_DIR}/random_channel.cpp
    ${CMAKE_CURRENT_LIST_DIR}/share_patterns.cpp
    ${CMAKE_CURRENT_LIST_DIR}/slow_channel.cpp
    ${CMAKE_CURRENT_LIST_DIR}/slow_channel_account.cpp
    ${CMAKE_CURRENT_LIST_DIR}/slow_channel_by_hand.cpp
    ${CMAKE_CURRENT_LIST_DIR}/slow_channel_judge.cpp
    ${CMAKE_CURRENT_LIST_DIR}/wishes.cpp
    ALONE ${CMAKE_CURRENT_LIST_DIR}/slow_channel_candidates.cpp ${CMAKE_CURRENT_LIST_DIR}/channel_twin.cpp ${CMAKE_CURRENT_LIST_DIR}/command_checker.cpp ${CMAKE_CURRENT_LIST_DIR}/channel_pages.cpp
    DEPENDS systole_memory SLOW_TWIN)

# Prints what a request costs (bench_dram_speed); no test.
add_executable(bench_dram_speed ${CMAKE_CURRENT_LIST_DIR}/../../bench/dram_speed.cpp)
target_link_libraries(bench_dram_speed PRIVATE systole_memory)

# Forward progress at length (bench_dram_progress), run from the project's folder.
add_executable(bench_dram_progress ${CMAKE_CURRENT_LIST_DIR}/../../bench/dram_progress.cpp
    ${CMAKE_CURRENT_LIST_DIR}/dram_progress.cpp ${CMAKE_CURRENT_LIST_DIR}/memory_presets.cpp $<TARGET_OBJECTS:systole_sc_main>)
target_link_libraries(bench_dram_progress PRIVATE systole_memory)
