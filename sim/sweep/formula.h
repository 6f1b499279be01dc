// SPDX-License-Identifier: Apache-2.0
// Arithmetic over a sweep's names, as experiments write it: "mxu.rows <= 4 * workload.batch". The grammar is
// muParser's less whatever is no arithmetic: no assignment, no text, one value. Names are dotted paths.
// Quantities may be written with their unit (16 MiB, 900 GB/s, 1.2 GHz); they count in Hz, B, B/s, s, J and
// W.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.h"

namespace systole::sweep {

class Formula {
public:
    /// The value of a name where the formula is evaluated, or nothing if it is no number there.
    using Values = std::function<std::optional<double>(const std::string& name)>;

    /// Reads `text`. Throws UserError at `where` for a mistake of syntax, and for what is no arithmetic.
    /// Names are not looked at: names() gives them to whoever knows them.
    Formula(std::string text, SourceMark where);
    Formula(Formula&&) noexcept;
    Formula& operator=(Formula&&) noexcept;
    ~Formula();

    /// The names it uses, sorted.
    const std::vector<std::string>& names() const;
    const std::string& text() const;
    const SourceMark& where() const;

    /// Its value; comparisons are 1 or 0. Throws UserError if a name has no value, and if the result is no
    /// finite number (0 / 0).
    double evaluate(const Values& values) const;

private:
    struct Parser;
    std::unique_ptr<Parser> parser_;
};

/// A value of a configuration as a formula sees it: plain numbers as they are, quantities in Hz, B, B/s, s, J
/// and W, on and off as 1 and 0; nothing for words and lists.
std::optional<double> number_of(std::string_view text);

/// A computed number as a value: whole numbers exactly, others in twelve digits, which say all that anybody
/// means and none that arithmetic left behind.
std::string number_text(double value);

}  // namespace systole::sweep
