// SPDX-License-Identifier: Apache-2.0
// Short steps with an engine, for tests of its times.
#pragma once

#include "models/devices/systolic/mxu/matrix_engine.h"

namespace systole::test {

/// Starts `pass` as early as the engine allows and gives the cycle.
inline std::int64_t start_early(MatrixEngine& engine, const Pass& pass) {
    engine.advance(engine.earliest_start(pass));
    engine.start(pass);
    return engine.now().value();
}

inline PassReport finish_next(MatrixEngine& engine) {
    engine.advance(engine.next_event());
    while (true) {
        if (const auto report = engine.take_finished()) return *report;
        engine.advance(engine.next_event());
    }
}

}  // namespace systole::test
