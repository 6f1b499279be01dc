// SPDX-License-Identifier: Apache-2.0
// Ranges as experiments write them, into values. Ends are whole numbers, decimals, or quantities of one
// unit's kind; quantities are counted exactly, in their smallest unit.
#pragma once

#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/sweep/axis.h"

namespace systole::sweep {

/// `count` values at equal distances, both ends among them; whole where both ends are, rounded to the
/// nearest. Throws UserError at `where` for ends of different kinds, a count below 2, and whole numbers that
/// fall together.
std::vector<std::string> linear_values(const std::string& from, const std::string& to,
                                       const std::string& count, const SourceMark& where);

/// from, 2 x from, 4 x from, ..., to. Throws UserError at `where` if doubling does not lead to `to`.
std::vector<std::string> log2_values(const std::string& from, const std::string& to, const SourceMark& where);

/// Throws UserError at `where` if its ends are of different kinds, or equal.
void check_span(const Span& span, const SourceMark& where);

}  // namespace systole::sweep
