// SPDX-License-Identifier: Apache-2.0
// The keys of a kind of document as a page in Markdown: a table for each section.
#pragma once

#include <string>
#include <vector>

#include "sim/reference/catalogue.h"

namespace systole::reference {

/// What a page says before its tables.
struct PageHead {
    std::string title;
    std::string text;      ///< paragraphs
    bool by_kind = false;  ///< the key `kind` of the documents chooses who reads them
};

/// A table for each section, in the order in which readers ask; with `by_kind` those of one kind under a
/// heading of their own.
std::string key_page(const PageHead& head, const std::vector<Key>& keys);

/// "a frequency, 1 Hz..1 THz"; "one of `dram`, `sram`".
std::string takes(const Key& key);

/// `text` in a cell of a table: what Markdown would read as its own is escaped.
std::string cell(const std::string& text);

}  // namespace systole::reference
