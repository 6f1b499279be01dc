// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/machine/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "models/devices/simt/machine/activity.h"
#include "models/devices/simt/machine/layer_times.h"
#include "models/devices/simt/machine/left_out_ctas.h"
#include "models/devices/simt/spec/simt_energy.h"
#include "sim/account/invariants.h"
#include "sim/base/check.h"

namespace systole::simt {
namespace {

/// What a kernel has done, as the device's table of energies calls it.
void add_operations(std::vector<OperationCount>& operations, const KernelPlan& plan,
                    const KernelAccount& account, const SmSpec& sm, DType dtype) {
    const auto add = [&](std::string name, double count) {
        if (const std::int64_t whole = std::llround(count); whole > 0)
            operations.push_back({std::move(name), whole});
    };
    // Other kernels multiply by plain instructions.
    const auto* gemm = std::get_if<GemmPlan>(&plan);
    if (gemm != nullptr || std::holds_alternative<AttentionPlan>(plan)) {
        // Lanes multiply in fp32 what tensor cores would take as it is.
        const bool lanes = gemm != nullptr && !gemm->kernel.on_tensor_cores();
        const bool widened = lanes && sm.issue_of(dtype) != TensorIssue::Lanes;
        add(mac_name(widened ? DType::Fp32 : dtype), static_cast<double>(account.macs));
    }
    const WarpActivity activity = activity_of(plan, account.ctas, account.steps, sm, dtype);
    add(kInstruction, activity.instructions);
    add(kRegisterByte, activity.register_bytes);
    add(kSharedByte, activity.shared_bytes);
    add(kFp32Operation, activity.fp32);
    add(kIntegerOperation, activity.integer);
    add(kSpecialOperation, activity.special);
}

class Rows {
public:
    /// Of the layers from `first` on.
    Rows(const Chip& chip, const SimtSpec& spec, const ChipPlan& plan, std::size_t first)
        : chip_(chip),
          spec_(spec),
          plan_(plan),
          first_(first),
          times_(plan.layers.size(), LayerTimes(spec.sm.count, spec.core_clock)),
          operations_(plan.layers.size()) {
        if (times_.empty()) return;
        if (spec.energy) count_operations();
        times_.front().add(SlotClass::Host, chip.copied_in());
        for (const SmArray::Record& kernel : chip.sms.records()) times_[kernel.layer].add(kernel);
        times_.back().add(SlotClass::Host, chip.end() - chip.computed());
    }

    std::vector<ResultRow> layers() const {
        std::vector<ResultRow> rows;
        Ticks begin;
        for (std::size_t i = first_; i < times_.size(); ++i) {
            const LayerPlan& plan = plan_.layers[i];
            ResultRow row;
            row.name = plan.name;
            row.op = plan.op;
            row.mapping = plan.mapping;
            row.begin = begin;
            row.end = begin = begin + times_[i].time();
            row.macs = plan.macs;
            row.matrix_macs = Macs(times_[i].macs());
            row.operations = operations_[i];
            row.slots = times_[i].slots(slots_of(plan.dtype));
            row.compulsory_dram = plan.compulsory_dram;
            row.movements = chip_.ledger.movements(i);
            row.dram_read = chip_.ledger.out_of(i, Place::Dram);
            row.dram_written = chip_.ledger.into(i, Place::Dram);
            fill(row, plan.dtype);
            row.bound_by = bound_by(times_[i].path(), row.roofline);
            rows.push_back(std::move(row));
        }
        return rows;
    }

    ResultRow total(const std::vector<ResultRow>& layers) const {
        ResultRow row;
        row.end = layers.empty() ? Ticks() : layers.back().end;
        for (const ResultRow& layer : layers) {
            row.macs += layer.macs;
            row.matrix_macs += layer.matrix_macs;
            row.dram_read += layer.dram_read;
            row.dram_written += layer.dram_written;
            for (std::size_t c = 0; c < kSlotClasses; ++c) row.slots[c] += layer.slots[c];
        }
        row.compulsory_dram = plan_.compulsory_dram;
        ByteLedger sum(1);
        for (const ResultRow& layer : layers)
            for (const Movement& m : layer.movements) sum.enter(0, m.from, m.to, m.operand, m.bytes);
        row.movements = sum.movements();
        fill(row, fastest());
        return row;
    }

