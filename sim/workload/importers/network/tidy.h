// SPDX-License-Identifier: Apache-2.0
// What a network is before it is written: layers that nobody reads are gone, biases and functions have joined
// the layers that make what they work on, and factors of batch norms the weights before them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/workload/importers/network/network.h"

namespace systole {

class Tidy {
public:
    explicit Tidy(Network& network);

    void drop_unread();
    /// An addition of a stored [n] behind a product or convolution of n columns becomes its bias, and a
    /// factor that may fold goes into its weights.
    void join_biases();
    /// A function behind a layer that can do it while it writes.
    void join_functions();
    std::size_t folded() const { return folded_; }
    const std::vector<bool>& dropped() const { return dropped_; }
    const std::vector<bool>& read() const { return read_; }

private:
    /// The layer that makes what this one reads first, if nobody else reads that.
    Step* producer_of(const Step& step);
    void join(Step& into, Step& step);
    void count_readers();

    Network& network_;
    std::vector<std::size_t> readers_;  // of tensors; outputs count
    std::vector<bool> dropped_, read_;  // steps, tensors
    std::size_t folded_ = 0;
};

}  // namespace systole
