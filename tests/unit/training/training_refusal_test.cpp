// SPDX-License-Identifier: Apache-2.0
// What is not trained is refused, in a line.
#include "tests/unit/workload/graphs.h"

using namespace systole;
using namespace systole::test;
using Catch::Contains;
