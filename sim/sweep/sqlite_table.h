// SPDX-License-Identifier: Apache-2.0
// The merged table as a SQLite database, for questions that a spreadsheet is too small for.
#pragma once

#include <filesystem>

#include "sim/sweep/merge.h"

namespace systole::sweep {

/// Writes `file` with one table `points` (numbers as numbers, what is empty as NULL, but `error`, `id` its
/// primary key). The database is made whole beside its place and moved there: it has one writer, and its
/// readers never see half of it. Throws UserError where it cannot be written.
void write_sqlite(const MergedTable& table, const std::filesystem::path& file);

}  // namespace systole::sweep
