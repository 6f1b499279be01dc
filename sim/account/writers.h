// SPDX-License-Identifier: Apache-2.0
// A result as people, programs and spreadsheets read it. docs/formats.md gives every key and column; the same
// result gives the same bytes.
#pragma once

#include <string>
#include <vector>

#include "sim/account/comparison.h"
#include "sim/account/run_result.h"
#include "sim/base/text_style.h"

namespace systole {

/// A table with one row a layer, the totals, the critical path and the energy in a sentence each. Times in SI
/// units, shares of matrix capacity in percent; classes that are 0.0 % in every row are left out and named
/// below. Where the style has pictures, utilization over time is one.
std::string to_text(const DeviceResult& result, const TextStyle& style = {});

/// `result.json`. Integers stay integers; fractions and nanoseconds are the shortest decimals that read back
/// as the same double. Bytes of names that are not UTF-8 become U+FFFD.
std::string to_json(const std::vector<DeviceResult>& devices);

/// `layers.csv`: quoted as RFC 4180 says, lines end in a line feed.
std::string to_csv(const DeviceResult& result);

/// A table of totals, one of layers, and a sentence for the layers of the largest differences (`all`: for
/// every layer): who wins and why.
std::string to_text(const Comparison& comparison, bool all, const TextStyle& style = {});
/// `result.json` of all devices on all traces, with the key `comparisons`.
std::string to_json(const std::vector<Comparison>& comparisons);
/// A row for each layer and device, and for each total.
std::string to_csv(const std::vector<Comparison>& comparisons);

}  // namespace systole
