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
    T& front() { return ring_[begin_ & mask_]; }
    const T& front() const { return ring_[begin_ & mask_]; }
    T& back() { return ring_[(end_ - 1) & mask_]; }
    const T& back() const { return ring_[(end_ - 1) & mask_]; }
    /// The i-th from the front.
    const T& operator[](std::size_t i) const { return ring_[(begin_ + i) & mask_]; }
    T& operator[](std::size_t i) { return ring_[(begin_ + i) & mask_]; }

    void push(const T& value) {
        if (size() > mask_) grow();
        ring_[end_++ & mask_] = value;
    }
    void push_front(const T& value) {
        if (size() > mask_) grow();
        ring_[--begin_ & mask_] = value;
    }
    void pop() { ++begin_; }

private:
    void grow() {
        std::vector<T> larger(2 * ring_.size());
        const std::size_t count = size();
        for (std::size_t i = 0; i < count; ++i) larger[i] = (*this)[i];
        ring_ = std::move(larger);
        mask_ = ring_.size() - 1;
        begin_ = 0, end_ = count;
    }

    std::vector<T> ring_ = std::vector<T>(4);
    std::size_t mask_ = 3;  // its size, a power of two, less one
    std::size_t begin_ = 0, end_ = 0;
};

}  // namespace systole
