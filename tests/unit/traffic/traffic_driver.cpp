// SPDX-License-Identifier: Apache-2.0
#include "models/traffic/traffic_driver.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "tests/unit/memory/memory_specs.h"
#include "tests/unit/traffic/stepped_driver.h"

using namespace systole;
using Order = DriveOptions::Order;

namespace {

class ListSource : public RequestSource {
public:
    explicit ListSource(std::vector<MemoryRequest> requests) : requests_(std::move(requests)) {}
    bool next(MemoryRequest& request) override {
        if (at_ == requests_.size()) return false;
        request = requests_[at_++];
        return true;
    }

private:
    const std::vector<MemoryRequest> requests_;
    std::size_t at_ = 0;
};

/// One HBM2 channel or more, with its pseudo-channels, bursts in turn over all buses.
DramSpec stack(int channels, int pseudo_channels) {
    DramSpec spec = test::hbm2();
    spec.channels = channels;
    spec.pseudo_channels = pseudo_channels;
    spec.address_map = "ch bg2 co5 ba2 ro15";
    return spec;
}

struct Outcome {
    DriveResult result;
    std::vector<Served> served;  // by index
};

Outcome drive_all(const DramSpec& spec, const std::vector<MemoryRequest>& requests,
                  const DriveOptions& options) {
    DramSystem memory(spec);
    ListSource source(requests);
    Outcome outcome;
    outcome.result = drive(memory, source, options,
                           [&outcome](const Served& served) { outcome.served.push_back(served); });
    std::sort(outcome.served.begin(), outcome.served.end(),
              [](const Served& a, const Served& b) { return a.index < b.index; });
    return outcome;
}

std::vector<MemoryRequest> stream(std::int64_t count, Direction direction = Direction::Read) {
    std::vector<MemoryRequest> requests;
    for (std::int64_t i = 0; i < count; ++i) requests.push_back({Cycles(), i * 32, direction});
    return requests;
}

/// Streams, hot rows and random bursts in turn, with pauses.
std::vector<MemoryRequest> random_requests(std::mt19937_64& random, const DramSpec& spec) {
    std::vector<MemoryRequest> requests;
    const std::int64_t bursts = spec.capacity() / spec.burst_bytes;
    std::int64_t clock = 0, burst = 0;
    for (int i = 0; i < 300; ++i) {
        if (random() % 8 == 0)
            burst = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bursts));
        burst = random() % 3 == 0 ? (burst + 1 + static_cast<std::int64_t>(random() % 64)) % bursts
                                  : (burst + 1) % bursts;
        if (random() % 40 == 0) clock += static_cast<std::int64_t>(random() % 700);
        if (random() % 60 == 0) clock -= std::min<std::int64_t>(clock, 100);  // traces need not be in order
        requests.push_back(
            {Cycles(clock), burst * 32, random() % 3 == 0 ? Direction::Write : Direction::Read});
    }
    return requests;
}

template <class T>
T pick(std::mt19937_64& random, const std::vector<T>& values) {
    return values[random() % values.size()];
}

}  // namespace

