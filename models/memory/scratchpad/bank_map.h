// SPDX-License-Identifier: Apache-2.0
// Which bank of a scratchpad a line lies in, and how many lines of an address range each bank has to serve.
// Plain arithmetic on whole turns around the banks: its cost grows with banks, not with bytes.
#pragma once

#include <cstdint>
#include <vector>

namespace systole {

enum class BankMapKind : std::uint8_t {
    Interleaved,  ///< line n lies in bank n mod banks
    Xor           ///< in bank (n xor n / banks) mod banks: strides of powers of two up to banks² spread
};

/// The bank of every line; banks is a power of two where the map is Xor.
struct BankMap {
    int banks = 1;
    BankMapKind kind = BankMapKind::Interleaved;

    int bank_of(std::int64_t line) const {
        return static_cast<int>((kind == BankMapKind::Xor ? line ^ (line / banks) : line) % banks);
    }
    /// Lines after which the banks repeat.
    std::int64_t period() const {
        return kind == BankMapKind::Xor ? std::int64_t{banks} * banks : std::int64_t{banks};
    }
    /// Whether lines first … last certainly lie in banks of their own: any `banks` neighbours of an
    /// interleaved map do, and of an Xor map those of one turn, counted from line 0.
    bool distinct(std::int64_t first, std::int64_t last) const {
        return kind == BankMapKind::Xor ? first / banks == last / banks : last - first < banks;
    }
};

/// Accesses by bank.
class BankLoad {
public:
    explicit BankLoad(const BankMap& map);
    void clear();
    /// Lines first … last, each `times`. However many they are, this looks at a few of an interleaved map,
    /// and at two turns of an Xor map at most.
    void add(std::int64_t first, std::int64_t last, std::int64_t times = 1);
    /// All of another load of the same map.
    void add(const BankLoad& other);
    /// Everything counted so far, `num` / `den` times, rounded up.
    void scale(std::int64_t num, std::int64_t den);

    /// By bank.
    const std::vector<std::int64_t>& lines() const {
        if (!settled_) settle();
        return lines_;
    }
    std::int64_t busiest() const;
    std::int64_t total() const;

private:
    void one_by_one(std::int64_t from, std::int64_t to, std::int64_t times);
    void settle() const;

    BankMap map_;
    // What is added as ranges of banks is kept as steps from bank to bank until someone looks.
    mutable std::vector<std::int64_t> lines_, steps_;
    mutable bool settled_ = true;
};

}  // namespace systole
