// SPDX-License-Identifier: Apache-2.0
// Writes a native trace line by line: names that a trace may have, each once, inputs, layers and outputs in
// the order in which they come.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace systole {

/// The layers of a block that is repeated.
class TraceBlock {
public:
    explicit TraceBlock(std::string& text) : text_(text) {}
    void layer(std::string_view name, std::string_view keys);

private:
    std::string& text_;
};

class TraceWriter {
public:
    /// `about`: lines of a comment, without their '#'. `params`: "batch: 1, dtype: bf16", or empty.
    /// `serving`: which step of a language model it is, "phase: decode, batch: 1, context: 8192", or empty.
    /// `training`: how it is trained, "optimizer: adam", or empty.
    /// `batch_of`: what it is a batch of where `serving` does not say it, "images: batch", or empty.
    TraceWriter(std::string_view name, const std::vector<std::string>& about, std::string_view params,
                std::string_view serving = "", std::string_view training = "",
                std::string_view batch_of = "");

    /// The nearest name that a trace may have and that this one does not have yet: letters, digits and '_'.
    std::string name(std::string_view wanted);
    /// `shape`: expressions of parameters, outermost first.
    void input(std::string_view name, const std::vector<std::string>& shape, std::string_view dtype);
    /// `keys`: "op: matmul, in: x, n: 10".
    void layer(std::string_view name, std::string_view keys);
    /// A block of `turns` (an expression) turns, which `index` counts if it is not empty; its layers come
    /// next. Use it before anything else is written.
    TraceBlock repeat(std::string_view name, std::string_view turns, std::string_view index = "");
    void output(std::string_view name) { outputs_.emplace_back(name); }
    std::size_t layers() const { return count_; }

    std::string str() const;

private:
    std::string head_, inputs_, layers_;
    std::vector<std::string> outputs_;
    std::size_t count_ = 0;
    std::unordered_map<std::string, int> names_;  ///< taken, and how often asked for
};

/// The name with what a trace's names may not have replaced by '_'; up to 100 characters, never empty.
std::string trace_name(std::string_view wanted);

}  // namespace systole
