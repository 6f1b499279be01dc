# SPDX-License-Identifier: Apache-2.0
systole_test(dma_engine SOURCES ${CMAKE_CURRENT_LIST_DIR}/dma_engine.cpp DEPENDS systole_link)
