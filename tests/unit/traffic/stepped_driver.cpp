// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/traffic/stepped_driver.h"

#include <deque>

namespace systole::test {
namespace {

class SteppedDriver {
public:
    SteppedDriver(const DramSpec& spec, const std::vector<MemoryRequest>& requests,
                  const DriveOptions& options)
        : memory_(spec),
          requests_(requests),
          options_(options),
          sends_(sends_per_clock(options, memory_)),
          fifo_(options.order == DriveOptions::Order::Fifo),
          served_(requests.size()) {
        queues_.resize(fifo_ ? 1 : static_cast<std::size_t>(memory_.buses()));
        for (std::size_t i = 0; i < requests.size(); ++i)
            queues_[fifo_ ? 0 : static_cast<std::size_t>(memory_.locate(requests[i].address).bus)].push_back(
                i);
    }

    std::vector<Served> run() {
        for (Cycles now; done_ < requests_.size(); now += Cycles(1)) {
            inject(now);
            collect(now);
        }
        return served_;
    }

private:
    void inject(Cycles now) {
        if (fifo_) return send(queues_[0], now);
        const int each = memory_.spec().pseudo_channels;
        for (int channel = 0; channel < memory_.channels(); ++channel)
            for (int i = 0; i < each; ++i) {
                const int which = now.value() % 2 == 0 ? i : each - 1 - i;
                send(queues_[static_cast<std::size_t>(channel * each + which)], now);
            }
    }

    void send(std::deque<std::size_t>& queue, Cycles now) {
        for (std::int64_t sent = 0; sent < sends_ && !queue.empty(); ++sent) {
            const std::size_t index = queue.front();
            const MemoryRequest& request = requests_[index];
            const DramSystem::Place place = memory_.locate(request.address);
            if (request.clock > now) return;
            if (options_.window > 0 && outstanding_ == options_.window) return;
            if (!memory_.has_room(place.bus, request.direction, now)) return;
            memory_.push(place, static_cast<std::int64_t>(index), request.direction, now);
            served_[index] = {static_cast<std::int64_t>(index), request.direction, now, Cycles()};
            ++outstanding_;
            queue.pop_front();
        }
    }

    void collect(Cycles now) {
        std::vector<DramChannel::Completion> done;
        for (int channel = 0; channel < memory_.channels(); ++channel)
            memory_.channel(channel).advance(now, done);
        for (const DramChannel::Completion& completion : done) {
            served_[static_cast<std::size_t>(completion.request)].done = completion.clock;
            --outstanding_;
            ++done_;
        }
    }

    DramSystem memory_;
    const std::vector<MemoryRequest>& requests_;
    const DriveOptions options_;
    const std::int64_t sends_;
    const bool fifo_;
    std::vector<std::deque<std::size_t>> queues_;
    std::vector<Served> served_;
    std::int64_t outstanding_ = 0;
    std::size_t done_ = 0;
};

}  // namespace

std::vector<Served> drive_stepped(const DramSpec& spec, const std::vector<MemoryRequest>& requests,
                                  const DriveOptions& options) {
    return SteppedDriver(spec, requests, options).run();
}

}  // namespace systole::test
