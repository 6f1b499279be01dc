// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/explain/array_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "sim/base/check.h"
#include "sim/base/text.h"

namespace systole::systolic {
namespace {

std::int64_t extent_of(const MatrixPass& pass, Extent extent, const MacRate& rate) {
    switch (extent) {
        case Extent::M:
            return pass.m;
        case Extent::N:
            return pass.n;
        case Extent::K:
            return ceil_div(pass.k, rate.macs);
    }
    return 0;
}

ArrayPass array_pass(const MatrixPass& pass, const Orientation& lies, const MacRate& rate) {
    const Tile tile{static_cast<int>(extent_of(pass, lies.rows, rate)),
                    static_cast<int>(extent_of(pass, lies.columns, rate))};
    return {tile,
            extent_of(pass, lies.streamed, rate),
            pass.new_tile,
            true,
            pass.accumulate,
            pass.accumulator_row,
            rate.cycles};
}

void add_cuts(ArrayWork& work, const MatrixPass& pass) {
    work.items = std::max(work.items, pass.origin.batch + 1);
    work.cuts[static_cast<std::size_t>(Extent::M)].add(pass.origin.m0, pass.m);
    work.cuts[static_cast<std::size_t>(Extent::N)].add(pass.origin.n0, pass.n);
    for (std::int64_t fold = 0; fold < pass.folds; ++fold)
        work.cuts[static_cast<std::size_t>(Extent::K)].add(pass.origin.k0 + fold * pass.k, pass.k);
}

void add_pass(ArrayWork& work, const MatrixPass& pass, std::vector<ArrayPass>& unit) {
    ArrayPass fold = array_pass(pass, orientation(work.array.dataflow), work.rate);
    for (std::int64_t i = 0; i < pass.folds; ++i) {
        if (!unit.empty()) unit.back().last_use = fold.new_tile;
        unit.push_back(fold);
        fold.accumulate = true;
        work.vectors += fold.vectors;
        work.tiles += fold.new_tile;
    }
    // K down the rows is counted element by element; where it streams, an odd end leaves MACs of a vector
    // idle.
    const bool streamed = orientation(work.array.dataflow).streamed == Extent::K;
    const std::int64_t deep = streamed ? fold.vectors * work.rate.macs : pass.k;
    const std::int64_t down = (streamed ? pass.m : fold.vectors) * deep;
    work.row_slots += pass.folds * down * work.array.cols;
    work.column_slots += pass.folds * down * fold.tile.cols;
    work.useful_slots += pass.macs().value();
}

}  // namespace

const char* to_string(Extent extent) {
    constexpr std::array kNames{"M", "N", "K"};
    return kNames[static_cast<std::size_t>(extent)];
}

Orientation orientation(Dataflow dataflow) {
    switch (dataflow) {
        case Dataflow::WeightStationary:
            return {Extent::K, Extent::N, Extent::M};
        case Dataflow::OutputStationary:
            return {Extent::M, Extent::N, Extent::K};
        case Dataflow::InputStationary:
            return {Extent::K, Extent::M, Extent::N};
    }
    return {};
}

std::int64_t Cut::extent() const {
    return pieces_.empty() ? 0 : pieces_.rbegin()->first + pieces_.rbegin()->second;
}

std::vector<std::pair<std::int64_t, std::int64_t>> Cut::lengths() const {
    std::map<std::int64_t, std::int64_t, std::greater<>> counts;
    for (const auto& piece : pieces_) ++counts[piece.second];
    return {counts.begin(), counts.end()};
}

std::string Cut::text() const {
    std::string text;
    std::int64_t named = 0, left = pieces();
    for (const auto& [length, count] : lengths()) {
        if (named == 3) return text + fmt::format(", {} shorter", with_thousands(left));
        text +=
            fmt::format("{}{} of {}", named == 0 ? "" : ", ", with_thousands(count), with_thousands(length));
        ++named;
        left -= count;
    }
    return text;
}

std::int64_t ArrayWork::passes() const {
    std::int64_t sum = 0;
    for (const auto& unit : units) sum += static_cast<std::int64_t>(unit.size());
    return sum;
}

std::int64_t ArrayWork::busy_units() const {
    return std::count_if(units.begin(), units.end(), [](const auto& unit) { return !unit.empty(); });
}

const ArrayPass& ArrayWork::typical() const {
    const ArrayPass* largest = nullptr;
    const auto size = [](const ArrayPass& p) { return p.vectors * p.tile.rows * p.tile.cols; };
    for (const auto& unit : units)
        for (const ArrayPass& pass : unit)
            if (largest == nullptr || size(pass) > size(*largest)) largest = &pass;
    SYSTOLE_CHECK(largest != nullptr, "there is no pass to draw");
    return *largest;
}

std::int64_t ArrayWork::slots() const {
    return vectors * array.rows * array.cols * rate.macs;
}

ArrayWork array_work(const Program& program, const SystolicSpec& spec) {
    SYSTOLE_CHECK(program.layers.size() == 1, "{} layers are explained as one operator",
                  program.layers.size());
    ArrayWork work;
    work.array = spec.array();
    work.rate =
        spec.mxu.rate_of(program.layers[0].dtype, program.layers[0].second_dtype).value_or(MacRate{1});
    work.units.resize(static_cast<std::size_t>(spec.mxus()));
    for (const Command& command : program.commands) {
        if (unit_kind(command.unit) == UnitKind::Weights) work.from_fifo = true;
        if (unit_kind(command.unit) != UnitKind::Matrix) continue;
        const MatrixPass& pass = program.pass(command);
        add_cuts(work, pass);
        const int unit = core_of(command.unit) * spec.mxu.count + mxu_of(command.unit);
        add_pass(work, pass, work.units[static_cast<std::size_t>(unit)]);
    }
    return work;
}

}  // namespace systole::systolic
