// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/transposing_device.h"

#include <utility>

#include "sim/workload/transposed_operands.h"

namespace systole::systolic {
namespace {

class TransposingDevice final : public Device {
public:
    explicit TransposingDevice(std::unique_ptr<Device> device) : device_(std::move(device)) {}

    bool supports(DType dtype) const override { return device_->supports(dtype); }
    std::map<std::string, std::string> operator_defaults(const std::string& op) const override {
        return device_->operator_defaults(op);
    }
    std::string lower(const Graph& graph, const RunOptions& options) const override {
        return device_->lower(transpose_operands(graph), options);
    }
    RunOutcome run(const Graph& graph, const RunOptions& options) const override {
        return device_->run(transpose_operands(graph), options);
    }
    RunOutcome run_program(const std::string& text, const std::string& file,
                           const RunOptions& options) const override {
        return device_->run_program(text, file, options);
    }
    std::string explain(const Graph& graph, const Protocol& protocol) const override {
        return device_->explain(transpose_operands(graph), protocol);
    }
    void list_signals(const Graph& graph, const RunOptions& options, SignalSink& signals) const override {
        device_->list_signals(transpose_operands(graph), options, signals);
    }
    void trace(const Graph& graph, const RunOptions& options, WaveRecorder& wave) const override {
        device_->trace(transpose_operands(graph), options, wave);
    }

private:
    const std::unique_ptr<Device> device_;
};

}  // namespace

std::unique_ptr<Device> with_transposes(std::unique_ptr<Device> device) {
    return std::make_unique<TransposingDevice>(std::move(device));
}

}  // namespace systole::systolic
