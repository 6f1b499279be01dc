# SPDX-License-Identifier: Apache-2.0
# Where `cmake --install` puts what a user has: the program, what it reads, and what people read.
# sim/app/CMakeLists.txt tells the program the way from itself to its data.
set(data ${CMAKE_INSTALL_DATADIR}/systole)
set(presets FILES_MATCHING PATTERN *.yaml PATTERN *.json PATTERN *.csv)

install(TARGETS systole)
install(DIRECTORY configs traces DESTINATION ${data} ${presets})
# The pages of reports and explorers, below the data as they lie below the sources.
install(DIRECTORY tools/web/dist DESTINATION ${data}/tools/web)

install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES tools/release/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Links between pages stay whole, so docs/ stays a folder; the manual page has its own place.
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN man EXCLUDE)

# Compressed where there is gzip, as Debian wants manual pages: without its name and time, so that it is always the same.
find_program(GZIP gzip)
if(GZIP)
    set(man_page ${CMAKE_BINARY_DIR}/systole.1.gz)
    add_custom_command(OUTPUT ${man_page} COMMAND ${GZIP} -9nc ${CMAKE_SOURCE_DIR}/docs/man/systole.1 > ${man_page}
                       DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/systole.1 VERBATIM)
    add_custom_target(systole_man_page DEPENDS ${man_page})
    add_dependencies(systole systole_man_page)
else()
    set(man_page ${CMAKE_SOURCE_DIR}/docs/man/systole.1)
endif()
install(FILES ${man_page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
