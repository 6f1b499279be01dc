// SPDX-License-Identifier: Apache-2.0
// The DMA engine against targets that use the AT protocol in different legal ways.
#include "models/link/dma_engine.h"

#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_target_socket.h>
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "sim/kernel/kernel.h"
#include "sim/kernel/served_target.h"

namespace systole {
namespace {

/// Remembers every request; answers each `delay` later.
class Recorder {
public:
    explicit Recorder(Ticks delay) : delay_(delay) {}
    Ticks operator()(Ticks at, const tlm::tlm_generic_payload& payload) {
        requests.push_back({at, payload.get_address(), payload.get_data_length(), payload.is_write()});
        return at + delay_;
    }
    struct Request {
        Ticks at;
        std::uint64_t address;
        unsigned bytes;
        bool write;
    };
    std::vector<Request> requests;

private:
    Ticks delay_;
};

/// Accepts a request only `hold` after it came (END_REQ late), and answers at once after that.
class SlowAcceptor : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<SlowAcceptor> in{"in"};
    bool answer_without_end_req = false;
    int served = 0, most_waiting = 0;

    SlowAcceptor(sc_core::sc_module_name name, Ticks hold) : sc_module(name), hold_(hold) {
        in.register_nb_transport_fw(this, &SlowAcceptor::nb_transport_fw);
        SC_HAS_PROCESS(SlowAcceptor);
        SC_METHOD(serve);
        sensitive << due_.get_event();
        dont_initialize();
    }

private:
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                       sc_core::sc_time&) {
        most_waiting = std::max(most_waiting, ++waiting_);
        payload.acquire();
        due_.notify(payload, to_sc_time(hold_));
        return tlm::TLM_ACCEPTED;
    }
    void serve() {
        while (auto* payload = due_.get_next_transaction()) {
            --waiting_;
            ++served;
            sc_core::sc_time zero;
            if (!answer_without_end_req) {
                tlm::tlm_phase end = tlm::END_REQ;
                in->nb_transport_bw(*payload, end, zero);
            }
            payload->set_response_status(tlm::TLM_OK_RESPONSE);
            tlm::tlm_phase begin = tlm::BEGIN_RESP;
            in->nb_transport_bw(*payload, begin, zero);
            payload->release();
        }
    }
    Ticks hold_;
    int waiting_ = 0;
    tlm_utils::peq_with_get<tlm::tlm_generic_payload> due_{"due"};
};

/// What the owner of an engine hears.
struct Heard {
    std::vector<Ticks> requested, done;
    DmaEngine::Listener listener() {
        return {[this](auto) { requested.push_back(now()); }, [this](auto) { done.push_back(now()); }};
    }
};

