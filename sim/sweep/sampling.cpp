// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace systole::sweep {

Combinations::Combinations(const std::vector<Axis>& axes, const Sample& sample)
    : axes_(axes), sample_(sample), digits_(axes.size()), random_(sample.seed) {
    if (sample_.method == Sample::Method::LatinHypercube) deal_strata();
}

bool Combinations::next(std::vector<AxisPlace>& places) {
    places.assign(axes_.size(), {});
    switch (sample_.method) {
        case Sample::Method::Grid: {
            if (ended_) return false;
            if (made_ > 0) {
                std::size_t axis = axes_.size();
                while (axis > 0 && ++digits_[axis - 1] == axes_[axis - 1].size()) digits_[--axis] = 0;
                ended_ = axis == 0;
                if (ended_) return false;
            }
            for (std::size_t i = 0; i < axes_.size(); ++i) places[i].index = digits_[i];
            break;
        }
        case Sample::Method::Random:
            for (std::size_t i = 0; i < axes_.size(); ++i) places[i] = at(axes_[i], uniform());
            break;
        case Sample::Method::LatinHypercube: {
            if (made_ == static_cast<std::uint64_t>(sample_.count)) return false;
            for (std::size_t i = 0; i < axes_.size(); ++i)
                places[i] =
                    at(axes_[i], (strata_[i][made_] + uniform()) / static_cast<double>(sample_.count));
            break;
        }
    }
    ++made_;
    return true;
}

std::optional<std::uint64_t> Combinations::of_grid(const std::vector<Axis>& axes) {
    std::uint64_t count = 1;
    for (const Axis& axis : axes)
        if (__builtin_mul_overflow(count, axis.size(), &count)) return {};
    return count;
}

double Combinations::uniform() {
    return std::ldexp(static_cast<double>(random_() >> 11), -53);
}

AxisPlace Combinations::at(const Axis& axis, double share) const {
    share = std::min(share, std::nextafter(1.0, 0.0));  // a sum of a stratum may round up to 1
    const auto size = static_cast<double>(axis.size());
    return {axis.span ? 0 : static_cast<std::size_t>(share * size), share};
}

/// For each axis the samples in an order of their own (Fisher and Yates).
void Combinations::deal_strata() {
    strata_.assign(axes_.size(), std::vector<std::uint32_t>(static_cast<std::size_t>(sample_.count)));
    for (std::vector<std::uint32_t>& strata : strata_) {
        std::iota(strata.begin(), strata.end(), 0U);
        for (std::size_t left = strata.size(); left > 1; --left)
            std::swap(strata[left - 1],
                      strata[static_cast<std::size_t>(uniform() * static_cast<double>(left))]);
    }
}

}  // namespace systole::sweep
