// SPDX-License-Identifier: Apache-2.0
// A device that runs what is small. How long others take is up to who asks for them, and no fault.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "sim/device/device.h"
#include "sim/workload/graph.h"

namespace systole::fuzz {

/// MACs and elements of all tensors together.
constexpr double kMostWork = 2e5;

/// Of all tensors.
inline double elements_of(const Graph& graph) {
    double sum = 0;
    for (const Tensor& tensor : graph.tensors) sum += static_cast<double>(elements(tensor.shape));
    return sum;
}

inline double work_of(const Graph& graph) {
    return static_cast<double>(total_macs(graph).value()) + elements_of(graph);
}

/// Every network that is larger is refused.
class SmallWork final : public Device {
public:
    explicit SmallWork(std::unique_ptr<Device> device) : device_(std::move(device)) {}

    bool supports(DType dtype) const override { return device_->supports(dtype); }
    bool replays() const override { return device_->replays(); }
    std::map<std::string, std::string> operator_defaults(const std::string& op) const override {
        return device_->operator_defaults(op);
    }
    std::string lower(const Graph& graph, const RunOptions& options) const override {
        return device_->lower(small(graph), options);
    }
    RunOutcome run(const Graph& graph, const RunOptions& options) const override {
        return device_->run(small(graph), options);
    }
    RunOutcome run_program(const std::string& text, const std::string& file,
                           const RunOptions& options) const override {
        return device_->run_program(text, file, options);
    }
    std::string explain(const Graph& graph, const Protocol& protocol) const override {
        return device_->explain(small(graph), protocol);
    }
    void list_signals(const Graph& graph, const RunOptions& options, SignalSink& signals) const override {
        device_->list_signals(small(graph), options, signals);
    }
    void trace(const Graph& graph, const RunOptions& options, WaveRecorder& wave) const override {
        device_->trace(small(graph), options, wave);
    }

private:
    static const Graph& small(const Graph& graph) {
        if (work_of(graph) > kMostWork) throw UserError("too much for a fuzzer");
        return graph;
    }

    std::unique_ptr<Device> device_;
};

}  // namespace systole::fuzz