const DmaSpec kSpec{.setup_cycles = Cycles(2), .in_flight = Bytes(200), .payload = Bytes(100)};
const ClockDomain kClock(Hertz(1'000'000'000));

}  // namespace

TEST_CASE("a descriptor is cut at rows and at the payload size, and keeps its strides", "[dma]") {
    const FreshKernel kernel;
    Heard heard;
    Recorder dram(Ticks(10'000)), pad(Ticks(1'000));
    ServedTarget dram_target("dram", std::ref(dram)), pad_target("pad", std::ref(pad));
    DmaEngine engine("dma", kSpec, kClock, heard.listener());
    engine.dram.bind(dram_target.in);
    engine.scratchpad.bind(pad_target.in);
    engine.start({{Place::Dram, 1000, 400}, {Place::Scratchpad, 0, 150}, 2, 150, Operand::Weights});
    CHECK_FALSE(engine.accepts());
    run_to_the_end();

    REQUIRE(dram.requests.size() == 4);
    const std::vector<std::pair<std::uint64_t, unsigned>> reads{
        {1000, 100}, {1100, 50}, {1400, 100}, {1500, 50}};
    const std::vector<std::pair<std::uint64_t, unsigned>> writes{{0, 100}, {100, 50}, {150, 100}, {250, 50}};
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(std::pair(dram.requests[i].address, dram.requests[i].bytes) == reads[i]);
        CHECK_FALSE(dram.requests[i].write);
        CHECK(std::pair(pad.requests[i].address, pad.requests[i].bytes) == writes[i]);
        CHECK(pad.requests[i].write);
    }
    // Up to 200 bytes at a time, so 100 and 50, twice: set-up 2 ns, then 10 ns read and 1 ns write each.
    CHECK(dram.requests[0].at == Ticks(2'000));
    CHECK(dram.requests[2].at == Ticks(13'000));
    CHECK(heard.done == std::vector{Ticks(24'000)});
    CHECK(engine.accepts());
    CHECK(engine.stats().bytes == 300);
}

TEST_CASE("rows back to back at both ends travel as one", "[dma]") {
    const FreshKernel kernel;
    Heard heard;
    Recorder dram(Ticks(1'000)), pad(Ticks(1'000));
    ServedTarget dram_target("dram", std::ref(dram)), pad_target("pad", std::ref(pad));
    DmaEngine engine("dma", kSpec, kClock, heard.listener());
    engine.dram.bind(dram_target.in);
    engine.scratchpad.bind(pad_target.in);
    engine.start({{Place::Dram, 0, 25}, {Place::Scratchpad, 0, 25}, 8, 25, Operand::Weights});
    run_to_the_end();
    CHECK(dram.requests.size() == 2);
}

TEST_CASE("a lookup takes the row that its number hashes to", "[dma]") {
    const FreshKernel kernel;
    Heard heard;
    Recorder dram(Ticks(10'000)), pad(Ticks(1'000));
    ServedTarget dram_target("dram", std::ref(dram)), pad_target("pad", std::ref(pad));
    DmaEngine engine("dma", kSpec, kClock, heard.listener());
    engine.dram.bind(dram_target.in);
    engine.scratchpad.bind(pad_target.in);
    engine.start({{Place::Dram, 4096, 64}, {Place::Scratchpad, 0, 64}, 2, 64, Operand::Weights, {1000, 0}});
    run_to_the_end();
    // The first numbers of splitmix64 (Steele, Lea and Flood 2014) seeded with 0 and 1 are e220a8397b1dcdaf
    // and 910a2dec89025cc1: as fractions of 2^64, rows 883 and 566 of 1000.
    REQUIRE(dram.requests.size() == 2);
    CHECK(dram.requests[0].address == 4096 + 883 * 64);
    CHECK(dram.requests[1].address == 4096 + 566 * 64);
    CHECK(pad.requests[0].address == 0);
    CHECK(pad.requests[1].address == 64);
}

TEST_CASE("a target that holds a request gets the next one only after END_REQ", "[dma]") {
    for (const bool silent : {false, true}) {
        const FreshKernel kernel;
        Heard heard;
        SlowAcceptor dram("dram", Ticks(5'000));
        dram.answer_without_end_req = silent;
        Recorder pad(Ticks(1'000));
        ServedTarget pad_target("pad", std::ref(pad));
        DmaEngine engine("dma", kSpec, kClock, heard.listener());
        engine.dram.bind(dram.in);
        engine.scratchpad.bind(pad_target.in);
        engine.start({{Place::Dram, 0, 0}, {Place::Scratchpad, 0, 0}, 1, 500, Operand::Weights});
        run_to_the_end();
        CHECK(dram.served == 5);
        CHECK(dram.most_waiting == 1);
        CHECK(heard.done == std::vector{Ticks(2'000 + 5 * 5'000 + 1'000)});
    }
}

TEST_CASE("descriptors finish in order even when a later one could finish first", "[dma]") {
    const FreshKernel kernel;
    Recorder dram(Ticks(50'000)), pad(Ticks(1'000));
    ServedTarget dram_target("dram", std::ref(dram)), pad_target("pad", std::ref(pad));
    std::vector<Ticks> done;
    DmaEngine* running = nullptr;
    DmaEngine engine(
        "dma", kSpec, kClock,
        {[&](auto) {
             if (running && running->stats().descriptors == 1)
                 running->start(
                     {{Place::Scratchpad, 0, 0}, {Place::Scratchpad, 512, 0}, 1, 10, Operand::Outputs});
         },
         [&](auto) { done.push_back(now()); }});
    running = &engine;
    engine.dram.bind(dram_target.in);
    engine.scratchpad.bind(pad_target.in);
    engine.start({{Place::Dram, 0, 0}, {Place::Scratchpad, 0, 0}, 1, 10, Operand::Weights});
    run_to_the_end();
    // The copy inside the scratchpad takes 2 ns but may not overtake the 51 ns read from DRAM.
    CHECK(done == std::vector{Ticks(53'000), Ticks(53'000)});
}

TEST_CASE("data under way when an earlier descriptor ends are the later one's still", "[dma]") {
    const FreshKernel kernel;
    Recorder dram(Ticks(50'000)), pad(Ticks(1'000));
    ServedTarget dram_target("dram", std::ref(dram)), pad_target("pad", std::ref(pad));
    std::vector<Ticks> done, at_source;
    DmaEngine* running = nullptr;
    DmaEngine engine(
        "dma", kSpec, kClock,
        {[&](auto) {
             if (running->stats().descriptors < 3)
                 running->start({{Place::Dram, 0, 0}, {Place::Scratchpad, 0, 0}, 1, 10, Operand::Weights});
         },
         [&](const DmaEngine::Split& split) {
             done.push_back(now());
             at_source.push_back(split.at_source);
         }});
    running = &engine;
    engine.dram.bind(dram_target.in);
    engine.scratchpad.bind(pad_target.in);
    engine.start({{Place::Dram, 0, 0}, {Place::Scratchpad, 0, 0}, 1, 10, Operand::Weights});
    run_to_the_end();
    // Set-ups of 2 ns follow each other; behind each of them a read of 50 ns and a write of 1 ns.
    CHECK(done == std::vector{Ticks(53'000), Ticks(55'000), Ticks(57'000)});
    CHECK(at_source == std::vector{Ticks(50'000), Ticks(50'000), Ticks(50'000)});
    CHECK(engine.accepts());
}

}  // namespace systole
