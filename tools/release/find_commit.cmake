# SPDX-License-Identifier: Apache-2.0

# systole_commit(COMMIT EPOCH DIR): the commit of the sources in DIR, 12 digits, with "-dirty" where files that git
# knows differ from it, and its time in seconds since 1970. Both "unknown" where neither git nor an archive tells.
function(systole_commit commit epoch directory)
    set(${commit} unknown PARENT_SCOPE)
    set(${epoch} unknown PARENT_SCOPE)
    set(archived "")
    # `git archive` has put the commit in the place of this file's $Format$.
    file(STRINGS ${directory}/tools/release/archived_commit archived LIMIT_COUNT 1)
    if(archived MATCHES "^([0-9a-f]+) ([0-9]+)$")
        string(SUBSTRING ${CMAKE_MATCH_1} 0 12 short)
        set(${commit} ${short} PARENT_SCOPE)
        set(${epoch} ${CMAKE_MATCH_2} PARENT_SCOPE)
        return()
    endif()
    # An archive unpacked inside another project's repository has nothing to do with that one's commits: the prefix
    # is the way from the repository's top to here.
    execute_process(COMMAND git rev-parse --show-prefix WORKING_DIRECTORY ${directory}
                    RESULT_VARIABLE failed OUTPUT_VARIABLE prefix ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(failed OR NOT prefix STREQUAL "")
        return()
    endif()
    execute_process(COMMAND git describe --always --exclude=* --abbrev=12 --dirty WORKING_DIRECTORY ${directory}
                    RESULT_VARIABLE no_commit OUTPUT_VARIABLE described ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND git log -1 --format=%ct WORKING_DIRECTORY ${directory}
                    RESULT_VARIABLE no_time OUTPUT_VARIABLE time ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT no_commit AND NOT no_time)
        set(${commit} ${described} PARENT_SCOPE)
        set(${epoch} ${time} PARENT_SCOPE)
    endif()
endfunction()
