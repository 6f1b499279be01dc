// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "models/devices/simt/kernels/choose.h"
#include "sim/base/text.h"

namespace systole::simt {
namespace {

constexpr std::int64_t kPlenty = 1 << 30;

/// A key of an SM's size with its value, and what makes it large.
struct Size {
    std::string is;
    void (*enlarge)(SmSpec&);
};

std::vector<Size> sizes_of(const SmSpec& sm) {
    return {
        {fmt::format("sm.warps is {}", sm.warps), [](SmSpec& large) { large.warps = kPlenty; }},
        {fmt::format("sm.registers is {}", sm.registers), [](SmSpec& large) { large.registers = kPlenty; }},
        {fmt::format("sm.registers_of_thread is {}", sm.registers_of_thread),
         [](SmSpec& large) { large.registers_of_thread = kPlenty; }},
        {fmt::format("sm.shared.most_of_cta is {}", format_bytes(sm.shared.most_of_cta)), [](SmSpec& large) {
             large.shared.most_of_cta = Bytes(kPlenty);
             large.shared.capacity = Bytes(2 * kPlenty);
         }}};
}

std::vector<CtaProgram> programs(const SmSpec& sm, const GemmFormats& formats) {
    std::vector<CtaProgram> all;
    const TensorIssue issue = sm.issue_of(formats.in);
    for (const CtaTile& listed : catalogue(issue)) {
        const CtaTile tile = for_operands(listed, formats.in, formats.blocks, issue);
        if (divides(tile, formats, issue)) all.push_back(gemm_program(tile, formats, 2, sm));
    }
    return all;
}

}  // namespace

std::string what_is_too_small(const SmSpec& sm, const GemmFormats& formats) {
    const std::vector<CtaProgram> all = programs(sm, formats);
    if (all.empty()) return "no tile of the catalogue can be cut for it";
    std::vector<std::string> too_small, every;
    for (const Size& size : sizes_of(sm)) {
        every.push_back(size.is);
        SmSpec others_large = sm;
        for (const Size& other : sizes_of(sm))
            if (other.is != size.is) other.enlarge(others_large);
        if (std::ranges::none_of(all,
                                 [&](const CtaProgram& one) { return occupancy(one, others_large) > 0; }))
            too_small.push_back(size.is);
    }
    return fmt::format("{}", fmt::join(too_small.empty() ? every : too_small, " and "));
}

}  // namespace systole::simt
