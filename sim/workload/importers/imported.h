// SPDX-License-Identifier: Apache-2.0
// What an importer answers: a native trace (docs/formats.md), and what its reader should know of how it came
// to be. Importers write traces, and nothing else: the trace reader checks them as it checks everybody's.
#pragma once

#include <string>
#include <vector>

#include "sim/base/error.h"

namespace systole {

/// Something that was forgiven, left out, or read in one of several possible ways.
struct ImportNote {
    SourceMark where;  ///< the first place
    std::string text;  ///< one sentence
};

struct Imported {
    std::string trace;  ///< YAML
    std::vector<ImportNote> notes;
};

/// "file:line: note: text".
std::string to_string(const ImportNote& note);

}  // namespace systole
