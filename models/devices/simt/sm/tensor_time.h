// SPDX-License-Identifier: Apache-2.0
// What a tensor core's time goes to: every cycle it works, or is lost to what the warp that ended the wait
// had waited for.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace systole::simt {

/// What a tensor core's time is lost to while it does not work.
enum class Loss : std::uint8_t { Memory, OnChip, Dependency, Vector };
constexpr std::size_t kLosses = 4;
using LostTime = std::array<std::int64_t, kLosses>;

/// A warp waits for this until then.
struct Stall {
    std::int64_t until;
    Loss loss;
};

/// The next of a warp's stalls, one behind the other; nothing where the one before lasts as long.
void remember(std::vector<Stall>& stalls, std::int64_t until, Loss loss);

class TensorTime {
public:
    /// Time so far not accounted for, up to `until`, goes to the stalls of the warp that uses the tensor core
    /// then; what they leave, to dependencies.
    void charge(const std::vector<Stall>& stalls, std::int64_t until);
    /// It works from the end of what is accounted for up to here.
    void work(std::int64_t until) { add(until, kAtWork); }

    /// Cycles of work in [from, until), and what the others are lost to, added to `lost`.
    std::int64_t busy(std::int64_t from, std::int64_t until) const;
    void add_lost(std::int64_t from, std::int64_t until, LostTime& lost) const;

    /// All before is accounted for.
    std::int64_t covered() const { return pieces_.empty() ? 0 : pieces_.back().end; }

private:
    struct Piece {
        std::int64_t end;
        std::int8_t loss;  // or kAtWork
    };
    static constexpr std::int8_t kAtWork = -1;
    void add(std::int64_t end, std::int8_t loss);

    std::vector<Piece> pieces_;  // without gaps
};

}  // namespace systole::simt
