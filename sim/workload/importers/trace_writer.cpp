// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/trace_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/schema.h"

namespace systole {
namespace {

constexpr std::size_t kLongest = 100;  // of names in a trace

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace

std::string trace_name(std::string_view wanted) {
    std::string name;
    for (const char c : wanted.substr(0, kLongest)) {
        if (name.empty() && is_digit(c)) name = "l";
        name += is_letter(c) || is_digit(c) ? c : '_';
    }
    if (name.size() > kLongest) name.resize(kLongest);
    if (name.empty()) return "unnamed";
    // Words that mean something else there.
    for (const std::string_view taken : {"null", "Null", "NULL", "block_in"})
        if (name == taken) return "l_" + name;
    return name;
}

void TraceBlock::layer(std::string_view name, std::string_view keys) {
    text_ += fmt::format("      - {{name: {}, {}}}\n", name, keys);
}

TraceWriter::TraceWriter(std::string_view name, const std::vector<std::string>& about,
                         std::string_view params, std::string_view serving, std::string_view training,
                         std::string_view batch_of) {
    for (std::string line : about) {
        // Names of files and models are anything; a line of their own would be no comment any more.
        for (char& c : line)
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
        head_ += fmt::format("# {}\n", line);
    }
    head_ += fmt::format("trace: {}\nschema: {}\n", trace_name(name), kTraceSchema.current);
    if (!params.empty()) head_ += fmt::format("params: {{{}}}\n", params);
    if (!batch_of.empty()) head_ += fmt::format("batch_of: {{{}}}\n", batch_of);
    if (!serving.empty()) head_ += fmt::format("serving: {{{}}}\n", serving);
    if (!training.empty()) head_ += fmt::format("training: {{{}}}\n", training);
}

std::string TraceWriter::name(std::string_view wanted) {
    const std::string plain = trace_name(wanted);
    std::string found = plain;
    // Long names that differ in their ends only would meet each other's numbers again and again.
    constexpr int kSoon = 8;
    for (int tries = 1; names_.contains(found); ++tries) {
        const std::size_t number =
            tries <= kSoon ? static_cast<std::size_t>(++names_[plain]) : names_.size() + 1;
        const std::string more =
            fmt::format("_{}", number + (tries > kSoon ? static_cast<std::size_t>(tries) : 0));
        found = plain.substr(0, kLongest - more.size()) + more;
    }
    ++names_[found];
    return found;
}

void TraceWriter::input(std::string_view name, const std::vector<std::string>& shape,
                        std::string_view dtype) {
    inputs_ += fmt::format("  {}: {{shape: [{}], dtype: {}}}\n", name, fmt::join(shape, ", "), dtype);
}

void TraceWriter::layer(std::string_view name, std::string_view keys) {
    layers_ += fmt::format("  - {{name: {}, {}}}\n", name, keys);
    ++count_;
}

TraceBlock TraceWriter::repeat(std::string_view name, std::string_view turns, std::string_view index) {
    const std::string counted = index.empty() ? "" : fmt::format("    index: {}\n", index);
    layers_ += fmt::format("  - name: {}\n    repeat: {}\n{}    layers:\n", name, turns, counted);
    ++count_;
    return TraceBlock(layers_);
}

std::string TraceWriter::str() const {
    return fmt::format("{}inputs:\n{}layers:\n{}outputs: [{}]\n", head_, inputs_, layers_,
                       fmt::join(outputs_, ", "));
}

}  // namespace systole
