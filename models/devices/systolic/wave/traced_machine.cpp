// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/wave/traced_machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/wave/array_signals.h"
#include "sim/base/error.h"
#include "sim/base/text.h"

namespace systole::systolic {
namespace {

/// Asks a recorder about signals without declaring them.
class Question final : public SignalSink {
public:
    explicit Question(const WaveRecorder& wave) : wave_(wave) {}
    std::size_t add(WaveSignal signal, WaveReader) override {
        wanted_ = wanted_ || wave_.wants(signal.path);
        return kUnwanted;
    }
    bool wanted() const { return wanted_; }

private:
    const WaveRecorder& wave_;
    bool wanted_ = false;
};

/// Every matrix unit of every core.
std::vector<UnitIndex> matrix_units(const SystolicSpec& spec) {
    std::vector<UnitIndex> all;
    for (int core = 0; core < spec.cores; ++core)
        for (int mxu = 0; mxu < spec.mxu.count; ++mxu) all.push_back(unit_index(UnitKind::Matrix, mxu, core));
    return all;
}

bool wants_registers(const SystolicSpec& spec, const Program& program, const std::string& root,
                     const WaveRecorder& wave) {
    Question question(wave);
    for (const UnitIndex mxu : matrix_units(spec))
        if (!question.wanted())
            add_array_signals(fmt::format("{}.{}", root, unit_name(mxu, spec.cores)), spec, program, mxu,
                              nullptr, question);
    return question.wanted();
}

/// What the grid does not compute, though the machine does.
void refuse_rates(const SystolicSpec& spec, const Program& program) {
    for (const MatrixPass& pass : program.passes) {
        if (pass.sparsity > 1)
            throw UserError(fmt::format(
                "the PE grid, which has the registers, computes with all weights, and {} skips those "
                "that a pattern leaves out; write --set mxu.sparsity=none, or --signals without '*.pe_*', "
                "'*.acc_*' and edges",
                spec.name));
        if (const MacRate rate = spec.mxu.rate_of(pass.dtype, pass.second_dtype).value(); rate > MacRate{1})
            throw UserError(
                fmt::format("the PE grid, which has the registers, computes one MAC per PE and cycle, and "
                            "{0} has {1} of {2}; "
                            "write --set mxu.rate.{2}=1, another dtype, or --signals without '*.pe_*', "
                            "'*.acc_*' and edges",
                            spec.name, rate.macs, to_string(pass.dtype)));
    }
}

}  // namespace

void refuse_large_array(const SystolicSpec& spec) {
    const std::int64_t pes = std::int64_t{spec.mxu.rows} * spec.mxu.cols;
    if (pes > kMostTracedPes)
        throw UserError(fmt::format(
            "an array of {} x {} has {} PEs, too many to trace with any filter; the limit is {}: write --set "
            "mxu.rows=128 --set mxu.cols=128, or 'systole run --timeline'",
            spec.mxu.rows, spec.mxu.cols, with_thousands(pes), with_thousands(kMostTracedPes)));
}

SystolicSpec traced_machine(const SystolicSpec& spec, const Program& program, const std::string& root,
                            const WaveRecorder& wave) {
    refuse_large_array(spec);
    SystolicSpec traced = spec;
    traced.mxu.engine = EngineKind::Tile;
    if (!wants_registers(spec, program, root, wave)) return traced;
    refuse_rates(spec, program);
    traced.mxu.engine = EngineKind::Grid;
    // The grid holds every accumulator, and a machine without bounds has very many.
    std::size_t rows = 1;
    for (const UnitIndex mxu : matrix_units(spec))
        rows = std::max(rows, used_accumulator_rows(spec, program, mxu).size());
    traced.mxu.accumulator_rows = static_cast<std::int64_t>(rows);
    if (traced.mxu.accumulator_rows > kMaxGridAccumulators / (std::int64_t{spec.mxus()} * spec.mxu.cols))
        throw UserError(
            fmt::format("this run uses {} rows of {} accumulators in {} matrix units, more than the PE grid "
                        "holds; record a "
                        "smaller operator, or --signals without '*.pe_*', '*.acc_*' and edges",
                        with_thousands(traced.mxu.accumulator_rows), spec.mxu.cols, spec.mxus()));
    return traced;
}

}  // namespace systole::systolic
