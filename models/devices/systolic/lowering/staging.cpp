// SPDX-License-Identifier: Apache-2.0
#include "models/devices/systolic/lowering/staging.h"

namespace systole::systolic {
Token load(Workspace& workspace, TensorId tensor, Operand operand, const StagedCopy& copy, std::int64_t tile,
           const Tokens& room) {
    Tokens after = room;
    workspace.flow.before_read(tensor, copy.from.offset, copy.from.end(), after);
    Transfer transfer;
    transfer.from = workspace.flow.region(tensor, copy.from);
    transfer.to = {Place::Scratchpad, tile + copy.to, copy.to_stride};
    transfer.rows = copy.from.rows;
    transfer.row_bytes = copy.from.row_bytes;
    transfer.operand = operand;
    const Token token = workspace.emitter.transfer(unit_index(UnitKind::Load), transfer, after);
    workspace.flow.read_by(tensor, token);
    return token;
}

bool stage(Workspace& workspace, BufferRing& ring, const TileKey& key, Holds& holds,
           const std::function<Staging()>& describe) {
    BufferTile* tile = ring.find(key);
    if (tile == nullptr) {
        const Staging staging = describe();
        Tokens room;
        tile = ring.allocate(staging.bytes, key, room);
        if (tile == nullptr) return false;
        for (const StagedCopy& copy : staging.copies) {
            tile->ready.add(load(workspace, staging.tensor, staging.operand, copy, tile->address, room));
        }
        if (staging.copies.empty()) tile->ready = room;  // all padding: nobody else remembers the last users
    }
    holds.hold(*tile);
    return true;
}

void unstage(Workspace& workspace, BufferTile& tile, TensorId tensor, const std::vector<StagedCopy>& copies,
             Operand operand) {
    for (const StagedCopy& copy : copies) {
        Tokens after = tile.ready;
        workspace.flow.before_write(tensor, after);
        Transfer transfer;
        transfer.from = {Place::Scratchpad, tile.address + copy.to, copy.to_stride};
        transfer.to = workspace.flow.region(tensor, copy.from);
        transfer.rows = copy.from.rows;
        transfer.row_bytes = copy.from.row_bytes;
        transfer.operand = operand;
        const Token token = workspace.emitter.transfer(unit_index(UnitKind::Store), transfer, after);
        tile.users.add(token);
        workspace.flow.wrote(tensor, copy.from, token);
    }
}

}  // namespace systole::systolic
