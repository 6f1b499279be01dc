# SPDX-License-Identifier: Apache-2.0
systole_test(config
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/config_test.cpp ${CMAKE_CURRENT_LIST_DIR}/documents_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/effective_test.cpp ${CMAKE_CURRENT_LIST_DIR}/quantity_test.cpp ${CMAKE_CURRENT_LIST_DIR}/schema_test.cpp
            ${CMAKE_CURRENT_LIST_DIR}/yaml_test.cpp
    DEPENDS systole_config)
