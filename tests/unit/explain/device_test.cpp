// SPDX-License-Identifier: Apache-2.0
// A kind of device that explains nothing says so.
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "sim/base/error.h"
#include "sim/device/device.h"

namespace systole {
namespace {

class Silent final : public Device {
public:
    bool supports(DType) const override { return true; }
    std::map<std::string, std::string> operator_defaults(const std::string&) const override { return {}; }
    std::string lower(const Graph&, const RunOptions&) const override { return ""; }
    RunOutcome run(const Graph&, const RunOptions&) const override { return {}; }
    void list_signals(const Graph&, const RunOptions&, SignalSink&) const override {}
    void trace(const Graph&, const RunOptions&, WaveRecorder&) const override {}
    RunOutcome run_program(const std::string&, const std::string&, const RunOptions&) const override {
        return {};
    }
};

}  // namespace

TEST_CASE("a device kind without explanations refuses, and names what there is instead") {
    CHECK_THROWS_AS(Silent().explain({}, {}), UserError);
    CHECK_THROWS_WITH(Silent().explain({}, {}), Catch::Contains("systole op"));
}

}  // namespace systole
