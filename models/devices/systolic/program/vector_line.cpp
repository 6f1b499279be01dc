// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/program/vector_line.h"

#include <fmt/format.h>

#include "models/devices/systolic/program/edge_limits.h"

namespace systole::systolic {
namespace {

constexpr std::int64_t kMany = std::int64_t{1} << 48;
constexpr std::size_t kMostPatterns = 1 << 12;  // of one command

/// "STREAM:ADDRESS": all of a pattern.
EdgeRead read_place(ProgramLine& line, const char* key, std::string_view text, const SystolicSpec& spec,
                    const std::vector<AddressStream>& streams) {
    const auto parts = split_list(text, ':');
    const auto stream = parse_integer(parts.front()), address = parse_integer(parts.back());
    if (parts.size() != 2 || !stream || !address) {
        line.fail(key, fmt::format("'{}' is not of the form STREAM:ADDRESS", text));
        return {};
    }
    if (*stream >= static_cast<std::int64_t>(streams.size())) {
        line.fail(key, fmt::format("there is no stream {} above; there are {}", *stream, streams.size()));
        return {};
    }
    if (*address >= spec.scratchpad.capacity.value())
        line.fail(key, fmt::format("'{}' lies beyond the scratchpad's {} bytes", text,
                                   spec.scratchpad.capacity.value()));
    const AddressStream& pattern = streams[static_cast<std::size_t>(*stream)];
    if (const auto mistake = pattern_mistake(spec.scratchpad, pattern)) line.fail(key, *mistake);
    return {static_cast<std::uint32_t>(*stream), *address, 0, pattern.vectors(), 0};
}

void read_accumulators(ProgramLine& line, const SystolicSpec& spec, VectorWork& work) {
    work.source = VectorWork::Source::Accumulator;
    work.mxu = static_cast<std::int32_t>(line.integer("mxu", 0, spec.mxu.count - 1));
    work.accumulator_row =
        static_cast<std::int32_t>(line.integer("accumulator", 0, spec.mxu.accumulator_rows - 1));
    work.accumulator_rows =
        static_cast<std::int32_t>(line.integer("rows", 1, spec.mxu.accumulator_rows - work.accumulator_row));
    work.cols = static_cast<std::int32_t>(line.integer("cols", 1, spec.mxu.cols));
    work.origin = {line.integer("batch", 0, kAny, 0), line.integer("m0", 0, kAny, 0), 0,
                   line.integer("n0", 0, kAny, 0)};
}

}  // namespace

VectorWork read_vector(ProgramLine& line, const SystolicSpec& spec,
                       const std::vector<AddressStream>& streams) {
    VectorWork work;
    work.elements = line.integer("elements", 0, kMany);
    work.lane_cycles = line.integer("lane_cycles", 0, kMany);
    work.scratchpad_read = line.integer("read", 0, kMany);
    work.scratchpad_written = line.integer("written", 0, kMany);
    work.macs = line.integer("macs", 0, kMany, 0);
    work.operand = static_cast<Operand>(line.choice("operand", operand_names()));
    if (line.has("reads_at")) {
        const std::string text = line.text("reads_at");
        const auto places = split_list(text, ',');
        if (places.size() > kMostPatterns) line.fail("reads_at", "more than 4096 patterns in one command");
        for (std::size_t i = 0; i < places.size() && !line.failed(); ++i)
            work.reads.push_back(read_place(line, "reads_at", places[i], spec, streams));
    }
    if (line.has("writes_at"))
        work.write = read_place(line, "writes_at", line.text("writes_at"), spec, streams);
    if (line.has("accumulator")) read_accumulators(line, spec, work);
    return work;
}

}  // namespace systole::systolic
