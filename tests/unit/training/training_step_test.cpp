// SPDX-License-Identifier: Apache-2.0
// Which layers a step of training has, in which order, and what they cost.
#include "tests/unit/workload/graphs.h"

using namespace systole;
using namespace systole::test;
