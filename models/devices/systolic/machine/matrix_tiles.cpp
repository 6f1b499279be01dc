// SPDX-License-Identifier: Apache-2.0
// The way of tiles into the array of a matrix unit: out of the FIFO or the scratchpad, unpacked where they
// must be.
#include <algorithm>
#include <utility>

#include "models/devices/systolic/machine/matrix_unit.h"
#include "sim/base/check.h"
#include "sim/kernel/kernel.h"

namespace systole::systolic {

void MatrixUnit::tell_engine(Cycles at, const CommandQueue::Entry& entry, std::int32_t fold) {
    const MatrixPass& pass = work(entry);
    const PassShape lies = shape(entry);
    const Tile tile{static_cast<int>(lies.rows), static_cast<int>(lies.cols)};
    if (witnessed_)
        witnessed_->tile_arrives(
            at, tile, values_of(dataflow(entry), record_.command(entry.number).layer, pass, fold).tile);
    else
        engine_->tile_arrives(at, tile);
}

void MatrixUnit::tile_arrived(EventId reading, EventId done) {
    SYSTOLE_CHECK(tiles_arrived_ < plan_.tiles.size(), "{}: more tiles arrive than passes use", name());
    const Plan::FifoTile& tile = plan_.tiles[tiles_arrived_++];
    const MatrixPass& pass = record_.program().pass(record_.command(tile.first_use));
    auto& log = record_.log();
    Mark arrival{clock_.at_or_after(now()), done};
    if (pass.unpacked) {
        // Weights are unpacked as they come, those of one tile behind those of the other.
        const Cycles begin = std::max(unpacked_, clock_.at_or_after(log[reading].time));
        unpacked_ = std::max(arrival.cycle, begin + unpacking_cycles(spec_.mxu.unpack, pass));
        if (unpacked_ > arrival.cycle)
            arrival = {unpacked_,
                       log.add(clock_.edge(unpacked_), done, SlotClass::OnChip, log[reading].command)};
    }
    if (tile.switches == stats_.dataflow_switches)
        let_in(arrival, tile.first_use);
    else
        waiting_.push_back({arrival, tiles_arrived_ - 1});
}

/// The array, as it is set up, takes the tile as soon as it can.
void MatrixUnit::let_in(const Mark& arrived, std::uint32_t first_use) {
    arrived_.push_back(arrived);
    tell_engine(std::max(arrived.cycle, engine_->now()), {first_use, arrived.event}, 0);
    wake_at(arrived.cycle);
}

/// Whose places in the FIFO are free.
std::int64_t MatrixUnit::fifo_tiles_shifted() const {
    return direct() ? fifo_shifted_before_ : engine_->tiles_shifted() - other_shifted_before_;
}

/// A tile has made room in the FIFO. Its shift may have had to wait until it was unpacked, long after the
/// pass before began.
void MatrixUnit::note_place() {
    if (unpacked_ == Cycles(0) || arrived_.empty()) return;
    auto& log = record_.log();
    const EventId arrived = arrived_.front().event;
    if (log[arrived].time > now()) return;
    const EventId freed = register_freed_.event;
    const bool known = freed != CausalLog::kNone && log[freed].time <= now();
    tile_entered_ =
        log.add(now(), known ? log.latest({arrived, freed}) : arrived, SlotClass::Ramp, log[arrived].command);
}

/// Cycles that the tile of the fold at the head needs beyond the R of its shift, during which it is read.
Cycles MatrixUnit::tile_read(Cycles cycle, const MatrixPass& pass) {
    const std::int64_t rows = spec_.mxu.rows;
    Cycles least(std::max(rows, edges_.top_cycles(pass, head_->fold)));
    if (pass.unpacked && !inputs_stay()) least = std::max(least, unpacking_cycles(spec_.mxu.unpack, pass));
    const BankSeat& seat = ports_.seat;
    if (!seat.banks.shared()) return least - Cycles(rows);
    const Cycles begin = std::max(cycle, register_freed_.cycle);
    const BankLoad& load = seat.loads.of(pass.top, Passing::Buffered, head_->fold);
    return seat.banks.read({BankClient::Tiles, cycle, begin, least}, load) - Cycles(rows);
}

/// Sends the tile of the fold at the head on its way. It is read while it is shifted in; a port or banks that
/// need longer than the R cycles of the shift make it that much later.
void MatrixUnit::announce(Cycles cycle) {
    head_->announced = true;
    const CommandQueue::Entry& entry = head_->entry;
    auto& log = record_.log();
    if (outputs_stay()) return tell_engine(cycle, entry, head_->fold);
    const EventId ready =
        log.latest({entry.issued, record_.last_token(record_.command(entry.number)), last_started_});
    const Cycles late = tile_read(cycle, work(entry));
    Mark arrival{cycle, ready};
    if (late > Cycles(0)) {
        arrival.cycle = std::max(cycle, register_freed_.cycle) + late;
        arrival.event = log.add(clock_.edge(arrival.cycle), log.latest({ready, register_freed_.event}),
                                SlotClass::OnChip, entry.number);
    }
    arrived_.push_back(arrival);
    tell_engine(arrival.cycle, entry, head_->fold);
}

}  // namespace systole::systolic
