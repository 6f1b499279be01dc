// SPDX-License-Identifier: Apache-2.0
// A first-in, first-out queue in one growing ring: what hot paths use where std::deque allocates and chases
// pointers.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace systole {

template <class T>
class Fifo {
public:
    bool empty() const { return begin_ == end_; }
    std::size_t size() const { return end_ - begin_; }
    T& front() { return ring_[begin_ & mask()]; }
    const T& front() const { return ring_[begin_ & mask()]; }
    T& back() { return ring_[(end_ - 1) & mask()]; }
    const T& back() const { return ring_[(end_ - 1) & mask()]; }
    /// The i-th from the front.
    const T& operator[](std::size_t i) const { return ring_[(begin_ + i) & mask()]; }
    T& operator[](std::size_t i) { return ring_[(begin_ + i) & mask()]; }

    void push(const T& value) {
        if (size() == ring_.size()) grow();
        ring_[end_++ & mask()] = value;
    }
    void push_front(const T& value) {
        if (size() == ring_.size()) grow();
        ring_[--begin_ & mask()] = value;
    }
    void pop() { ++begin_; }

private:
    std::size_t mask() const { return ring_.size() - 1; }  // the ring's size is a power of two
    void grow() {
        std::vector<T> larger(2 * ring_.size());
        const std::size_t count = size();
        for (std::size_t i = 0; i < count; ++i) larger[i] = (*this)[i];
        ring_ = std::move(larger);
        begin_ = 0, end_ = count;
    }

    std::vector<T> ring_ = std::vector<T>(4);
    std::size_t begin_ = 0, end_ = 0;
};

}  // namespace systole
