// SPDX-License-Identifier: Apache-2.0
// Turns: the order of rank, whatever the delta cycle in which somebody comes.
#include "sim/kernel/turns.h"

#include <catch2/catch.hpp>

#include <string>

#include "sim/kernel/kernel.h"

namespace systole {
namespace {

/// Comes to ask some delta cycles after the beginning of a time, as often as it wants a turn.
class Client : public sc_core::sc_module {
public:
    Client(sc_core::sc_module_name name, Turns& turns, Turns::Rank rank, int delay, int wants,
           std::string& order)
        : sc_module(name), turns_(turns), rank_(rank), delay_(delay), wants_(wants), order_(order) {
        SC_HAS_PROCESS(Client);
        SC_METHOD(come);
        sensitive << wake_;
        dont_initialize();
        wake_.notify(to_sc_time(Ticks(1000)));
    }

private:
    void come() {
        if (delay_-- > 0) return wake_.notify(sc_core::SC_ZERO_TIME);
        turns_.ask(rank_, [this] {
            CHECK(now() == Ticks(1000));
            order_ += basename();
            if (--wants_ > 0) wake_.notify(sc_core::SC_ZERO_TIME);
        });
    }

    Turns& turns_;
    const Turns::Rank rank_;
    int delay_, wants_;
    std::string& order_;
    sc_core::sc_event wake_{"wake"};
};

}  // namespace

TEST_CASE("who comes at the same time goes by rank, in whatever delta cycle it comes", "[turns]") {
    for (const int late : {0, 1, 7}) {
        const FreshKernel kernel;
        std::string order;
        Turns turns("turns");
        Client dma("d", turns, {3, 0, 0}, 0, 1, order);
        Client served_lately("l", turns, {0, 20, 0}, 1, 1, order);
        Client served_before("b", turns, {0, 10, 1}, late, 1, order);
        Client second("s", turns, {1, 0, 0}, 2, 1, order);
        run_to_the_end();
        CAPTURE(late);
        CHECK(order == "blsd");
    }
}

TEST_CASE("who wants another turn gets it before lower ranks", "[turns]") {
    const FreshKernel kernel;
    std::string order;
    Turns turns("turns");
    Client dma("d", turns, {3, 0, 0}, 0, 2, order);
    Client array("a", turns, {0, 0, 0}, 0, 3, order);
    run_to_the_end();
    CHECK(order == "aaadd");
}

TEST_CASE("two machines in one kernel may want turns at the same time", "[turns]") {
    const FreshKernel kernel;
    std::string order;
    Turns one("one"), other("other");
    Client a("a", one, {0, 0, 0}, 0, 2, order), c("c", one, {1, 0, 0}, 3, 1, order);
    Client b("b", other, {0, 0, 0}, 1, 2, order), d("d", other, {1, 0, 0}, 0, 1, order);
    run_to_the_end();
    std::string ones, others;
    for (const char name : order) (name == 'a' || name == 'c' ? ones : others) += name;
    CHECK(ones == "aac");
    CHECK(others == "bbd");
}

}  // namespace systole
