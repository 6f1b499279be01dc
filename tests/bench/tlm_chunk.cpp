// SPDX-License-Identifier: Apache-2.0
// What a TLM chunk costs: nanoseconds a transaction and a 32-byte burst through the sockets of the DRAM
// module, and what is left of it when the same shares go into the plain channels at the same times. Not a
// test: it only prints. Run from the repository's root.
#include <fmt/format.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <systemc>
#include <vector>

#include "models/memory/config/dram_config.h"
#include "models/memory/dram.h"
#include "sim/kernel/kernel.h"
#include "sim/kernel/payload_pool.h"

namespace {

using namespace systole;

constexpr int kRepetitions = 5;
constexpr std::int64_t kTotal = std::int64_t{64} << 20;  // bytes
constexpr int kInFlight = 8;

/// `bytes` at i * `stride`; every `writes`-th is a write, none if 0.
struct Traffic {
    const char* name;
    unsigned bytes;
    std::uint64_t stride;
    std::int64_t writes;
    std::int64_t chunks() const { return kTotal / bytes; }
    std::uint64_t address(std::int64_t i) const {
        const std::uint64_t wrapped = (std::uint64_t{8} << 30) / stride;
        return static_cast<std::uint64_t>(i) % wrapped * stride;
    }
    bool write(std::int64_t i) const { return writes > 0 && i % writes == 0; }
};

struct Arrival {
    Ticks at;
    std::int64_t chunk;
};

/// Keeps kInFlight chunks under way.
class Initiator : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<Initiator> out{"out"};
    std::vector<Arrival> arrivals;

    Initiator(sc_core::sc_module_name name, const Traffic& traffic) : sc_module(name), traffic_(traffic) {
        out.register_nb_transport_bw(this, &Initiator::backward);
        arrivals.reserve(static_cast<std::size_t>(traffic.chunks()));
        SC_HAS_PROCESS(Initiator);
        SC_METHOD(send);
        sensitive << wake_;
    }

private:
    void send() {
        while (!requesting_ && under_way_ < kInFlight && next_ < traffic_.chunks()) {
            tlm::tlm_generic_payload* payload = pool_.acquire();
            payload->set_address(traffic_.address(next_));
            payload->set_data_length(traffic_.bytes);
            payload->set_streaming_width(traffic_.bytes);
            payload->set_command(traffic_.write(next_) ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
            arrivals.push_back({now(), next_++});
            ++under_way_;
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_core::sc_time delay;
            requesting_ = out->nb_transport_fw(*payload, phase, delay) == tlm::TLM_ACCEPTED;
        }
    }
    tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
        wake_.notify(sc_core::SC_ZERO_TIME);
        if (phase == tlm::END_REQ) {
            requesting_ = false;
            return tlm::TLM_ACCEPTED;
        }
        --under_way_;
        payload.release();
        return tlm::TLM_COMPLETED;
    }

    const Traffic traffic_;
    PayloadPool<tlm::tlm_generic_payload> pool_;
    std::int64_t next_ = 0;
    int under_way_ = 0;
    bool requesting_ = false;
    sc_core::sc_event wake_;
};

double seconds_of(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The same shares into plain channels.
double plain_seconds(const DramSpec& spec, const Traffic& traffic, const std::vector<Arrival>& arrivals) {
    const AddressMap map(spec);
    const ClockDomain clock(spec.clock);
    std::vector<DramChannel> channels;
    for (int i = 0; i < spec.channels; ++i) channels.emplace_back(spec, map);
    std::vector<ChannelShare> shares;
    std::vector<DramChannel::Completion> done;
    return seconds_of([&] {
        for (const Arrival& arrival : arrivals) {
            shares.clear();
            map.split(static_cast<std::int64_t>(traffic.address(arrival.chunk)), Bytes(traffic.bytes),
                      shares);
            const Cycles now = clock.at_or_after(arrival.at);
            for (const ChannelShare& share : shares) {
                DramChannel& channel = channels[static_cast<std::size_t>(share.bus / spec.pseudo_channels)];
                channel.push(share.bus % spec.pseudo_channels, arrival.chunk, share.first, share.count,
                             traffic.write(arrival.chunk) ? Direction::Write : Direction::Read, now);
                done.clear();
                channel.advance(now, done);
            }
        }
        for (DramChannel& channel : channels)
            for (Cycles now = channel.next_event(); now != Cycles::max(); now = channel.next_event())
                done.clear(), channel.advance(now, done);
    });
}

}  // namespace

int sc_main(int, char**) {
    auto memory = config::Config::from_document(
        config::load_yaml("configs/memory/hbm2_tpu_v4.yaml"), [](const std::string& name, const SourceMark&) {
            return config::load_yaml("configs/memory/" + name + ".yaml");
        });
    const DramSpec spec = read_dram_spec(memory.root());
    memory.finish();
    fmt::print("{:<28}{:>10}{:>10}{:>12}{:>12}{:>14}\n", "HBM2, 32 data buses", "chunks", "ns/chunk",
               "ns/burst", "plain", "TLM ns/chunk");
    for (const Traffic& traffic :
         {Traffic{"stream of 32 KiB", 32768, 32768, 0}, Traffic{"stream of 4 KiB", 4096, 4096, 0},
          Traffic{"stream of 256 B", 256, 256, 0}, Traffic{"2 KiB every 24 KiB", 2048, 24576, 0},
          Traffic{"2 KiB, a third writes", 2048, 24576, 3}}) {
        double through = 1e9, plain = 1e9;
        for (int n = 0; n < kRepetitions; ++n) {
            const FreshKernel kernel;
            Dram dram("dram", spec);
            Initiator initiator("initiator", traffic);
            initiator.out.bind(dram.in);
            through = std::min(through, seconds_of([] { run_to_the_end(); }));
            plain = std::min(plain, plain_seconds(spec, traffic, initiator.arrivals));
        }
        const auto chunks = static_cast<double>(traffic.chunks());
        fmt::print("{:<28}{:>10}{:>10.0f}{:>12.1f}{:>12.1f}{:>14.0f}\n", traffic.name, traffic.chunks(),
                   through / chunks * 1e9, through / (kTotal / 32) * 1e9, plain / (kTotal / 32) * 1e9,
                   (through - plain) / chunks * 1e9);
    }
    return 0;
}