    std::vector<CriticalStep> path() const { return path(times_.size()); }
    /// Of the layers before `end`.
    std::vector<CriticalStep> path(std::size_t end) const {
        LayerTimes all(spec_.sm.count, spec_.core_clock);
        for (std::size_t i = first_; i < end; ++i) all.append(times_[i]);
        return all.path();
    }

    /// Slot-ticks that the machine had, by its layers' formats and times.
    std::int64_t capacity(const std::vector<ResultRow>& layers) const {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < layers.size(); ++i)
            sum += spec_.macs_per_cycle(plan_.layers[first_ + i].dtype) * layers[i].time().value();
        return sum;
    }

    Peaks peaks(DType dtype) const {
        return {MacRate{spec_.macs_per_cycle(dtype)},
                0,
                {},
                spec_.memory.peak(),
                spec_.host.peak(),
                spec_.core_clock,
                spec_.chip_link ? spec_.chip_link->peak() : BytesPerSecond()};
    }

    /// The format of the layer that has the most MACs a cycle.
    DType fastest() const {
        DType dtype = plan_.layers.empty() ? DType::Bf16 : plan_.layers.front().dtype;
        for (const LayerPlan& layer : plan_.layers)
            if (spec_.macs_per_cycle(layer.dtype) > spec_.macs_per_cycle(dtype)) dtype = layer.dtype;
        return dtype;
    }

private:
    /// Records are of kernels in the order of the plan.
    void count_operations() {
        auto record = chip_.sms.records().begin();
        for (std::size_t i = 0; i < plan_.layers.size(); ++i)
            for (const KernelPlan& kernel : plan_.layers[i].kernels) {
                SYSTOLE_CHECK(record != chip_.sms.records().end() && record->layer == i,
                              "kernels of '{}' were not recorded in their order", plan_.layers[i].name);
                add_operations(operations_[i], kernel, record++->account, spec_.sm, plan_.layers[i].dtype);
            }
    }

    std::int64_t slots_of(DType dtype) const { return spec_.macs_per_cycle(dtype) / spec_.sm.count; }

    void fill(ResultRow& row, DType dtype) const {
        row.cycles = chip_.clock.at_or_after(row.end) - chip_.clock.at_or_after(row.begin);
        row.roofline = roofline(work_of(row), peaks(dtype));
    }

