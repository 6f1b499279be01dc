// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/wave/array_signals.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "models/devices/systolic/program/pass_shape.h"

namespace systole::systolic {
namespace {

using Pe = PeState<std::int8_t, std::int32_t>;
using Form = WaveSignal::Form;
using Issued = std::optional<IssuedSum<std::int32_t>>;

/// One register of a PE: how it reads in the waveform, and where it is.
struct Register {
    const char* name;
    Form form;
    int width;
    WaveTint tint;
    const char* meaning;
    std::int64_t (*of)(const Pe&);
};

constexpr Register kMoving{"moving",
                           Form::Signed,
                           8,
                           WaveTint::Moving,
                           "operand from the left neighbour",
                           [](const Pe& pe) -> std::int64_t { return pe.moving; }};
constexpr Register kStationary{"stationary",
                               Form::Signed,
                               8,
                               WaveTint::Stationary,
                               "operand of the tile; os: on its way down",
                               [](const Pe& pe) -> std::int64_t { return pe.stationary; }};
constexpr Register kShadow{"shadow",
                           Form::Signed,
                           8,
                           WaveTint::Stationary,
                           "operand of the next tile, being shifted in",
                           [](const Pe& pe) -> std::int64_t { return pe.shadow; }};
constexpr Register kSum{"sum",
                        Form::Signed,
                        32,
                        WaveTint::Sum,
                        "partial sum, on its way down; os: the output, in place",
                        [](const Pe& pe) -> std::int64_t { return pe.sum; }};
constexpr Register kResult{"result",
                           Form::Signed,
                           32,
                           WaveTint::Sum,
                           "finished output on its way down",
                           [](const Pe& pe) -> std::int64_t { return pe.result; }};
constexpr Register kValid{"valid",
                          Form::Bit,
                          1,
                          WaveTint::Control,
                          "a vector is multiplied in this cycle",
                          [](const Pe& pe) -> std::int64_t { return pe.valid; }};
constexpr Register kReal{"real",
                         Form::Bit,
                         1,
                         WaveTint::Control,
                         "the PE lies inside its tile; otherwise it computes padding",
                         [](const Pe& pe) -> std::int64_t { return pe.real; }};

class Array {
public:
    Array(const std::string& path, const SystolicSpec& spec, const Program& program, const MatrixUnit* unit,
          SignalSink& sink)
        : path_(path),
          mxu_(spec.mxu),
          shadow_(spec.mxu.shadow_register && (program.mixes_dataflows() || !outputs_stay(program.dataflow))),
          result_(!spec.faults.os_without_shift_out &&
                  (program.mixes_dataflows() || outputs_stay(program.dataflow))),
          unit_(unit),
          sink_(sink) {}

    void add_edges() {
        for (int row = 0; row < mxu_.rows; ++row)
            add("left.row", row, kMoving, row, 0, "operand that enters this row in this cycle");
        for (int row = 0; row < mxu_.rows; ++row)
            add("left.valid", row, kValid, row, 0, "it belongs to a vector");
        for (int col = 0; col < mxu_.cols; ++col) add_way_in(col);
        for (int col = 0; col < mxu_.cols; ++col)
            sink_.add({fmt::format("{}.shift.col_{}", path_, col),
                       Form::Bit,
                       1,
                       WaveTint::Control,
                       "a tile moves into this column; os: finished outputs move down it",
                       nullptr,
                       {}},
                      [unit = unit_, col]() -> std::int64_t { return unit->grid().shifting(col); });
        for (int col = 0; col < mxu_.cols; ++col)
            add_way_out("bottom.col", col,
                        {Form::Signed, 32, WaveTint::Sum, "sum that leaves this column in this cycle"},
                        [](const Issued& issued) -> std::int64_t { return issued ? issued->sum : 0; });
        for (int col = 0; col < mxu_.cols; ++col)
            add_way_out("bottom.valid", col,
                        {Form::Bit, 1, WaveTint::Control, "a sum leaves: it is given to the accumulators"},
                        [](const Issued& issued) -> std::int64_t { return issued.has_value(); });
        for (int col = 0; col < mxu_.cols; ++col)
            sink_.add({fmt::format("{}.written.col_{}", path_, col),
                       Form::Unsigned,
                       32,
                       WaveTint::Sum,
                       "accumulator row that this column has written in this cycle",
                       nullptr,
                       {}},
                      [unit = unit_, col] { return unit->grid().written(col).value_or(kNoWaveValue); });
    }

