// SPDX-License-Identifier: Apache-2.0
// A sweep that a cluster runs: what has no result goes to Slurm, unless it is in its queue already.
#pragma once

#include "sim/app/sweep_session.h"

namespace systole::app {

/// Chooses the chunks' size by running a few points here, unless it is fixed; submits; answers the
/// exit code. Throws UserError.
int submit_to_slurm(const SweepOrder& order, Session& session);

/// "Of 12 chunks without all results, 9 are in Slurm's queue."; "" where no sweep was submitted from this
/// folder. What Slurm does not answer is said, too.
std::string slurm_text(const Session& session);

}  // namespace systole::app
