// SPDX-License-Identifier: Apache-2.0
// The points of a sweep as a table, one a line: id, device, trace, and what each key and derived value is.
// The file alone says what is to be run; results are compared with it and never with a memory of theirs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/sweep/simulator.h"

namespace systole::sweep {

struct Point {
    std::string id, device, trace;
    std::vector<std::string> values;  ///< of the manifest's columns; empty: not of this device
};

class Manifest {
public:
    /// Without points. `columns`: "mxu.rows", "tpu_v4:mxu.rows" (of this device alone), "area" (derived).
    explicit Manifest(const std::vector<std::string>& columns);
    /// Of a file's text; throws UserError, with its place, where it is no manifest.
    static Manifest parse(std::string text, const std::string& file);

    void add(const Point& point);
    std::size_t size() const { return lines_.size(); }
    std::string_view id(std::size_t point) const;
    Point point(std::size_t point) const;
    /// What the point sets: columns that are keys and concern its device.
    std::vector<Setting> settings(const Point& point) const;
    const std::vector<std::string>& columns() const { return columns_; }
    const std::string& text() const { return text_; }

private:
    Manifest() = default;

    std::string file_ = "manifest.csv";
    std::string text_;  ///< of the file: a hundred thousand points take ten megabytes
    std::vector<std::size_t> lines_;
    std::vector<std::string> columns_;
};

}  // namespace systole::sweep
