// SPDX-License-Identifier: Apache-2.0
#include "models/memory/standards/standards.h"

namespace systole::standards {

void append(std::vector<ConstraintRow>& rows, std::vector<ConstraintRow> more) {
    rows.insert(rows.end(), more.begin(), more.end());
}

std::vector<ConstraintRow> grouped_columns() {
    return {
        {Scope::PseudoChannel, kReads, kReads, "CCD_S"},
        {Scope::Group, kReads, kReads, "CCD_L"},
        {Scope::PseudoChannel, kWrites, kWrites, "CCD_S"},
        {Scope::Group, kWrites, kWrites, "CCD_L"},
        {Scope::PseudoChannel, kReads, kWrites, "RTW"},
        {Scope::PseudoChannel, kWrites, kReads, "CWL + BL + WTR_S"},
        {Scope::Group, kWrites, kReads, "CWL + BL + WTR_L"},
    };
}

}  // namespace systole::standards
