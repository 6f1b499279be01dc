# SPDX-License-Identifier: Apache-2.0
# `cpack` in the build folder makes systole_VERSION_ARCH.deb and systole-VERSION-linux-ARCH.tar.gz of what install.cmake
# installs; the target `source_archive` makes systole-VERSION.tar.gz of the commit that is checked out.
set(SYSTOLE_MAINTAINER "Systole maintainers <maintainers@systole.invalid>" CACHE STRING "The Maintainer line of the Debian package")

set(CPACK_PACKAGE_NAME systole)
set(CPACK_PACKAGE_VENDOR Systole)
set(CPACK_PACKAGE_CONTACT ${SYSTOLE_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "cycle-level simulator of systolic arrays and SIMT GPUs")
set(CPACK_PACKAGE_DESCRIPTION "Systole runs networks and language models on models of systolic-array
accelerators (in the style of the TPU) and of SIMT GPUs, cycle by cycle, and
tells where each cycle and each byte went. Both kinds of machine keep the same
accounts, so that they can be compared. It comes with descriptions of devices,
memories and networks, sweeps whole design spaces, writes waveforms for
GTKWave, and draws reports and an explorer of arrays at work for a browser.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gtkwave, slurm-client")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

# What depends on the kind of package, and the time that its files have.
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/tools/release/each_package.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/tools/release/finish_package.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/tools/release/sort_archive.cmake)
set(CPACK_SYSTOLE_SOURCE_DIR ${CMAKE_SOURCE_DIR})
string(TOLOWER ${CMAKE_SYSTEM_NAME} system)
set(CPACK_SYSTEM_NAME ${system}-${CMAKE_SYSTEM_PROCESSOR})
include(CPack)

# gzip -n: no name and no time, so that a commit has one archive.
add_custom_target(source_archive
    COMMAND git archive --format=tar --prefix=systole-${PROJECT_VERSION}/ HEAD | gzip -9n > ${CMAKE_BINARY_DIR}/systole-${PROJECT_VERSION}.tar.gz
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} COMMENT "Writing systole-${PROJECT_VERSION}.tar.gz")