    const Chip& chip_;
    const SimtSpec& spec_;
    const ChipPlan& plan_;
    const std::size_t first_;
    std::vector<LayerTimes> times_;
    std::vector<std::vector<OperationCount>> operations_;
};

/// Of the layers from `first` on: what the last run of the network is reported with, or all runs together.
CheckedResult result_from(Chip& chip, const SimtSpec& spec, const ChipPlan& plan, std::size_t first) {
    const Rows rows(chip, spec, plan, first);
    CheckedResult checked;
    DeviceResult& result = checked.result;
    result.device = spec.name;
    result.trace = plan.trace;
    result.clock = spec.core_clock;
    result.memory = DramSpec::name_of(spec.memory.kind);
    result.peaks = rows.peaks(rows.fastest());
    for (std::size_t i = 0; i < kDTypes; ++i)
        if (const std::int64_t macs = spec.macs_per_cycle(static_cast<DType>(i)); macs > 0)
            result.dtypes.push_back({dtype_names()[i], MacRate{macs}});
    result.layers = rows.layers();
    result.total = rows.total(result.layers);
    result.critical_path = rows.path();
    result.total.bound_by = bound_by(result.critical_path, result.total.roofline);
    result.stats = chip.stats();
    result.tensors = plan.tensors;

    Expectations& expected = checked.expected;
    expected.capacity = rows.capacity(result.layers);
    for (std::size_t i = first; i < plan.layers.size(); ++i) expected.macs += plan.layers[i].macs;
    expected.peaks = result.peaks;
    // Places count everything that passed through them, whichever run it was for; the rest is the last run's.
    if (first == 0) {
        expected.ends = chip.ends();
        chip.dram.account_energy(result.energy);
        result.memory_bus = chip.memory_bus();
    }
    check_invariants(result, expected);
    SYSTOLE_CHECK(result.total.matrix_macs == expected.macs, "tensor cores did {} MACs of the operators' {}",
                  result.total.matrix_macs.value(), expected.macs.value());
    return checked;
}

/// What only rows know of a mark after so many layers.
void finish(Mark& mark, std::size_t layers, const DeviceResult& result, const Rows& rows,
            const ChipPlan& plan) {
    mark.layers = layers;
    SYSTOLE_CHECK(mark.time == result.layers[layers - 1].end, "a mark was met at {} ps, '{}' ended at {}",
                  mark.time.value(), result.layers[layers - 1].name, result.layers[layers - 1].end.value());
    mark.critical_path = rows.path(layers);
    for (std::size_t i = 0; i < layers; ++i) mark.compulsory_dram += plan.layers[i].stored;
}

}  // namespace

MarkedRun marked_run(Chip& chip, const SimtSpec& spec, const ChipPlan& plan, const Protocol& protocol,
                     const std::vector<std::size_t>& marks) {
    MarkedRun run{result_from(chip, spec, plan, 0), chip.marks(), spec.memory.longest_refresh(),
                  spec.longest_run()};
    run.checked.result.protocol = describe(protocol);
    SYSTOLE_CHECK(run.marks.size() == marks.size(), "{} of {} marks were met", run.marks.size(),
                  marks.size());
    const Rows rows(chip, spec, plan, 0);
    for (std::size_t i = 0; i < marks.size(); ++i)
        finish(run.marks[i], marks[i], run.checked.result, rows, plan);
    return run;
}

DeviceResult result_of(Chip& chip, const SimtSpec& spec, const ChipPlan& plan, const Protocol& protocol) {
    DeviceResult result = result_from(chip, spec, plan, 0).result;
    if (plan.first_reported > 0) {
        DeviceResult last = result_from(chip, spec, plan, plan.first_reported).result;
        last.energy = memory_share(result.energy, result.total, last.total);
        result = std::move(last);
    }
    result.protocol = describe(protocol);
    return result;
}

DeviceResult sampled_result(Chip& chip, const SimtSpec& spec, const ChipPlan& plan, const Protocol& protocol,
                            const CtaSample& sample) {
    if (!sample.left_out()) return result_of(chip, spec, plan, protocol);
    Macs done;
    for (const SmArray::Record& record : chip.sms.records()) done += Macs(record.account.macs);
    ChipPlan simulated = plan;
    LayerPlan& layer = simulated.layers.front();
    const SmArray::Record& kernel = chip.sms.records()[sample.turns().kernel];
    KernelAccount left_out;
    left_out.macs = (layer.macs - done).value();
    left_out.ctas = kernel.account.left_out;
    left_out.steps = kernel.account.steps / kernel.account.ctas * left_out.ctas;
    LeftOutWork work{layer.macs - done, {}};
    if (spec.energy)
        add_operations(work.operations, layer.kernels[sample.turns().kernel], left_out, spec.sm, layer.dtype);
    layer.macs = done;
    CheckedResult checked = result_from(chip, spec, simulated, 0);
    add_left_out(checked, *sample.left_out(), work, kernel, spec, layer.dtype);
    checked.result.protocol = describe(protocol);
    return std::move(checked.result);
}

}  // namespace systole::simt
