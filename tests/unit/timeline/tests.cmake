# SPDX-License-Identifier: Apache-2.0
systole_test(timeline
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/chrome_trace_test.cpp ${CMAKE_CURRENT_LIST_DIR}/counters_test.cpp ${CMAKE_CURRENT_LIST_DIR}/lanes_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/merge_spans_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/signal_filter_test.cpp ${CMAKE_CURRENT_LIST_DIR}/vcd_writer_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/wave_pictures_test.cpp ${CMAKE_CURRENT_LIST_DIR}/wave_recorder_test.cpp
    DEPENDS systole_timeline)
