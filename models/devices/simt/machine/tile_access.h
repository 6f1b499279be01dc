// SPDX-License-Identifier: Apache-2.0
// What alike SMs ask of the L2 together, in one TLM transaction: the blocks that they read or write, and how
// many of them take each. The transaction's address and length say nothing; its command says the direction.
#pragma once

#include <cstdint>
#include <tlm>
#include <vector>

#include "models/devices/simt/memory/l2_blocks.h"
#include "sim/account/byte_ledger.h"

namespace systole::simt {

struct TileAccess : tlm::tlm_extension<TileAccess> {
    /// A contiguous range, read by `sms` SMs (each gets all of it), or written by one.
    struct Block {
        std::int64_t address = 0;
        std::int64_t bytes = 0;
        std::int64_t sms = 1;
        Operand operand = Operand::Activations;
        MatrixRange matrix = {};  ///< that it is a part of
    };
    std::vector<Block> blocks;
    std::int64_t sm = 0;           ///< the first of those that ask
    std::int64_t sms = 1;          ///< that ask
    std::int64_t bytes_of_sm = 0;  ///< that the busiest of them takes or gives: what its port has to carry
    std::int32_t layer = 0;        ///< for the byte ledger
    /// Its blocks stand for rows of a tile, a few lines each, which lie apart in the memory: they reach less
    /// of its bandwidth than streams do (L2Spec::memory_share).
    bool short_rows = false;

    tlm_extension_base* clone() const override { return new TileAccess(*this); }
    void copy_from(const tlm_extension_base& other) override {
        *this = static_cast<const TileAccess&>(other);
    }
};

}  // namespace systole::simt
