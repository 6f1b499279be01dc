// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "models/devices/systolic/explain/drawing.h"
#include "models/devices/systolic/explain/page.h"
#include "models/devices/systolic/explain/sections.h"
#include "sim/base/text.h"

namespace systole::systolic {
namespace {

const char* name_of(Dataflow dataflow) {
    switch (dataflow) {
        case Dataflow::WeightStationary:
            return "Weight stationary: weights stay in the PEs, activations stream, sums fall.";
        case Dataflow::OutputStationary:
            return "Output stationary: sums stay in the PEs, both operands stream past each other.";
        case Dataflow::InputStationary:
            return "Input stationary: activations stay in the PEs, weights stream, sums fall.";
    }
    return "";
}

/// How an extent is cut, along `where` with `room` places to a piece (0: as many as it likes).
std::string cut_line(const ArrayWork& work, Extent extent, const char* where, std::int64_t room) {
    const Cut& cut = work.cut(extent);
    const std::string pieces =
        cut.pieces() == 1 ? "in one piece"
                          : fmt::format("in {} pieces ({})", with_thousands(cut.pieces()), cut.text());
    std::string line = fmt::format("   {} = {:<12} {:<16} {}", to_string(extent),
                                   with_thousands(cut.extent()), where, pieces);
    if (room == 0) return line + '\n';
    const double filled =
        static_cast<double>(cut.extent()) / (static_cast<double>(cut.pieces()) * static_cast<double>(room));
    return line + fmt::format(": {} % of {} x {} filled\n", format_percent(filled),
                              with_thousands(cut.pieces()), with_thousands(room));
}

std::string cut_lines(const ArrayWork& work) {
    const Orientation lies = orientation(work.array.dataflow);
    const auto rate = [&](Extent extent) { return extent == Extent::K ? work.rate.macs : 1; };
    std::string text = cut_line(work, lies.rows, "down the rows", work.array.rows * rate(lies.rows)) +
                       cut_line(work, lies.columns, "across columns", work.array.cols * rate(lies.columns)) +
                       cut_line(work, lies.streamed, "streamed", 0);
    if (work.rate.macs > 1)
        text += fmt::format("   Every PE does {} MACs a cycle, along K.\n", work.rate.macs);
    if (work.rate.cycles > 1)
        text += fmt::format("   Every PE takes {0} cycles for a MAC: a vector enters every {0} cycles.\n",
                            work.rate.cycles);
    return text;
}

/// "2 x 2 x 1 = 4 passes", if it is so.
std::string pass_count(const ArrayWork& work) {
    std::int64_t product = work.items;
    std::string factors = work.items > 1 ? fmt::format("{} items x ", with_thousands(work.items)) : "";
    for (const Extent extent : {Extent::M, Extent::N, Extent::K}) {
        product *= work.cut(extent).pieces();
        factors += fmt::format("{} of {}{}", with_thousands(work.cut(extent).pieces()), to_string(extent),
                               extent == Extent::K ? "" : " x ");
    }
    const std::int64_t passes = work.passes();
    return passes == product ? fmt::format("{} = {} passes", factors, with_thousands(passes))
                             : fmt::format("{} passes", with_thousands(passes));
}

/// Why there are as many tiles as there are.
std::string tile_use(const ArrayWork& work) {
    if (work.array.dataflow == Dataflow::OutputStationary)
        return fmt::format("{} tiles of outputs", with_thousands(work.tiles));
    const char* what = work.array.dataflow == Dataflow::WeightStationary ? "weights" : "activations";
    const char* source = work.from_fifo ? "out of the weight FIFO" : "straight out of the scratchpad";
    std::string text =
        fmt::format("{1} tiles of {0} are shifted in, {2}", what, with_thousands(work.tiles), source);
    if (work.tiles < work.passes())
        text +=
            fmt::format("; {} more passes keep the tile before", with_thousands(work.passes() - work.tiles));
    return text;
}

}  // namespace

std::string layout_section(const Explained& e) {
    const ArrayWork& work = e.work;
    std::string text = fmt::format("2. On the array\n\n   {}\n\n", name_of(work.array.dataflow));
    text += draw_array(work.array) + '\n' + cut_lines(work);
    text += wrapped(fmt::format("{}. {}.", pass_count(work), tile_use(work)));
    const std::int64_t folds = work.cut(Extent::K).pieces();
    if (folds > 1)
        text +=
            wrapped(fmt::format("The {} pieces of K are folds: each adds onto the accumulators of the one "
                                "before.",
                                with_thousands(folds)));
    return text + wrapped(fmt::format("{} of {} MXU{} work{}. Mapping: {}.", work.busy_units(), e.spec.mxus(),
                                      e.spec.mxus() == 1 ? "" : "s", work.busy_units() == 1 ? "s" : "",
                                      e.program.layers[0].mapping));
}

}  // namespace systole::systolic
