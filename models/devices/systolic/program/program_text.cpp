// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iterator>

#include "models/devices/systolic/program/program.h"
#include "sim/base/schema.h"

namespace systole::systolic {
namespace {

using Out = std::back_insert_iterator<std::string>;

/// In double quotes, with quotes and backslashes escaped.
std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + '"';
}

/// " second_dtype=int8", where the second operand is of another format.
std::string second(const std::optional<DType>& dtype) {
    return dtype ? fmt::format(" second_dtype={}", to_string(*dtype)) : "";
}

void write_layers(const Program& program, Out out) {
    for (const LayerInfo& layer : program.layers)
        fmt::format_to(
            out, "layer {} op={} macs={} compulsory_dram={} dtype={}{}{}{} mapping={}\n", quoted(layer.name),
            layer.op.find(' ') == std::string::npos ? layer.op : quoted(layer.op), layer.macs,
            layer.compulsory_dram, to_string(layer.dtype), second(layer.second_dtype),
            layer.dataflow ? fmt::format(" dataflow={}", to_string(*layer.dataflow)) : "",
            layer.slices > 1 ? fmt::format(" slices={}", layer.slices) : "", quoted(layer.mapping));
}

void write_streams(const Program& program, Out out) {
    for (const AddressStream& stream : program.streams) {
        fmt::format_to(out, "stream levels=");
        for (std::size_t i = 0; i < stream.levels.size(); ++i)
            fmt::format_to(out, "{}{}*{}", i ? "," : "", stream.levels[i].count,
                           stream.levels[i].stride.value());
        fmt::format_to(out, " segments=");
        for (std::size_t i = 0; i < stream.segments.size(); ++i)
            fmt::format_to(out, "{}{}+{}", i ? "," : "", stream.segments[i].offset.value(),
                           stream.segments[i].bytes.value());
        fmt::format_to(out, "\n");
    }
}

void write_transfer(const Transfer& t, Out out) {
    fmt::format_to(out, " from={}:{} to={}:{} rows={} row_bytes={}", to_string(t.from.place), t.from.address,
                   to_string(t.to.place), t.to.address, t.rows, t.row_bytes);
    if (t.from.stride != 0) fmt::format_to(out, " from_stride={}", t.from.stride);
    if (t.to.stride != 0) fmt::format_to(out, " to_stride={}", t.to.stride);
    if (t.lookup.rows != 0)
        fmt::format_to(out, " lookup={}+{}{}", t.lookup.rows, t.lookup.first, t.lookup.once ? "+once" : "");
    fmt::format_to(out, " operand={}", to_string(t.operand));
}

/// " left=STREAM:ADDRESS", with "+STEP" when a run's folds lie apart and a window when it is not the whole
/// pattern that is read; nothing for an edge that reads nothing.
void write_edge(const Program& program, const char* key, const EdgeRead& edge, Out out) {
    if (edge.none()) return;
    fmt::format_to(out, " {}={}:{}", key, edge.stream, edge.address);
    if (edge.fold_step != 0) fmt::format_to(out, "+{}", edge.fold_step);
    if (edge.first != 0 || edge.vectors != program.streams[edge.stream].vectors())
        fmt::format_to(out, " {}_window={}+{}", key, edge.first, edge.vectors);
}

void write_pass(const Program& program, const MatrixPass& p, Out out) {
    write_edge(program, "left", p.left, out);
    write_edge(program, "top", p.top, out);
    fmt::format_to(out, " m={} k={} n={}", p.m, p.k, p.n);
    if (p.folds != 1) fmt::format_to(out, " folds={}", p.folds);
    fmt::format_to(out, " accumulator={} mode={} tile={} dtype={}{}", p.accumulator_row,
                   p.accumulate ? "add" : "set", p.new_tile ? "next" : "keep", to_string(p.dtype),
                   second(p.second_dtype));
    if (p.second != Operand::Weights) fmt::format_to(out, " second={}", to_string(p.second));
    if (p.masked != 0) fmt::format_to(out, " masked={}", p.masked);
    if (p.unpacked) fmt::format_to(out, " weights=unpacked");
    if (p.sparsity != 1) fmt::format_to(out, " sparsity={}", p.sparsity);
    fmt::format_to(out, " batch={} m0={} k0={} n0={}", p.origin.batch, p.origin.m0, p.origin.k0, p.origin.n0);
}

void write_vector(const VectorWork& v, Out out) {
    fmt::format_to(out, " elements={} lane_cycles={} read={} written={} macs={} operand={}", v.elements,
                   v.lane_cycles, v.scratchpad_read, v.scratchpad_written, v.macs, to_string(v.operand));
    for (std::size_t i = 0; i < v.reads.size(); ++i)
        fmt::format_to(out, "{}{}:{}", i ? "," : " reads_at=", v.reads[i].stream, v.reads[i].address);
    if (!v.write.none()) fmt::format_to(out, " writes_at={}:{}", v.write.stream, v.write.address);
    if (v.source == VectorWork::Source::Accumulator)
        fmt::format_to(out, " mxu={} accumulator={} rows={} cols={} batch={} m0={} n0={}", v.mxu,
                       v.accumulator_row, v.accumulator_rows, v.cols, v.origin.batch, v.origin.m0,
                       v.origin.n0);
}

void write_command(const Program& program, const Command& command, Out out) {
    fmt::format_to(out, "{} layer={}", unit_name(command.unit, program.cores), command.layer);
    switch (unit_kind(command.unit)) {
        case UnitKind::Matrix:
            write_pass(program, program.pass(command), out);
            break;
        case UnitKind::Vector:
            write_vector(program.vector(command), out);
            break;
        default:
            write_transfer(program.transfer(command), out);
            break;
    }
    for (std::uint32_t i = 0; i < command.token_count; ++i) {
        const Token& token = program.tokens[command.first_token + i];
        fmt::format_to(out, "{}{}:{}", i ? "," : " after=", unit_name(token.unit, program.cores),
                       token.count);
    }
    fmt::format_to(out, "\n");
}

}  // namespace

std::string to_text(const Program& program) {
    std::string text;
    const Out out(text);
    fmt::format_to(out, "systole-program {}\ntrace {} compulsory_dram={}\n", kProgramSchema.current,
                   quoted(program.trace), program.compulsory_dram);
    if (!program.inputs_at.empty())
        fmt::format_to(out, "protocol inputs_at={} outputs_to={}\n", program.inputs_at, program.outputs_to);
    const std::string cores = program.cores > 1 ? fmt::format(" cores={}", program.cores) : "";
    fmt::format_to(out, "array dataflow={}{}\n", to_string(program.dataflow), cores);
    write_layers(program, out);
    write_streams(program, out);
    for (const Command& command : program.commands) write_command(program, command, out);
    return text;
}

}  // namespace systole::systolic
