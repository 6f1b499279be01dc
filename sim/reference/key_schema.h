// SPDX-License-Identifier: Apache-2.0
// The keys of a kind of document as a JSON Schema (draft 2020-12), by which editors complete and check files
// while they are written. What only a reader can know (values that do not fit each other, keys that another
// one calls for) is left to it.
#pragma once

#include <string>
#include <vector>

#include "sim/reference/catalogue.h"

namespace systole::reference {

struct SchemaHead {
    std::string title;
    std::string title_key;  ///< "device": the document's own title stands under it
    bool by_kind = false;   ///< as PageHead::by_kind
    bool is_part = false;   ///< documents may give some of the keys; who builds on them gives the others
};

/// Takes leaves as plain values and as maps of a value and its origin, `extends` and `preset`.
std::string key_schema(const SchemaHead& head, const std::vector<Key>& keys);

}  // namespace systole::reference
