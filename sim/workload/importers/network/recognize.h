// SPDX-License-Identifier: Apache-2.0
// Layers that a file spells out, operation by operation, and a trace has as one: softmax, norms, GELU, SiLU,
// hard swish. Compilers make one kernel of them, so a trace that kept every step would read and write what
// nobody does.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/workload/importers/network/network.h"

namespace systole {

class Recognizer {
public:
    /// `dropped`: steps that are none any more.
    Recognizer(Network& network, const std::vector<bool>& dropped);

    /// Puts the layer in the place of the last operation of each spelling; the others are read by nobody any
    /// more. Only whole spellings count, none of whose parts anybody else reads:
    /// - softmax: e^(x - max x) over its sum, of rows;
    /// - layer norm: (x - mean x) over the square root of its mean square (and a stored number), scaled and
    ///   shifted by stored rows; rms norm: x over the root of its own mean square, scaled;
    /// - silu: x * sigmoid(x), and hard_swish likewise; gelu: x * (1 + erf(c x)) * c, or with tanh(c (x + c
    /// x^3)).
    void run();
    std::size_t found() const { return found_; }

private:
    /// Factors of a product, and how many stored numbers are among them.
    struct Factors {
        std::vector<TensorId> tensors;
        std::size_t numbers = 0;
    };

    TensorId base(TensorId tensor) const;
    Step* maker(TensorId tensor) const;
    std::size_t uses(TensorId tensor) const { return uses_[base(tensor)]; }
    std::int64_t elements_of(TensorId tensor) const;
    /// The maker, if it is of that operation (and kind), and nobody but one reads what it makes.
    Step* only(TensorId tensor, std::string_view op, std::string_view keys = "") const;
    Step* function(TensorId tensor, std::string_view name) const;
    bool is_number(const Step& step) const;
    bool is_row(const Step& step, std::int64_t columns) const;

    Factors factors(TensorId tensor) const;
    /// Whether the second operand is one number for each row of the first.
    bool by_rows(const Step& step) const;
    /// What a stored number is added to.
    std::optional<TensorId> without_number(TensorId tensor, std::string_view kind) const;
    /// Behind a mean of rows of what: of a sum divided by a number, too.
    std::optional<TensorId> mean_of(TensorId tensor) const;
    /// What a product or quotient divides by the square root of.
    std::optional<TensorId> under_root(const Step& normal) const;
    /// Behind a square.
    std::optional<TensorId> square_of(TensorId tensor) const;
    bool same(TensorId a, TensorId b) const;

    bool softmax(Step& root);
    bool norm(Step& root);
    bool unit(Step& root);
    bool is_cube_sum(TensorId tensor, TensorId x) const;
    bool is_gelu_gate(TensorId tensor, TensorId x) const;
    bool replace(Step& root, TensorId x, std::string_view op, std::string_view keys,
                 std::string_view function);
    void release(const Step& step);

    Network& network_;
    const std::vector<bool>& dropped_;
    std::vector<std::size_t> uses_;  // of tensors that are no views, by what is none
    std::size_t found_ = 0;
};

}  // namespace systole
