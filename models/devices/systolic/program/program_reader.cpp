// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/program/program_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "models/devices/systolic/program/pass_line.h"
#include "models/devices/systolic/program/program_line.h"
#include "models/devices/systolic/program/stream_line.h"
#include "models/devices/systolic/program/vector_line.h"
#include "sim/base/checked.h"
#include "sim/base/schema.h"

namespace systole::systolic {
namespace {

constexpr std::int64_t kInt32 = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMostMistakes = 100;  // enough to work on

std::string no_program() {
    return fmt::format("not a device program: expected 'systole-program {}' in the first line",
                       kProgramSchema.current);
}

class Reader {
public:
    Reader(const SystolicSpec& spec, std::string file) : spec_(spec), file_(std::move(file)), passes_(spec) {
        for (int core = 0; core < spec.cores; ++core) add_units(core);
    }

    Program read(std::string_view text) {
        for (const std::string_view line : split_list(text, '\n')) read_line(line);
        if (line_ == 0 || !started_)
            fail(1, no_program());
        else if (!array_ && mistakes_.size() < kMostMistakes)
            fail(line_, "no 'array dataflow=' line says what the arrays of this program are");
        check_macs();
        passes_.finish([this](std::string message) { fail(line_, std::move(message)); });
        if (!mistakes_.empty()) throw UserError(std::move(mistakes_));
        return std::move(program_);
    }

private:
    void add_units(int core);
    void read_line(std::string_view text);
    void check_schema(ProgramLine& line) const;
    void read_array(ProgramLine& line);
    Dataflow read_dataflow(ProgramLine& line) const;
    void read_layer(ProgramLine& line);
    void read_command(ProgramLine& line, UnitIndex unit);
    void read_tokens(ProgramLine& line, Command& command);
    Transfer read_transfer(ProgramLine& line, UnitIndex unit, Dataflow dataflow);
    Region read_region(ProgramLine& line, const char* key, const char* stride_key,
                       const std::vector<Place>& allowed);
    static Lookup read_lookup(ProgramLine& line);
    void check_inside(ProgramLine& line, const char* key, const Region& region, std::int64_t rows,
                      std::int64_t row_bytes);
    void check_rate(ProgramLine& line, const LayerInfo& layer, const MatrixPass& pass);
    void check_macs();

