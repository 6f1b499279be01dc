// SPDX-License-Identifier: Apache-2.0
// The axes of a sweep: which values which keys take. An axis moves one key, or several together (zip).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/error.h"
#include "sim/config/yaml.h"

namespace systole::sweep {

/// A key as axes, `set` and `derive` name it: "mxu.rows", or "tpu_v4:mxu.rows" of one device.
struct KeyName {
    std::string device;  ///< empty: all
    std::string path;
};
KeyName split_name(const std::string& text);

/// What is wrong with the device of a name, or "" if it is one of `devices`, or empty.
std::string device_mistake(const std::string& device, const std::vector<std::string>& devices);

/// Values of one key, as --set would be given them.
struct Column {
    std::string path;    ///< "mxu.rows", "workload.batch", "run.launch"
    std::string device;  ///< the only device it concerns, by its reference; empty: all
    SourceMark where;    ///< of the key
    std::vector<std::string> values;
    std::vector<SourceMark> places;  ///< of the values
    /// "path", or "device:path".
    std::string name() const { return device.empty() ? path : device + ':' + path; }
};

/// A range without steps, from which samples are drawn: `{linear: [1 GHz, 2 GHz]}`.
struct Span {
    std::string from, to;  ///< as written; in the same unit or none
};

struct Axis {
    std::vector<Column> columns;  ///< of equal length; more than one: zipped
    std::optional<Span> span;     ///< then the only column has no values
    std::size_t size() const { return columns.front().values.size(); }
};

/// The map `axes:` of an experiment. `devices` are its devices' references. Throws UserError with every
/// mistake: no values, one twice, ranges that do not end where they say, zips of unequal lengths, a path on
/// two axes. Whether paths and values mean something is found by the plan.
std::vector<Axis> read_axes(const config::YamlNode& node, const std::vector<std::string>& devices);

/// `share` in [0, 1) of the way through a span, as a value: whole numbers where both ends are, and quantities
/// in whole numbers of their smallest unit.
std::string value_within(const Span& span, double share);

}  // namespace systole::sweep
