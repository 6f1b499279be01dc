// SPDX-License-Identifier: Apache-2.0
// Which program this is. Results name the version; the commit is for people only, so that builds of the same
// sources answer with the same bytes whatever their history is.
#pragma once

#include <string_view>

namespace systole::app {

/// "systole 1.0.0": what results, sweeps and pages say of who wrote them.
std::string_view version();

/// The commit that was built: 12 digits, "-dirty" behind them where files had been changed; "unknown" where
/// the sources were neither a repository nor an archive of one. In a source file that the build writes.
std::string_view commit();

}  // namespace systole::app
