// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/tiling_variants.h"

#include <algorithm>
#include <array>

#include "models/devices/systolic/lowering/tiling_candidate.h"

namespace systole::systolic {
namespace {

bool sizes_alike(std::int64_t a, std::int64_t b) {
    constexpr double kApart = 1.2;
    return static_cast<double>(std::max(a, b)) < kApart * static_cast<double>(std::min(a, b));
}

/// A tiling, the share of traits that it has in common with the likest one picked so far, and its traits.
class Variant {
public:
    Variant(const TilingRequest& request, const Tiling& tiling)
        : tiling_(tiling),
          rows_(request.row_blockings[tiling.blocking].rows),
          m_outer_(tiling.m_outer || !Candidate(request, tiling).order_matters()) {}

    const Tiling& tiling() const { return tiling_; }
    bool picked() const { return common_ >= 1; }

    void compare(const Variant& other) {
        const Tiling &a = tiling_, &b = other.tiling_;
        const std::array alike{
            a.split_items == b.split_items && a.split_m == b.split_m && a.split_n == b.split_n,
            sizes_alike(rows_, other.rows_), sizes_alike(a.n_tiles, b.n_tiles),
            sizes_alike(a.k_tiles, b.k_tiles), m_outer_ == other.m_outer_};
        const double common =
            static_cast<double>(std::ranges::count(alike, true)) / static_cast<double>(alike.size());
        common_ = std::max(common_, common);
    }

    double rank(double least) const { return tiling_.cycles / least + kDoubt * common_; }

private:
    Tiling tiling_;
    std::int64_t rows_;
    bool m_outer_;
    double common_ = 0;
};

}  // namespace

std::vector<Tiling> tiling_variants(const TilingRequest& request, const Tiling& chosen, std::size_t most) {
    std::vector<Variant> rest;
    for (const Tiling& tiling : tilings(request))
        if (tiling.cycles <= (1 + kDoubt) * chosen.cycles) rest.emplace_back(request, tiling);
    std::vector<Tiling> picked;
    for (Variant next(request, chosen);;) {
        picked.push_back(next.tiling());
        for (Variant& other : rest) other.compare(next);
        std::erase_if(rest, [](const Variant& other) { return other.picked(); });
        if (picked.size() >= most || rest.empty()) return picked;
        next = *std::ranges::min_element(rest, {},
                                         [&](const Variant& other) { return other.rank(chosen.cycles); });
    }
}

}  // namespace systole::systolic
