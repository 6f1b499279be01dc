// SPDX-License-Identifier: Apache-2.0
// Of a kernel whose many CTAs all do the same, some stand for others. They are watched in turns of so many
// while the kernel runs; as soon as turns tell the mean of their times and of what they carry to and from the
// memory, as turns of a network that differ by chance have to (sim/account/turn_agreement.h), nobody gets the
// next ones but the last few. Plain C++: the chip makes the snapshots.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/account/byte_ledger.h"
#include "sim/account/classes.h"
#include "sim/account/repeated_turn.h"
#include "sim/base/units.h"

namespace systole::simt {

/// The kernel of a plan of which CTAs may stand for others.
struct CtaTurns {
    std::size_t kernel = 0;  ///< so many come before it
    std::int64_t ctas = 0;
    std::int64_t first = 0;  ///< CTAs that fill the caches, before turns begin
    std::int64_t turn = 0;   ///< CTAs, of the shortest turns
    std::int64_t dies = 1;   ///< CTAs that are left out are a multiple
};

/// What was counted when so many CTAs of the kernel had begun.
struct CtaSnapshot {
    Mark mark;  ///< without what only rows know
    std::int64_t begun = 0;
    std::array<Int128, kSlotClasses> times{};  ///< fine time of SMs by class
    std::vector<Movement> movements;
};

class CtaSample {
public:
    explicit CtaSample(CtaTurns turns) : turns_(turns), turn_(turns.turn), next_(turns.first) {}

    /// Whether a snapshot is wanted when so many CTAs of a kernel have begun.
    bool wants(std::size_t kernel, std::int64_t begun) const {
        return kernel == turns_.kernel && !through_ && begun >= next_;
    }
    /// Takes it; answers how many of the next CTAs are left out.
    std::int64_t look(CtaSnapshot now);

    /// The CTAs that began between two snapshots stand `times` over for those left out.
    struct LeftOut {
        CtaSnapshot first, last;
        std::int64_t times = 0;
        Ticks off;  ///< by which those left out may differ in 19 of 20 cases
        std::int64_t ctas() const { return last.begun - first.begun; }
    };
    const std::optional<LeftOut>& left_out() const { return left_out_; }
    /// The turn behind those left out, but one, went as the sample did. (What comes later may be another
    /// matter: the last columns of a product.)
    bool borne_out() const { return !left_out_ || borne_out_; }
    const CtaTurns& turns() const { return turns_; }

private:
    TurnMarks marks() const;
    bool tells_the_mean();
    void look_behind(CtaSnapshot now);
    std::int64_t times_that_fit() const;
    Ticks off(std::int64_t times) const;

    const CtaTurns turns_;
    std::int64_t turn_;                   // CTAs, more and more
    std::int64_t next_;                   // CTAs that have begun at the next snapshot
    bool through_ = false;                // nobody looks any more
    std::vector<CtaSnapshot> snapshots_;  // at the beginning of turns, and at their ends
    std::optional<LeftOut> left_out_;
    std::optional<CtaSnapshot> behind_;  // when the first turn behind those left out had begun
    bool borne_out_ = false;
};

}  // namespace systole::simt
