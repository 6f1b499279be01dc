// SPDX-License-Identifier: Apache-2.0
// The operators of traces as a page in Markdown, and traces as a JSON Schema.
#pragma once

#include <string>

namespace systole::reference {

std::string operator_page();

/// Of a whole trace: its head, inputs, layers, blocks and outputs.
std::string trace_schema();

}  // namespace systole::reference
