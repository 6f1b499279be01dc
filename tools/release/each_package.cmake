# SPDX-License-Identifier: Apache-2.0
# Read by cpack before each package. Files in packages have the time of the commit, unless SOURCE_DATE_EPOCH says
# another (https://reproducible-builds.org/specs/source-date-epoch): the same sources make the same package.
cmake_minimum_required(VERSION 3.25)
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
    include(${CMAKE_CURRENT_LIST_DIR}/find_commit.cmake)
    systole_commit(commit epoch ${CPACK_SYSTOLE_SOURCE_DIR})
    if(NOT epoch STREQUAL "unknown")
        set(ENV{SOURCE_DATE_EPOCH} ${epoch})
    endif()
endif()
if(CPACK_GENERATOR STREQUAL "DEB")
    set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
endif()