    void fail(int line, std::string message) { mistakes_.push_back({{file_, line, 1}, std::move(message)}); }
    std::int64_t scratchpad() const { return spec_.scratchpad.capacity.value(); }
    const SystolicSpec& spec_;
    const std::string file_;
    std::vector<std::string> units_;  // of this machine: names, and at the same places their numbers
    std::vector<UnitIndex> indices_;
    UnitIndex index_of(std::vector<std::string>::iterator unit) const {
        return indices_[static_cast<std::size_t>(unit - units_.begin())];
    }
    PassReader passes_;
    Program program_;
    std::vector<std::int64_t> layer_macs_;
    std::vector<Diagnostic> mistakes_;
    int line_ = 0;
    bool started_ = false, array_ = false;
};

/// The engines of a chip link are the first core's.
void Reader::add_units(int core) {
    for (int own = 0; own < kSharedUnits + 2 * spec_.mxu.count; ++own) {
        const auto unit = static_cast<UnitIndex>(core * kUnitsOfCore + own);
        const bool of_link = unit_kind(unit) == UnitKind::LinkIn || unit_kind(unit) == UnitKind::LinkOut;
        if (of_link && (!spec_.chip_link || core > 0)) continue;
        units_.push_back(unit_name(unit, spec_.cores));
        indices_.push_back(unit);
    }
}

void Reader::read_line(std::string_view text) {
    ++line_;
    if (mistakes_.size() >= kMostMistakes) return;
    ProgramLine line(text, {file_, line_, 1}, mistakes_);
    const std::string& kind = line.kind();
    if (kind.empty()) return;
    if (!started_) {
        started_ = true;
        return check_schema(line);
    }
    const auto unit = std::find(units_.begin(), units_.end(), kind);
    if (kind == "trace") {
        program_.trace = line.title();
        program_.compulsory_dram = line.integer("compulsory_dram", 0, kAny, 0);
    } else if (kind == "protocol") {
        program_.inputs_at = line.text("inputs_at");
        program_.outputs_to = line.text("outputs_to");
    } else if (kind == "array") {
        read_array(line);
    } else if (kind == "layer")
        read_layer(line);
    else if (kind == "stream")
        program_.streams.push_back(read_stream(line, scratchpad()));
    else if (unit != units_.end())
        read_command(line, index_of(unit));
    else
        return fail(line_, fmt::format("unknown unit '{}'; this machine has: {}{}", kind,
                                       fmt::join(units_, ", "), did_you_mean(kind, units_)));
    line.finish();
}

/// Of the first line. Throws at once: the lines of another form would all be wrong.
void Reader::check_schema(ProgramLine& line) const {
    const std::string title = line.title();
    std::int64_t stated = 0;
    const auto [rest, error] = std::from_chars(title.data(), title.data() + title.size(), stated);
    if (line.kind() != "systole-program" || error != std::errc() || rest != title.data() + title.size())
        throw UserError({file_, line_, 1}, no_program());
    if (const std::string complaint = schema_complaint(kProgramSchema, stated); !complaint.empty())
        throw UserError({file_, line_, 1}, complaint);
}

void Reader::read_array(ProgramLine& line) {
    if (array_) fail(line_, "a second 'array' line");
    if (!program_.layers.empty()) fail(line_, "the 'array' line belongs before the first layer");
    array_ = true;
    program_.dataflow = read_dataflow(line);
    program_.cores = static_cast<int>(line.integer("cores", 1, kMostCores, 1));
    if (program_.cores != spec_.cores)
        line.fail(line.has("cores") ? "cores" : "dataflow",
                  fmt::format("the program is for {} core{}, and this machine has {} (core.count)",
                              program_.cores, program_.cores == 1 ? "" : "s", spec_.cores));
}

/// One that this machine's arrays take.
Dataflow Reader::read_dataflow(ProgramLine& line) const {
    const auto dataflow = static_cast<Dataflow>(line.choice("dataflow", {"ws", "os", "is"}));
    if (!spec_.mxu.choose_dataflow && dataflow != spec_.mxu.dataflow)
        line.fail("dataflow", fmt::format("this machine's arrays are {}", to_string(spec_.mxu.dataflow)));
    return dataflow;
}

void Reader::read_layer(ProgramLine& line) {
    LayerInfo layer;
    layer.name = line.title();
    layer.op = line.text("op");
    layer.mapping = line.text("mapping", "");
    layer.macs = line.integer("macs", 0, kAny);
    layer.compulsory_dram = line.integer("compulsory_dram", 0, kAny);
    layer.dtype = static_cast<DType>(line.choice("dtype", dtype_names()));
    layer.second_dtype = read_second_dtype(line, layer.dtype);
    if (line.has("dataflow")) layer.dataflow = read_dataflow(line);
    if (layer.dataflow == program_.dataflow) layer.dataflow.reset();
    if (line.has("slices")) layer.slices = line.integer("slices", 2, kAny);
    program_.layers.push_back(std::move(layer));
    layer_macs_.push_back(0);
}

void Reader::read_command(ProgramLine& line, UnitIndex unit) {
    Command command;
    command.unit = unit;
    if (program_.layers.empty()) return fail(line_, "a command before the first layer");
    command.layer = static_cast<std::int32_t>(
        line.integer("layer", 0, static_cast<std::int64_t>(program_.layers.size()) - 1));
    switch (unit_kind(unit)) {
        case UnitKind::Matrix:
            command.work = static_cast<std::uint32_t>(program_.passes.size());
            program_.passes.push_back(
                passes_.read(line, unit, program_.dataflow_of(command), program_.streams));
            check_rate(line, program_.layers[static_cast<std::size_t>(command.layer)],
                       program_.passes.back());
            layer_macs_[static_cast<std::size_t>(command.layer)] += program_.passes.back().macs().value();
            break;
        case UnitKind::Vector:
            command.work = static_cast<std::uint32_t>(program_.vector_work.size());
            program_.vector_work.push_back(read_vector(line, spec_, program_.streams));
            layer_macs_[static_cast<std::size_t>(command.layer)] += program_.vector_work.back().macs;
            break;
        default:
            command.work = static_cast<std::uint32_t>(program_.transfers.size());
            program_.transfers.push_back(read_transfer(line, unit, program_.dataflow_of(command)));
            break;
    }
    read_tokens(line, command);
    program_.commands.push_back(command);
}

void Reader::read_tokens(ProgramLine& line, Command& command) {
    command.first_token = static_cast<std::uint32_t>(program_.tokens.size());
    if (!line.has("after")) return;
    const std::string after = line.text("after");
    for (const auto part : split_list(after, ',')) {
        const auto pair = split_list(part, ':');
        const auto unit = std::find(units_.begin(), units_.end(), pair.front());
        const auto count = pair.size() == 2 ? parse_integer(pair[1]) : std::nullopt;
        if (unit == units_.end() || !count || *count > kInt32 || command.token_count == 255)
            return line.fail("after",
                             fmt::format("'{}' is not 'unit:count' with a unit of this machine", part));
        program_.tokens.push_back({index_of(unit), static_cast<std::uint32_t>(*count)});
        ++command.token_count;
    }
}

/// Which places each kind of transfer unit is wired to.
std::pair<std::vector<Place>, std::vector<Place>> places_of(UnitKind kind) {
    const std::vector<Place> memories{Place::Dram, Place::Scratchpad};
    switch (kind) {
        case UnitKind::HostIn:
            return {{Place::Host}, memories};
        case UnitKind::HostOut:
            return {memories, {Place::Host}};
        case UnitKind::LinkIn:
            return {{Place::ChipLink}, memories};
        case UnitKind::LinkOut:  // also what only passes through
            return {{Place::Dram, Place::Scratchpad, Place::ChipLink}, {Place::ChipLink}};
        case UnitKind::Load:
            return {{Place::Dram}, {Place::Scratchpad}};
        case UnitKind::Store:
            return {{Place::Scratchpad}, {Place::Dram}};
        default:
            return {memories, {Place::WeightFifo}};
    }
}

Transfer Reader::read_transfer(ProgramLine& line, UnitIndex unit, Dataflow dataflow) {
    const auto [sources, targets] = places_of(unit_kind(unit));
    Transfer transfer;
    transfer.from = read_region(line, "from", "from_stride", sources);
    transfer.to = read_region(line, "to", "to_stride", targets);
    transfer.rows = line.integer("rows", 1, 1 << 22);
    transfer.row_bytes = line.integer("row_bytes", 1, std::int64_t{1} << 36);
    transfer.operand = static_cast<Operand>(line.choice("operand", operand_names()));
    if (transfer.bytes() > std::int64_t{1} << 40) line.fail("rows", "more than 2^40 bytes in one transfer");
    if (line.has("lookup")) transfer.lookup = read_lookup(line);
    check_inside(line, "from", transfer.from, transfer.source_rows(), transfer.row_bytes);
    check_inside(line, "to", transfer.to, transfer.rows, transfer.row_bytes);
    if (unit_kind(unit) == UnitKind::Weights && spec_.mxu.direct(dataflow))
        line.fail("to",
                  spec_.mxu.direct(Dataflow::WeightStationary)
                      ? "this machine has no weight FIFO"
                      : fmt::format("{} arrays take no tiles out of the weight FIFO", to_string(dataflow)));
    if (unit_kind(unit) == UnitKind::Weights) passes_.tile_loaded(unit);
    return transfer;
}

Lookup Reader::read_lookup(ProgramLine& line) {
    const std::string text = line.text("lookup");
    const auto parts = split_list(text, '+');
    const auto rows = parse_integer(parts.front());
    const bool once = parts.size() == 3 && parts[2] == "once";
    const auto first = parts.size() == 2 || once ? parse_integer(parts[1]) : std::nullopt;
    constexpr std::int64_t kMostRows = (std::int64_t{1} << 31) - 1, kMostLookups = std::int64_t{1} << 56;
    if (rows && first && *rows >= 1 && *rows <= kMostRows && *first <= kMostLookups)
        return {*rows, *first, once};
    line.fail("lookup",
              fmt::format("'{}' is not ROWS+FIRST: rows of the table, 1 … {}, and the number of the "
                          "first lookup, 0 … {}; or ROWS+FIRST+once",
                          text, kMostRows, kMostLookups));
    return {};
}

Region Reader::read_region(ProgramLine& line, const char* key, const char* stride_key,
                           const std::vector<Place>& allowed) {
    Region region;
    const std::string text = line.text(key);
    const auto parts = split_list(text, ':');
    const auto place = std::find_if(allowed.begin(), allowed.end(),
                                    [&](Place candidate) { return to_string(candidate) == parts.front(); });
    const auto address = parts.size() == 2 ? parse_integer(parts[1]) : std::nullopt;
    if (place == allowed.end() || !address) {
        std::vector<std::string> expected;
        for (const Place candidate : allowed)
            expected.push_back(fmt::format("{}:ADDRESS", to_string(candidate)));
        line.fail(key, fmt::format("'{}' is not a place this unit is wired to; expected {}", text,
                                   fmt::join(expected, " or ")));
        return region;
    }
    region.place = *place;
    region.address = *address;
    region.stride = line.integer(stride_key, 0, kAny, 0);
    return region;
}

void Reader::check_inside(ProgramLine& line, const char* key, const Region& region, std::int64_t rows,
                          std::int64_t row_bytes) {
    std::int64_t capacity = kAny;
    if (region.place == Place::Dram) capacity = spec_.memory.capacity().value();
    if (region.place == Place::Scratchpad) capacity = scratchpad();
    const auto skipped = checked_mul(rows - 1, region.stride);
    const auto last = skipped ? checked_add(*skipped, region.address) : std::nullopt;
    const auto end = last ? checked_add(*last, row_bytes) : std::nullopt;
    if (!end || *end > capacity)
        line.fail(key, fmt::format("reaches beyond the {}'s {} bytes", to_string(region.place), capacity));
}

/// A layer's capacity is counted at its dtype's rate, which its passes must not exceed.
void Reader::check_rate(ProgramLine& line, const LayerInfo& layer, const MatrixPass& pass) {
    const auto rate = [&](const auto& of) {
        return spec_.mxu.rate_of(of.dtype, of.second_dtype).value_or(MacRate{1});
    };
    if (rate(pass) > rate(layer))
        line.fail("dtype",
                  fmt::format("runs at a higher rate than the layer's '{}'", to_string(layer.dtype)));
}

void Reader::check_macs() {
    for (std::size_t i = 0; i < program_.layers.size(); ++i)
        if (program_.layers[i].macs != layer_macs_[i])
            fail(line_, fmt::format("the commands of layer {} ('{}') do {} MACs, the layer says {}", i,
                                    program_.layers[i].name, layer_macs_[i], program_.layers[i].macs));
}

}  // namespace

Program parse_program(std::string_view text, const std::string& file, const SystolicSpec& spec) {
    return Reader(spec, file).read(text);
}

}  // namespace systole::systolic
