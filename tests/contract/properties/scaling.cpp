// SPDX-License-Identifier: Apache-2.0
// How time grows with work and with what the machine has: between bounds that hold for any machine, and by
// the slopes that a formula gives where the work is large. Limits of power are out of reach here, for they
// make long runs slower than short ones by design.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "sim/workload/trace.h"
#include "tests/support/random_case.h"

namespace systole::test {
namespace {

using Keys = std::map<std::string, std::string>;

/// A shipped device, and how much longer than twice a run of twice the work may take there: kernels are those
/// that libraries choose, tile by tile and wave by wave, and a choice may turn out worse for the longer run.
struct Shipped {
    Kind kind;
    std::string name;
    double slack;
};
const std::vector<Shipped> kShipped{{Kind::Systolic, "tpu_v4", 0.02},
                                    {Kind::Systolic, "teaching_4x4", 0.02},
                                    {Kind::Simt, "h100", 0.10},
                                    {Kind::Simt, "a100", 0.20}};

class Machine {
public:
    explicit Machine(const Shipped& shipped, Settings more = {}) {
        Case drawn;
        drawn.kind = shipped.kind;
        drawn.device = "device: Mine\nextends: " + shipped.name + "\n";
        if (shipped.kind == Kind::Simt) more.emplace_back("power.cap", "100000 W");
        device_ = device_of(drawn, more);
    }
    ResultRow run(const std::string& op, Keys keys) const {
        keys.try_emplace("dtype", "bf16");
        if (!device_->supports(DType::Bf16)) keys["dtype"] = "int8";
        return device_->run(single_operator(op, keys, {"scaling"}), {Protocol::of_op()}).result.total;
    }
    ResultRow product(std::int64_t m, std::int64_t n, std::int64_t k) const {
        return run("matmul", {{"m", fmt::to_string(m)}, {"n", fmt::to_string(n)}, {"k", fmt::to_string(k)}});
    }
    ResultRow attention(std::int64_t batch, std::int64_t queries, std::int64_t keys) const {
        return run("attention", {{"batch", fmt::to_string(batch)},
                                 {"q_len", fmt::to_string(queries)},
                                 {"kv_len", fmt::to_string(keys)},
                                 {"heads", "8"},
                                 {"kv_heads", "2"},
                                 {"head_dim", "64"}});
    }

private:
    std::unique_ptr<Device> device_;
};

double ps(const ResultRow& row) {
    return static_cast<double>(row.time().value());
}

/// Twice the work: no less time, at most twice the time and the slack, and no less than the roofline.
void check_doubling(const ResultRow& once, const ResultRow& twice, double slack) {
    CHECK(ps(twice) >= ps(once));
    CHECK(ps(twice) <= 2 * ps(once) * (1 + slack));
    CHECK(twice.cycles >= twice.roofline.floor());
}

}  // namespace

TEST_CASE("a product of twice the rows, columns or depth takes at most twice the time", "[properties]") {
    for (const Shipped& shipped : kShipped) {
        const Machine machine(shipped);
        const std::int64_t most = shipped.name == "teaching_4x4" ? 60 : 1000;
        std::mt19937_64 dice(7);
        for (int i = 0; i < 3; ++i) {
            const auto extent = [&] {
                return std::uniform_int_distribution<std::int64_t>(most / 8, most)(dice);
            };
            const std::int64_t m = extent(), n = extent(), k = extent();
            INFO(shipped.name << " " << m << " x " << n << " x " << k);
            const ResultRow once = machine.product(m, n, k);
            check_doubling(once, machine.product(2 * m, n, k), shipped.slack);
            check_doubling(once, machine.product(m, 2 * n, k), shipped.slack);
            check_doubling(once, machine.product(m, n, 2 * k), shipped.slack);
        }
    }
}

TEST_CASE("large products grow as their MACs do, and come near the stated peak", "[properties]") {
    // What is left of the peak at 4096 x 4096 x 4096: of an array fill and the last store; of a GPU
    // prologues, epilogues and the last wave.
    const std::map<std::string, double> least{{"tpu_v4", 0.985}, {"h100", 0.88}, {"a100", 0.86}};
    for (const Shipped& shipped : kShipped) {
        if (!least.contains(shipped.name)) continue;
        INFO(shipped.name);
        const Machine machine(shipped);
        const ResultRow half = machine.product(2048, 4096, 4096), whole = machine.product(4096, 4096, 4096),
                        twice = machine.product(8192, 4096, 4096);
        CHECK(whole.utilization() > least.at(shipped.name));
        CHECK(whole.utilization() > half.utilization());
        CHECK(whole.utilization() < 1);
        // The slope is that of the roofline, by no more than what is lost to it anyway.
        const double slope = static_cast<double>((twice.cycles - whole.cycles).value());
        const double bound = static_cast<double>(
            (twice.roofline.at(Level::Compute) - whole.roofline.at(Level::Compute)).value());
        CHECK(slope >= bound);
        CHECK(slope <= bound / least.at(shipped.name));
    }
}

TEST_CASE("attention grows by the square of a prompt and in proportion to a cache", "[properties]") {
    for (const Shipped& shipped : kShipped) {
        if (shipped.name == "teaching_4x4") continue;
        INFO(shipped.name);
        const Machine machine(shipped);
        std::vector<double> prompts, steps;
        for (const std::int64_t tokens : {512, 1024, 2048})
            prompts.push_back(ps(machine.attention(2, tokens, tokens)));
        for (const std::int64_t tokens : {4096, 8192, 16384})
            steps.push_back(ps(machine.attention(8, 1, tokens)));
        for (std::size_t i = 1; i < prompts.size(); ++i) {
            CHECK(prompts[i] > prompts[i - 1]);
            CHECK(prompts[i] <= 4 * prompts[i - 1] * 1.02);
            CHECK(steps[i] > steps[i - 1]);
            CHECK(steps[i] <= 2 * steps[i - 1] * 1.02);
        }
        CHECK(prompts[2] >= 2.9 * prompts[1]);
        CHECK(steps[2] >= 1.6 * steps[1]);  // of a GPU a launch and an uneven last wave remain
    }
}

TEST_CASE("twice the batch takes at most twice the time, and twice the memory's channels at least half",
          "[properties]") {
    for (const Shipped& shipped : kShipped) {
        if (shipped.name == "teaching_4x4") continue;
        INFO(shipped.name);
        const Machine machine(shipped);
        // A decode step's product: bound by the memory.
        const Keys product{{"m", "16"}, {"n", "8192"}, {"k", "4096"}};
        const ResultRow once = machine.run("matmul", product);
        check_doubling(machine.attention(4, 1, 8192), machine.attention(8, 1, 8192), shipped.slack);
        const char* const channels = shipped.name == "tpu_v4" ? "32" : "128";
        const ResultRow wide = Machine(shipped, {{"memory.channels", channels}}).run("matmul", product);
        CHECK(ps(wide) <= 1.02 * ps(once));
        CHECK(ps(wide) >= ps(once) / 2);
    }
}

}  // namespace systole::test
