// SPDX-License-Identifier: Apache-2.0
// Catch2's own main, compiled once for every test program. SystemC's library brings a `main` that expects an
// sc_main; ours is linked first, and no test calls sc_main.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
