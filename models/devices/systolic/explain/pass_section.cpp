// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "models/devices/systolic/explain/drawing.h"
#include "models/devices/systolic/explain/sections.h"
#include "sim/base/check.h"
#include "sim/base/text.h"

namespace systole::systolic {
namespace {

constexpr std::size_t kDrawn = 5;  // passes behind each other

/// A phase of a pass; `law` is its length as a formula.
struct Phase {
    const char* name;
    std::string law;
    std::int64_t cycles;
    std::string what;
};

/// `each`: cycles from a vector to the next. From the first to the last enter they take `each` T less what
/// the last one keeps its PEs longer.
std::vector<Phase> phases(const ArraySpec& array, std::int64_t vectors, std::int64_t each) {
    const std::int64_t diagonal = std::int64_t{array.rows} + array.cols - 2;
    const std::int64_t enter = each * (vectors - 1) + 1;
    const std::int64_t fill = std::min(enter, diagonal), steady = enter - fill;
    const std::string law = each == 1 ? "T" : fmt::format("{}T - {}", each, each - 1);
    const bool results = array.dataflow == Dataflow::OutputStationary;
    const std::string far = fmt::format("PE({},{})", array.rows - 1, array.cols - 1);
    std::vector<Phase> all;
    if (!results) all.push_back({"shift in", "R", array.rows, "the tile moves down into place"});
    all.push_back({"fill", enter < diagonal ? law : "R + C - 2", fill,
                   enter < diagonal ? "all vectors enter, none is through" : "vector 0 runs to " + far});
    all.push_back({"steady", enter < diagonal ? "0" : law + " - (R + C - 2)", steady,
                   steady > 0 ? fmt::format("all {} PEs multiply",
                                            with_thousands(std::int64_t{array.rows} * array.cols))
                              : "at no time do all PEs multiply"});
    all.push_back({"drain", "R + C - 2", diagonal, "the last vector runs to " + far});
    if (results && array.result_shift)
        all.push_back({"shift out", "R", array.rows, "the last column moves down and out"});
    return all;
}

std::string phase_lines(const ArraySpec& array, const ArrayPass& pass, std::int64_t total) {
    std::string text;
    std::int64_t at = 0;
    for (const Phase& phase : phases(array, pass.vectors, pass.each)) {
        text += fmt::format("   {:<9} {:<15} {:>7} cycles from {:>7}   {}\n", phase.name, phase.law,
                            with_thousands(phase.cycles), with_thousands(at), phase.what);
        at += phase.cycles;
    }
    SYSTOLE_CHECK(at == total, "the phases of a pass take {} cycles, the pass {}", at, total);
    return text;
}

}  // namespace

std::string pass_section(const Explained& e) {
    const ArrayWork& work = e.work;
    const ArrayPass& pass = work.typical();
    const PassTimes times =
        send_through(work.array, {{.tile = pass.tile, .vectors = pass.vectors, .each = pass.each}});
    std::string text =
        fmt::format("3. One pass of T = {} vectors on a tile of {} x {}, alone on the array\n\n",
                    with_thousands(pass.vectors), pass.tile.rows, pass.tile.cols);
    text +=
        phase_lines(work.array, pass, times.done.value()) + '\n' + draw_pass(work.array, times, pass.each);

    const std::vector<ArrayPass>& passes = work.units[e.slowest_unit()];
    if (passes.size() < 2) return text;
    const std::size_t drawn = std::min(kDrawn, passes.size());
    std::vector<PassTimes> behind;
    send_through(work.array, {passes.begin(), passes.begin() + static_cast<std::ptrdiff_t>(drawn)},
                 [&](const PassTimes& t) { behind.push_back(t); });
    return text +
           fmt::format("\n   The first {} of {}'s {} passes, when nothing else is in their way:\n\n", drawn,
                       e.unit_name(e.slowest_unit()),
                       with_thousands(static_cast<std::int64_t>(passes.size()))) +
           draw_passes(work.array, behind);
}

}  // namespace systole::systolic
