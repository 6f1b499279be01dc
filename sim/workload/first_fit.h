// SPDX-License-Identifier: Apache-2.0
// A run of addresses, given out lowest first and taken back: the books behind allocate().
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace systole {

/// Unbounded above; all sizes in bytes and positive. Whoever uses it compares peak() with a capacity.
class FirstFit {
public:
    /// The lowest address with `size` free bytes.
    std::int64_t take(std::int64_t size) {
        for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
            if (gap->second < size) continue;
            const auto [address, length] = *gap;
            gaps_.erase(gap);
            if (length > size) gaps_.emplace(address + size, length - size);
            return address;
        }
        const std::int64_t address = end_;
        end_ += size;
        if (end_ > peak_) peak_ = end_;
        return address;
    }

    /// Returns what take() gave; neighbouring gaps become one.
    void give_back(std::int64_t address, std::int64_t size) {
        auto next = gaps_.lower_bound(address);
        if (next != gaps_.end() && next->first == address + size) {
            size += next->second;
            next = gaps_.erase(next);
        }
        if (next != gaps_.begin()) {
            const auto before = std::prev(next);
            if (before->first + before->second == address) {
                address = before->first;
                size += before->second;
                gaps_.erase(before);
            }
        }
        if (address + size == end_)
            end_ = address;  // the last gap belongs to the free end, where any size fits
        else
            gaps_.emplace(address, size);
    }

    /// The highest address ever in use, plus one.
    std::int64_t peak() const { return peak_; }

private:
    std::map<std::int64_t, std::int64_t> gaps_;  // address -> size, below end_
    std::int64_t end_ = 0, peak_ = 0;
};

}  // namespace systole