    void add_pes() {
        for (int row = 0; row < mxu_.rows; ++row)
            for (int col = 0; col < mxu_.cols; ++col) {
                const std::string pe = fmt::format("{}.pe_{}_{}.", path_, row, col);
                for (const Register* held : registers()) add(pe + held->name, *held, row, col, held->meaning);
            }
    }

    void add_accumulators(const std::vector<bool>& used) {
        const auto rows =
            std::min(used.size(), static_cast<std::size_t>(kMostTracedAccumulators / mxu_.cols));
        for (std::size_t row = 0; row < rows; ++row)
            for (int col = 0; used[row] && col < mxu_.cols; ++col)
                sink_.add({fmt::format("{}.acc_{}.col_{}", path_, row, col),
                           Form::Signed,
                           32,
                           WaveTint::Sum,
                           "sum that can be read",
                           nullptr,
                           {}},
                          [unit = unit_, row = static_cast<std::int32_t>(row), col]() -> std::int64_t {
                              return unit->grid().accumulator(row, col);
                          });
    }

private:
    static bool outputs_stay(Dataflow dataflow) { return dataflow == Dataflow::OutputStationary; }
    /// Those of all dataflows that the program uses; what one lacks reads as zero meanwhile.
    std::vector<const Register*> registers() const {
        std::vector<const Register*> all{&kMoving, &kStationary};
        if (shadow_) all.push_back(&kShadow);
        all.push_back(&kSum);
        if (result_) all.push_back(&kResult);
        all.insert(all.end(), {&kValid, &kReal});
        return all;
    }
    /// What comes from above goes into the shadow register, where tiles have one, or falls.
    void add_way_in(int col) {
        sink_.add({fmt::format("{}.top.col_{}", path_, col),
                   Form::Signed,
                   8,
                   WaveTint::Stationary,
                   "operand that has entered this column from above",
                   nullptr,
                   {}},
                  [shadow = shadow_, unit = unit_, col]() -> std::int64_t {
                      const Pe pe = unit->grid().pe(0, col);
                      return shadow && !outputs_stay(unit->set_up_for()) ? pe.shadow : pe.stationary;
                  });
    }

    /// How a signal reads in the waveform.
    struct Look {
        Form form;
        int width;
        WaveTint tint;
        const char* meaning;
    };
    /// What a column gives its accumulators: out of the last row, or over its bus.
    void add_way_out(const char* edge, int col, const Look& look, std::int64_t (*of)(const Issued&)) {
        sink_.add({fmt::format("{}.{}_{}", path_, edge, col),
                   look.form,
                   look.width,
                   look.tint,
                   look.meaning,
                   nullptr,
                   {}},
                  [of, unit = unit_, col] { return of(unit->grid().issued(col)); });
    }
    void add(const char* edge, int index, const Register& held, int row, int col, const char* meaning) {
        add(fmt::format("{}.{}_{}", path_, edge, index), held, row, col, meaning);
    }
    void add(std::string path, const Register& held, int row, int col, const char* meaning) {
        WaveReader read = [this_of = held.of, unit = unit_, row = static_cast<std::int16_t>(row),
                           col = static_cast<std::int16_t>(col)] {
            return this_of(unit->grid().pe(row, col));
        };
        sink_.add({std::move(path), held.form, held.width, held.tint, meaning, nullptr, {}}, std::move(read));
    }

    const std::string& path_;
    const MxuSpec& mxu_;
    const bool shadow_, result_;  // PEs have these registers
    const MatrixUnit* unit_;
    SignalSink& sink_;
};

}  // namespace

std::vector<bool> used_accumulator_rows(const SystolicSpec& spec, const Program& program, UnitIndex mxu) {
    std::vector<bool> used;
    for (const Command& command : program.commands) {
        if (command.unit != mxu) continue;
        const MatrixPass& pass = program.pass(command);
        const MacRate rate = spec.mxu.rate_of(pass.dtype, pass.second_dtype).value();
        const auto first = static_cast<std::size_t>(pass.accumulator_row);
        const auto rows =
            static_cast<std::size_t>(shape_of(program.dataflow_of(command), rate, pass).accumulator_rows);
        if (used.size() < first + rows) used.resize(first + rows);
        std::fill_n(used.begin() + pass.accumulator_row, rows, true);
    }
    return used;
}

void add_array_signals(const std::string& path, const SystolicSpec& spec, const Program& program,
                       UnitIndex mxu, const MatrixUnit* unit, SignalSink& sink) {
    Array array(path, spec, program, unit, sink);
    array.add_edges();
    array.add_pes();
    array.add_accumulators(used_accumulator_rows(spec, program, mxu));
}

}  // namespace systole::systolic
