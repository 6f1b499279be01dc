// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/exchange_steps.h"

#include <algorithm>

namespace systole::systolic {

ExchangeSteps::ExchangeSteps(Workspace& workspace, std::int64_t layer, std::int64_t most_bytes)
    : workspace_(workspace),
      source_(workspace.graph.layers[static_cast<std::size_t>(layer)]),
      chips_(std::get<Collective>(source_.op).chips),
      parts_(workspace, source_, std::get<Collective>(source_.op)),
      cut_(parts_.alone(), most_bytes) {}

void ExchangeSteps::work(std::int64_t step) {
    const std::int64_t away = 1 + step / cut_.count(), piece = step % cut_.count();
    const TensorId input = source_.inputs.at(0), output = source_.output;
    const TensorBox mine = cut_.part(parts_.among_all(away), piece);
    const TensorBox theirs = cut_.part(parts_.among_all(chips_ - away), piece);
    const Region link{Place::ChipLink, 0, mine.row_bytes};
    TensorFlow& flow = workspace_.flow;
    const auto emit = [&](UnitKind unit, const Region& from, const Region& to, std::int64_t times,
                          const Tokens& after) {
        Transfer transfer;
        transfer.from = from;
        transfer.to = to;
        transfer.rows = times * mine.rows;
        transfer.row_bytes = mine.row_bytes;
        return workspace_.emitter.transfer(unit_index(unit), transfer, after);
    };
    Tokens ready;
    flow.before_read(input, mine.offset, mine.end(), ready);
    Token sent = emit(UnitKind::LinkOut, flow.region(input, mine), link, 1, ready);
    flow.read_by(input, sent);
    Tokens arrived = sent;
    // Hops beyond the first: over links of other chips, as theirs are over this one's.
    const std::int64_t through = std::min(away, chips_ - away) - 1;
    if (through > 0) arrived.add(emit(UnitKind::LinkOut, link, link, through, arrived));
    flow.before_write(output, arrived);
    flow.wrote(output, theirs, emit(UnitKind::LinkIn, link, flow.region(output, theirs), 1, arrived));
}

}  // namespace systole::systolic
