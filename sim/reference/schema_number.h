// SPDX-License-Identifier: Apache-2.0
// The key `schema` of a document, as the JSON Schemas for editors have it.
#pragma once

#include <nlohmann/json.hpp>

#include "sim/base/schema.h"

namespace systole::reference {

/// The numbers of `schema` that this program reads.
inline nlohmann::ordered_json schema_number(const Schema& schema) {
    return {{"description", "the number of this document's form (docs/formats.md); without it the newest"},
            {"type", "integer"},
            {"minimum", schema.oldest},
            {"maximum", schema.current}};
}

}  // namespace systole::reference
