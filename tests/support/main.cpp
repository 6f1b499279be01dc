// SPDX-License-Identifier: Apache-2.0
// Catch2's own main, compiled once for every test program. The linker prefers it to the `main` inside
// libsystemc.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
