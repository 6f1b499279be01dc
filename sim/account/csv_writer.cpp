// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sim/account/writers.h"

namespace systole {
namespace {

std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string cell = "\"";
    for (const char c : text) {
        if (c == '"') cell += '"';
        cell += c;
    }
    return cell + '"';
}

std::string line(const ResultRow& row, const std::string& name) {
    std::string text = fmt::format("{},{},{},{},{}", quoted(name), quoted(row.op), row.cycles.value(),
                                   static_cast<double>(row.time().value()) / 1000, row.utilization());
    for (std::size_t i = 0; i < kSlotClasses; ++i)
        text += fmt::format(",{}", row.fraction(static_cast<SlotClass>(i)));
    text += fmt::format(",{},{},{}", row.dram_read.value(), row.dram_written.value(),
                        row.roofline_cycles.value());
    return text + ',' + quoted(row.roofline_bound) + ',' + quoted(row.bound_by) + ',' + quoted(row.mapping) +
           '\n';
}

}  // namespace

std::string to_csv(const DeviceResult& result) {
    std::string text = "name,op,cycles,time_ns,utilization";
    for (std::size_t i = 0; i < kSlotClasses; ++i)
        text += fmt::format(",{}", to_string(static_cast<SlotClass>(i)));
    text += ",dram_read,dram_written,roofline_cycles,roofline_bound,bound_by,mapping\n";
    for (const ResultRow& row : result.layers) text += line(row, row.name);
    return text + line(result.total, "total");
}

}  // namespace systole
