// SPDX-License-Identifier: Apache-2.0
// What alike SMs ask of the L2 together, in one TLM transaction: the blocks that they read or write, and how
// many of them take each. The transaction's address and length say nothing; its command says the direction.
#pragma once

#include <cstdint>
#include <optional>
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
        /// Bytes of it that each of the SMs takes, where not just all: fewer, if it has some between that
        /// others take; more, if some are taken again (rows of a convolution).
        std::optional<std::int64_t> gathered = {};
        std::int64_t taken() const { return gathered.value_or(bytes); }
        /// Its bytes [from, until), and of what is gathered as large a part: parts sum to the whole.
        Block part(std::int64_t from, std::int64_t until) const {
            Block own = *this;
            own.address += from;
            own.bytes = until - from;
            const auto before = [&](std::int64_t byte) {
                return static_cast<std::int64_t>(Int128{*gathered} * byte / bytes);
            };
            if (gathered) own.gathered = before(until) - before(from);
            return own;
        }
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