TEST_CASE("the driver by events serves every request at the clocks of a loop over all clocks") {
    for (std::uint64_t seed = 1; seed <= 120; ++seed) {
        std::mt19937_64 random(seed);
        DramSpec spec = stack(pick<int>(random, {1, 2, 4}), pick<int>(random, {1, 2}));
        spec.queue = pick<int>(random, {1, 3, 8, 32});
        spec.writes = {std::max(1, spec.queue * 9 / 10), spec.queue / 10};
        spec.shared_queue = random() % 2 == 0;
        spec.page = pick<PagePolicy>(random, {PagePolicy::Open, PagePolicy::Closed, PagePolicy::Adaptive});
        spec.refresh =
            pick<RefreshPolicy>(random, {RefreshPolicy::Off, RefreshPolicy::AllBank, RefreshPolicy::PerBank});
        spec.patience = pick<int>(random, {4, 64, 4096});
        spec.row_hit_cap = pick<int>(random, {0, 4});
        spec.refresh_phase = Ticks(static_cast<std::int64_t>(random() % 3'900'000));
        DriveOptions options;
        options.order = random() % 2 == 0 ? Order::Fifo : Order::PerBus;
        options.window = pick<std::int64_t>(random, {0, 0, 1, 2, 7, 40});
        options.sends_per_clock = pick<std::int64_t>(random, {0, 1, 2, 5});
        const std::vector<MemoryRequest> requests = random_requests(random, spec);
        const std::vector<Served> expected = test::drive_stepped(spec, requests, options);
        const Outcome outcome = drive_all(spec, requests, options);
        CAPTURE(seed, spec.channels, spec.pseudo_channels, spec.queue, options.window,
                options.sends_per_clock, options.order == Order::Fifo);
        REQUIRE(outcome.served.size() == requests.size());
        for (std::size_t i = 0; i < requests.size(); ++i) {
            CAPTURE(i);
            REQUIRE(outcome.served[i].accepted == expected[i].accepted);
            REQUIRE(outcome.served[i].done == expected[i].done);
            REQUIRE(outcome.served[i].direction == requests[i].direction);
        }
    }
}

TEST_CASE("a request alone is done after ACT, RCD, CL and its burst, and the next is sent a clock later") {
    DramSpec spec = test::hbm2();
    spec.refresh = RefreshPolicy::Off;
    const Outcome outcome = drive_all(spec, stream(2), {.window = 1});
    CHECK(outcome.served[0].accepted == Cycles(0));
    CHECK(outcome.served[0].done == Cycles(1 + 14 + 14 + 2));
    CHECK(outcome.served[1].accepted == Cycles(32));
    CHECK(outcome.result.cycles == outcome.served[1].done);
    CHECK(outcome.result.read_latency.max() == Cycles(31));
}

TEST_CASE("one queue stops at a full window, a queue for each bus passes it") {
    DramSpec spec = stack(2, 1);
    spec.refresh = RefreshPolicy::Off;
    spec.queue = 1;
    // Two bursts of bus 0, then one of bus 1.
    const std::vector<MemoryRequest> requests{
        {Cycles(), 0, Direction::Read}, {Cycles(), 64, Direction::Read}, {Cycles(), 32, Direction::Read}};
    const std::vector<Served> in_order = drive_all(spec, requests, {.order = Order::Fifo}).served;
    CHECK(in_order[1].accepted > Cycles(0));
    CHECK(in_order[2].accepted == in_order[1].accepted);
    const std::vector<Served> by_bus = drive_all(spec, requests, {.order = Order::PerBus}).served;
    CHECK(by_bus[1].accepted > Cycles(0));
    CHECK(by_bus[2].accepted == Cycles(0));
}

TEST_CASE("the clocks of all buses have owners up to the end of the run") {
    const DramSpec spec = stack(2, 2);
    DramSystem memory(spec);
    ListSource source(stream(500));
    const DriveResult result = drive(memory, source, {});
    std::int64_t bursts = 0;
    for (int bus = 0; bus < memory.buses(); ++bus) {
        CHECK(memory.account(bus, result.cycles).total() == result.cycles.value());
        bursts += memory.stats(bus).read_bursts;
    }
    CHECK(bursts == 500);
    CHECK(result.reads == 500);
    CHECK(result.read_latency.count() == 500);
}

TEST_CASE("queues that look ahead little still serve everything") {
    const DramSpec spec = stack(4, 2);
    std::mt19937_64 random(7);
    const std::vector<MemoryRequest> requests = random_requests(random, spec);
    for (const std::int64_t lookahead : {1, 2, 9, 100}) {
        for (const std::int64_t window : {0, 3}) {
            const Outcome outcome = drive_all(
                spec, requests,
                {.order = Order::PerBus, .sends_per_clock = 3, .window = window, .lookahead = lookahead});
            CHECK(outcome.result.requests() == 300);
            for (const Served& served : outcome.served)
                CHECK(served.accepted >= requests[static_cast<std::size_t>(served.index)].clock);
        }
    }
}
