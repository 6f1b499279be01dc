// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/residency.h"

#include <algorithm>
#include <numeric>

namespace systole {
namespace {

std::int64_t layers_of(const Lifetime& life) {
    return static_cast<std::int64_t>(life.last - life.born) + 1;
}

/// More reads and writes a layer.
bool pays_more(const Lifetime& a, const Lifetime& b) {
    return a.saved * layers_of(b) > b.saved * layers_of(a);
}

struct Taken {
    std::int64_t begin, end;
    std::size_t last;
};

/// Who lies where, by the layer in which each is born.
class Shelf {
public:
    explicit Shelf(std::size_t layers) : born_(layers) {}

    /// The lowest address below `capacity` at which nobody lies during `life`.
    std::optional<std::int64_t> room_for(const Lifetime& life, std::int64_t capacity) {
        beside_.clear();
        const std::size_t earliest = life.born > kLongestStay ? life.born - kLongestStay : 0;
        for (std::size_t layer = earliest; layer <= life.last; ++layer)
            for (const Taken& taken : born_[layer])
                if (taken.last >= life.born) beside_.push_back(taken);
        std::ranges::sort(beside_, {}, &Taken::begin);
        std::int64_t address = 0;
        for (const Taken& taken : beside_) {
            if (taken.begin - address >= life.bytes) break;
            address = std::max(address, taken.end);
        }
        if (life.bytes > capacity - address) return std::nullopt;
        return address;
    }

    void put(const Lifetime& life, std::int64_t address) {
        born_[life.born].push_back({address, address + life.bytes, life.last});
    }

private:
    std::vector<std::vector<Taken>> born_;
    std::vector<Taken> beside_;  // scratch
};

}  // namespace

std::vector<std::optional<std::int64_t>> choose_resident(const std::vector<Lifetime>& lives,
                                                         std::int64_t capacity) {
    std::size_t layers = 1;
    for (const Lifetime& life : lives) layers = std::max(layers, life.last + 1);
    std::vector<std::size_t> order(lives.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        if (pays_more(lives[a], lives[b]) || pays_more(lives[b], lives[a]))
            return pays_more(lives[a], lives[b]);
        return lives[a].born < lives[b].born;
    });
    Shelf shelf(layers);
    std::vector<std::optional<std::int64_t>> addresses(lives.size());
    for (const std::size_t i : order) {
        if (lives[i].saved == 0 || lives[i].last - lives[i].born > kLongestStay) continue;
        addresses[i] = shelf.room_for(lives[i], capacity);
        if (addresses[i]) shelf.put(lives[i], *addresses[i]);
    }
    return addresses;
}

}  // namespace systole
