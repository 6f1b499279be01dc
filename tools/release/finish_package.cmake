# SPDX-License-Identifier: Apache-2.0
# Run by cpack over what it installed, before it packs it. Debian's packages name the licence in `copyright` and have
# no text of it beside that, and tell their changes in a file of a form of its own.
cmake_minimum_required(VERSION 3.25)
if(NOT CPACK_GENERATOR STREQUAL "DEB")
    return()
endif()
file(GLOB documents LIST_DIRECTORIES true ${CPACK_TEMPORARY_DIRECTORY}/usr/share/doc/systole)
file(REMOVE ${documents}/LICENSE)
set(when "Thu, 01 Jan 1970 00:00:00 +0000")
if(DEFINED ENV{SOURCE_DATE_EPOCH})
    string(TIMESTAMP when "%a, %d %b %Y %H:%M:%S +0000" UTC)
endif()
file(WRITE ${documents}/changelog "systole (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * What changed is told in CHANGELOG.md beside this file.

 -- ${CPACK_PACKAGE_CONTACT}  ${when}
")
execute_process(COMMAND gzip -9n ${documents}/changelog COMMAND_ERROR_IS_FATAL ANY)
