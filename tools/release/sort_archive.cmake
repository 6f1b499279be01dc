# SPDX-License-Identifier: Apache-2.0
# Run by cpack behind each package. Its archives have files in the order in which the file system lists them, and with
# the owner who built them; so ours are packed once more, by name and as root's.
cmake_minimum_required(VERSION 3.25)
if(NOT CPACK_GENERATOR STREQUAL "TGZ")
    return()
endif()
cmake_path(GET CPACK_TEMPORARY_DIRECTORY PARENT_PATH above)
cmake_path(GET CPACK_TEMPORARY_DIRECTORY FILENAME folder)
set(time --mtime=@0)
if(DEFINED ENV{SOURCE_DATE_EPOCH})
    set(time --mtime=@$ENV{SOURCE_DATE_EPOCH})
endif()
execute_process(COMMAND tar --create --sort=name --format=gnu --owner=0 --group=0 --numeric-owner ${time} --directory ${above} ${folder}
                COMMAND gzip -9n OUTPUT_FILE ${CPACK_PACKAGE_FILES} COMMAND_ERROR_IS_FATAL ANY)
