# SPDX-License-Identifier: Apache-2.0
# cmake -D SOURCE_DIR=DIR -D OUTPUT=FILE -P commit.cmake: writes the source file that says which commit is built:
# git's, with "-dirty" where files differ from it; without git that of the source archive; else "unknown". The file
# is touched only when its text changes.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/find_commit.cmake)
systole_commit(commit epoch ${SOURCE_DIR})

set(text "// SPDX-License-Identifier: Apache-2.0
// Written by tools/release/commit.cmake.
#include \"sim/app/version.h\"

namespace systole::app {

std::string_view commit() {
    return \"${commit}\";
}

}  // namespace systole::app
")
set(before "")
if(EXISTS ${OUTPUT})
    file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL before)
    file(WRITE ${OUTPUT} "${text}")
endif()
