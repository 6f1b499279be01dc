// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/program/pass_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/devices/systolic/program/edge_limits.h"
#include "sim/base/checked.h"

namespace systole::systolic {
namespace {

constexpr std::int64_t kMostVectors = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t kMostFolds = 1 << 20;
constexpr std::int64_t kMostMacs = std::int64_t{1} << 48;  // of one command

const std::vector<std::string>& second_operands() {
    static const std::vector<std::string> names{"weights", "activations", "kv_cache"};
    return names;
}

}  // namespace

std::optional<DType> read_second_dtype(ProgramLine& line, DType dtype) {
    if (!line.has("second_dtype")) return std::nullopt;
    const auto second = static_cast<DType>(line.choice("second_dtype", dtype_names()));
    return second == dtype ? std::nullopt : std::optional(second);
}

EdgeRead PassReader::read_edge(ProgramLine& line, const char* key,
                               const std::vector<AddressStream>& streams) const {
    const std::string text = line.text(key);
    const auto parts = split_list(text, ':');
    const auto tail = split_list(parts.back(), '+');
    const auto stream = parse_integer(parts.front());
    const auto address = parse_integer(tail.front());
    const auto step = tail.size() == 2 ? parse_integer(tail.back()) : std::optional<std::int64_t>(0);
    if (parts.size() != 2 || tail.size() > 2 || !stream || !address || !step) {
        line.fail(key, fmt::format("'{}' is not of the form STREAM:ADDRESS or STREAM:ADDRESS+STEP", text));
        return {};
    }
    if (*stream >= static_cast<std::int64_t>(streams.size())) {
        line.fail(key, fmt::format("there is no stream {} above; there are {}", *stream, streams.size()));
        return {};
    }
    if (*address >= scratchpad() || *step >= scratchpad())
        line.fail(key, fmt::format("'{}' lies beyond the scratchpad's {} bytes", text, scratchpad()));
    const AddressStream& pattern = streams[static_cast<std::size_t>(*stream)];
    EdgeRead edge{static_cast<std::uint32_t>(*stream), *address, 0, pattern.vectors(), *step};
    read_window(line, std::string(key) + "_window", edge, pattern);
    return edge;
}

/// "FIRST+COUNT": the vectors of the pattern that are read, when not all are.
void PassReader::read_window(ProgramLine& line, const std::string& key, EdgeRead& edge,
                             const AddressStream& pattern) const {
    if (!line.has(key.c_str())) return;
    const std::string text = line.text(key.c_str());
    const auto parts = split_list(text, '+');
    const auto first = parse_integer(parts.front()), count = parse_integer(parts.back());
    if (parts.size() != 2 || !first || !count || *count < 1 || *first >= pattern.vectors() ||
        *count > pattern.vectors() - *first)
        return line.fail(key.c_str(), fmt::format("'{}' is not FIRST+COUNT within the {} vectors of the "
                                                  "pattern",
                                                  text, pattern.vectors()));
    edge.first = *first;
    edge.vectors = *count;
}

void PassReader::read_extents(ProgramLine& line, Dataflow dataflow, MatrixPass& pass) const {
    const MxuSpec& mxu = spec_.mxu;
    if (line.has("sparsity")) {
        const std::int64_t most = mxu.sparse_kept > 0 ? mxu.sparse_of / mxu.sparse_kept : 1;
        pass.sparsity = static_cast<std::int32_t>(line.integer("sparsity", most, most));
    }
    const std::int64_t depth = mxu.rows * rate_of(pass).macs * pass.sparsity;
    const bool os = dataflow == Dataflow::OutputStationary, is = dataflow == Dataflow::InputStationary;
    pass.m = line.integer("m", 1, os ? mxu.rows : is ? mxu.cols : mxu.accumulator_rows);
    pass.k = line.integer("k", 1, os ? kMostVectors : depth);
    pass.n = line.integer("n", 1, is ? mxu.accumulator_rows : mxu.cols);
    const std::int64_t rows = shape_of(dataflow, {1}, pass).accumulator_rows;
    if (rows > mxu.accumulator_rows)
        line.fail("m",
                  fmt::format("{} rows of results, but {} accumulator rows", rows, mxu.accumulator_rows));
    pass.accumulator_row = static_cast<std::int32_t>(
        line.integer("accumulator", 0, std::max<std::int64_t>(0, mxu.accumulator_rows - rows)));
}

void PassReader::read_folds(ProgramLine& line, Dataflow dataflow, MatrixPass& pass) const {
    pass.folds = static_cast<std::int32_t>(line.integer("folds", 1, kMostFolds, 1));
    if (pass.folds > 1 && (!spec_.mxu.direct(dataflow) || dataflow == Dataflow::OutputStationary))
        line.fail("folds",
                  "a run of folds takes an array that shifts its tiles straight out of the "
                  "scratchpad");
    const auto area = checked_mul(pass.m, pass.n);
    const auto fold = area ? checked_mul(*area, pass.k) : area;
    const auto all = fold ? checked_mul(*fold, pass.folds) : fold;
    if (!all || *all > kMostMacs) line.fail("k", "more than 2^48 MACs in one command");
    for (const EdgeRead* edge : {&pass.left, &pass.top})
        if (!edge->none() && edge->address + edge->fold_step * (pass.folds - 1) >= scratchpad())
            line.fail("folds", "the last fold lies beyond the scratchpad");
}

/// One where the formats are a mistake, which has been said.
MacRate PassReader::rate_of(const MatrixPass& pass) const {
    return spec_.mxu.rate_of(pass.dtype, pass.second_dtype).value_or(MacRate{1});
}

MatrixPass PassReader::read(ProgramLine& line, UnitIndex mxu, Dataflow dataflow,
                            const std::vector<AddressStream>& streams) {
    MatrixPass pass;
    pass.dtype = static_cast<DType>(line.choice("dtype", dtype_names()));
    pass.second_dtype = read_second_dtype(line, pass.dtype);
    if (!spec_.mxu.rate_of(pass.dtype, pass.second_dtype))
        line.fail(pass.second_dtype ? "second_dtype" : "dtype",
                  "the matrix units have no rate for this number format");
    pass.left = read_edge(line, "left", streams);
    pass.new_tile = line.choice("tile", {"keep", "next"}) == 1;
    if (line.has("top")) pass.top = read_edge(line, "top", streams);
    read_extents(line, dataflow, pass);
    read_folds(line, dataflow, pass);
    pass.accumulate = line.choice("mode", {"set", "add"}) == 1;
    constexpr Operand kSeconds[] = {Operand::Weights, Operand::Activations, Operand::KvCache};
    if (line.has("second")) pass.second = kSeconds[line.choice("second", second_operands())];
    if (!line.failed() && line.has("masked"))
        pass.masked = line.integer("masked", 0, pass.m * pass.k * pass.n);
    pass.origin = {line.integer("batch", 0, kAny, 0), line.integer("m0", 0, kAny, 0),
                   line.integer("k0", 0, kAny, 0), line.integer("n0", 0, kAny, 0)};
    pass.unpacked = line.has("weights") && line.choice("weights", {"plain", "unpacked"}) == 1;
    if (pass.unpacked && spec_.mxu.unpack == 0)
        line.fail("weights", "nothing unpacks weights here (mxu.unpack)");
    check_edges(line, dataflow, pass);
    check_tile(line, dataflow, pass, of(mxu));
    if (line.failed()) return pass;
    const auto check = [&](const char* key, const EdgeRead& read, Edge edge) {
        if (read.none() || streams[read.stream].segments.empty()) return;  // the stream's own line failed
        const auto mistake = edge_mistake(dataflow, spec_.scratchpad, pass, edge, streams[read.stream]);
        if (mistake) line.fail(key, *mistake);
    };
    check("left", pass.left, Edge::Left);
    check("top", pass.top, Edge::Top);
    return pass;
}

void PassReader::check_edges(ProgramLine& line, Dataflow dataflow, const MatrixPass& pass) const {
    const bool os = dataflow == Dataflow::OutputStationary, direct = spec_.mxu.direct(dataflow);
    if (!direct && !pass.top.none())
        line.fail("top", "tiles come from the weight FIFO here (mxu.weight_fifo_tiles)");
    if (direct && pass.new_tile && !line.has("top"))
        line.fail("top", os ? "missing: an output-stationary array streams its weights"
                            : "missing: a new tile is shifted out of the scratchpad here");
    if (!os && !pass.new_tile && !pass.top.none()) line.fail("top", "nothing is shifted in with tile=keep");
    if (os && !pass.new_tile) line.fail("tile", "an output-stationary pass takes a tile of its own");
    if (pass.folds > 1 && !pass.new_tile) line.fail("folds", "a run of folds takes new tiles");
}

void PassReader::check_tile(ProgramLine& line, Dataflow dataflow, const MatrixPass& pass, Unit& unit) const {
    const PassShape shape = shape_of(dataflow, rate_of(pass), pass);
    if (!spec_.mxu.direct(dataflow)) unit.used += pass.new_tile;
    const bool set_up_anew = std::exchange(unit.dataflow, dataflow) != dataflow;
    if (pass.new_tile)
        unit.tile = shape;
    else if (!unit.tile)
        line.fail("tile", "no tile to keep: the first pass must take one");
    else if (set_up_anew)
        line.fail("tile", "no tile to keep: the pass before is of another dataflow");
    else if (unit.tile->rows != shape.rows || unit.tile->cols != shape.cols)
        line.fail("tile", fmt::format("the tile that is kept fills {}x{} PEs, not {}x{}", unit.tile->rows,
                                      unit.tile->cols, shape.rows, shape.cols));
}

void PassReader::finish(const std::function<void(std::string)>& fail) const {
    for (std::size_t i = 0; i < units_.size(); ++i) {
        if (units_[i].loaded == units_[i].used) continue;
        const int mxu = static_cast<int>(i) % spec_.mxu.count, core = static_cast<int>(i) / spec_.mxu.count;
        fail(fmt::format("{} loads {} tiles, the passes of {} use {}",
                         unit_name(unit_index(UnitKind::Weights, mxu, core), spec_.cores), units_[i].loaded,
                         unit_name(unit_index(UnitKind::Matrix, mxu, core), spec_.cores), units_[i].used));
    }
}

}  // namespace systole::systolic
