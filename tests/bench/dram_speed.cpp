// SPDX-License-Identifier: Apache-2.0
// What a request costs in DramChannel, without SystemC, over requests that are already decoded: 32-byte
// bursts sent in order as fast as the windows take them, to one pseudo-channel (one a clock) and to a stack
// of eight channels with two each (up to 16 a clock, all waiting behind the first that finds no room), with
// queues of their own or shared by two; and streams handed over as descriptors. The best of several
// repetitions; all of them, or those whose name has what is given. Not a test: it only prints.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <random>
#include <string_view>
#include <vector>

#include "models/memory/addresses/address_map.h"
#include "models/memory/controller/dram_channel.h"
#include "tests/unit/memory/memory_specs.h"

namespace {

using namespace systole;

constexpr int kRepetitions = 5;
constexpr std::int64_t kRequests = 400'000;
constexpr int kSendsPerClock = 16;

struct Request {
    int channel, pseudo_channel;
    std::int64_t local;
    Direction direction;
};

DramSpec one_pseudo_channel() {
    return test::hbm2();
}

DramSpec stack() {
    DramSpec spec = test::hbm2();
    spec.channels = 8;
    spec.pseudo_channels = 2;
    spec.address_map = "ch4 bg2 co5 ba2 ro15";
    return spec;
}

/// As above, but the two pseudo-channels of a channel share their entries, as in hbm2_golden_stack.
DramSpec golden_stack() {
    DramSpec spec = stack();
    spec.queue = 64;
    spec.shared_queue = true;
    spec.writes = {52, 12};
    return spec;
}

enum class Pattern { Stream, Random, Mixed };

/// Mixed: half a stream, half random, one write in three.
std::vector<Request> requests_of(const DramSpec& spec, const AddressMap& map, Pattern pattern) {
    std::mt19937_64 random(1);
    const std::int64_t bursts = spec.capacity() / spec.burst_bytes;
    std::vector<Request> made;
    std::int64_t next = 0;
    for (std::int64_t i = 0; i < kRequests; ++i) {
        const bool jump = pattern == Pattern::Random || (pattern == Pattern::Mixed && random() % 2 == 0);
        const auto burst =
            jump ? static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bursts)) : next++;
        const bool write = pattern == Pattern::Mixed && random() % 3 == 0;
        const ChannelShare share = map.share_of(burst * spec.burst_bytes.value());
        made.push_back({share.bus / spec.pseudo_channels, share.bus % spec.pseudo_channels, share.first,
                        write ? Direction::Write : Direction::Read});
    }
    return made;
}

/// Of the processor's time, so that neighbours on the machine count little.
double best_seconds_of(const auto& work) {
    double best = 1e9;
    for (int n = 0; n < kRepetitions; ++n) {
        const std::clock_t begin = std::clock();
        work();
        best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    return best;
}

/// Lets the channel run to the end of all it has; answers the clock at which that is.
Cycles drain(DramChannel& channel, Cycles now, std::vector<DramChannel::Completion>& done) {
    while (!channel.idle()) {
        now = channel.next_event();
        done.clear();
        channel.advance(now, done);
    }
    return now;
}

Cycles drive(const DramSpec& spec, const AddressMap& map, const std::vector<Request>& requests,
             int sends_per_clock) {
    std::vector<DramChannel> channels;
    for (int i = 0; i < spec.channels; ++i) channels.emplace_back(spec, map);
    std::vector<DramChannel::Completion> done;
    Cycles now;
    int sent = 0;
    std::int64_t id = 0;
    for (const Request& request : requests) {
        if (sent == sends_per_clock) now += Cycles(1), sent = 0;
        DramChannel& channel = channels[static_cast<std::size_t>(request.channel)];
        const int bus = request.pseudo_channel;
        const Cycles room = channel.wait_for_room(bus, request.direction, now, Cycles::max());
        if (room > now) now = room, sent = 0;
        done.clear();
        channel.advance(now, done);
        channel.push(bus, id++, request.local, 1, request.direction, now);
        ++sent;
    }
    Cycles end;
    for (DramChannel& channel : channels) end = std::max(end, drain(channel, now, done));
    return end;
}

void print(const char* what, std::int64_t requests, double seconds, double clocks) {
    fmt::print("{:34} {:7.2f} ns a burst, {:5.2f} clocks a burst\n", what,
               seconds * 1e9 / static_cast<double>(requests), clocks / static_cast<double>(requests));
}

std::string_view wanted;

bool is_wanted(const char* what) {
    return std::string_view(what).find(wanted) != std::string_view::npos;
}

void bench_requests(const char* what, const DramSpec& spec, int sends_per_clock, Pattern pattern) {
    if (!is_wanted(what)) return;
    const AddressMap map(spec);
    const std::vector<Request> requests = requests_of(spec, map, pattern);
    Cycles end;
    const double seconds = best_seconds_of([&] { end = drive(spec, map, requests, sends_per_clock); });
    print(what, kRequests, seconds, static_cast<double>(end.value()));
}

/// Each pseudo-channel streams through descriptors of `length` bursts, several of which wait at its door.
void bench_descriptors(const char* what, int pseudo_channels, std::int64_t length, Direction direction) {
    if (!is_wanted(what)) return;
    DramSpec spec = test::hbm2();
    spec.pseudo_channels = pseudo_channels;
    if (pseudo_channels == 2) spec.address_map = "ch1 bg2 co5 ba2 ro15";
    const AddressMap map(spec);
    const std::int64_t each = 8'000'000 / pseudo_channels / length * length;
    Cycles end;
    const double seconds = best_seconds_of([&] {
        DramChannel channel(spec, map);
        std::vector<DramChannel::Completion> done;
        Cycles now;
        std::int64_t id = 0;
        for (std::int64_t at = 0; at < each || !channel.idle();) {
            for (; at < each && channel.at_door(0, direction) < 4; at += length)
                for (int bus = 0; bus < pseudo_channels; ++bus)
                    channel.push(bus, id++, at, length, direction, now);
            now = channel.next_event();
            done.clear();
            channel.advance(now, done);
        }
        end = now;
    });
    print(what, each * pseudo_channels, seconds, static_cast<double>(end.value()));
}

}  // namespace

int main(int count, char** words) {
    if (count > 1) wanted = words[1];
    bench_requests("one pseudo-channel, stream", one_pseudo_channel(), 1, Pattern::Stream);
    bench_requests("one pseudo-channel, random", one_pseudo_channel(), 1, Pattern::Random);
    bench_requests("one pseudo-channel, mixed", one_pseudo_channel(), 1, Pattern::Mixed);
    bench_requests("stack, stream", stack(), kSendsPerClock, Pattern::Stream);
    bench_requests("stack, random", stack(), kSendsPerClock, Pattern::Random);
    bench_requests("stack, mixed", stack(), kSendsPerClock, Pattern::Mixed);
    bench_requests("golden stack, stream", golden_stack(), kSendsPerClock, Pattern::Stream);
    bench_requests("golden stack, random", golden_stack(), kSendsPerClock, Pattern::Random);
    bench_descriptors("descriptors of 32 KiB, one", 1, 1024, Direction::Read);
    bench_descriptors("descriptors of 32 KiB, pair", 2, 1024, Direction::Read);
    bench_descriptors("descriptors of 2 KiB, one", 1, 64, Direction::Read);
    bench_descriptors("descriptors of 32 KiB, one, writes", 1, 1024, Direction::Write);
}
