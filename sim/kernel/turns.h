// SPDX-License-Identifier: Apache-2.0
// Turns at a resource that several processes want in the same moment: the first goes when everybody who is
// going to ask then has asked, and the order is one of rank. Neither the order in which SystemC happens to
// run processes nor the number of delta cycles in which they come to ask decides anything. Several machines
// in one kernel have one each, and wait for each other's delta cycles, too.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <systemc>
#include <tuple>
#include <vector>

namespace systole {

class Turns : public sc_core::sc_module {
public:
    /// The lower goes first: by kind of client, then by whatever is fair among them, then by number.
    struct Rank {
        int kind = 0;
        std::int64_t fair = 0;
        std::int64_t number = 0;
        friend auto operator<=>(const Rank&, const Rank&) = default;
    };

    explicit Turns(sc_core::sc_module_name name);

    /// `turn` is called at this same time, when nothing else is left to do and nobody of lower rank waits; it
    /// may ask for another one.
    void ask(const Rank& rank, std::function<void()> turn);

private:
    struct Asked {
        Rank rank;
        std::int64_t order = 0;                     // of those of one rank the first asked goes first
        std::size_t turn = 0;                       // of turns_
        bool operator<(const Asked& other) const {  // as heaps want it: who goes first is the greatest
            return std::tie(other.rank, other.order) < std::tie(rank, order);
        }
    };
    void end_of_elaboration() override;
    void enter(const Rank& rank, std::function<void()> turn);
    void serve();  // SC_METHOD

    /// Keeps the turns of all in one kernel: two that wait for the kernel to fall silent would hear each
    /// other.
    Turns* keeper_ = this;
    std::vector<Asked> asked_;                  // a heap
    std::int64_t order_ = 0;                    // of all that asked
    std::vector<std::function<void()>> turns_;  // in slots, reused
    std::vector<std::size_t> free_;             // slots
    sc_core::sc_event wake_{"wake"};
};

}  // namespace systole
