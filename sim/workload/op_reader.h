// SPDX-License-Identifier: Apache-2.0
// The operators as traces write them (docs/formats.md): for each a small function from its keys and the
// shapes it reads to the operator and the shape it makes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/graph.h"
#include "sim/workload/keys.h"

namespace systole {

/// One layer under reading: its keys, and the tensors it reads.
class LayerText {
public:
    /// `operands` is empty if a mistake hides one of them: then only the keys are checked.
    LayerText(Keys& keys, Mistakes& mistakes, std::vector<const Tensor*> operands)
        : keys_(&keys), mistakes_(&mistakes), before_(mistakes.count()), operands_(std::move(operands)) {}

    Keys& keys() { return *keys_; }
    std::size_t operands() const { return operands_.size(); }
    const Tensor& operand(std::size_t index) const { return *operands_[index]; }
    const Shape& shape(std::size_t index) const { return operands_[index]->shape; }
    /// Whether both are the same tensor.
    bool same_operand(std::size_t a, std::size_t b) const { return operands_[a] == operands_[b]; }
    /// Whether shapes are known and all keys read so far were right.
    bool sound() const { return !operands_.empty() && mistakes_->count() == before_; }
    /// Records a mistake unless the first operand has `rank` dimensions, then called `meaning`.
    bool expect_rank(std::size_t rank, std::string_view meaning);

private:
    Keys* keys_;
    Mistakes* mistakes_;
    std::size_t before_;
    std::vector<const Tensor*> operands_;
};

/// What a layer's keys say. A reshape has no operator: its result is a view.
struct LayerMeaning {
    std::optional<Operator> op;
    Shape output;
    std::optional<DType> dtype = std::nullopt;  ///< of the output, where the operator alone decides it
    /// Attention whose scores are tensors: three layers. Weights that a layer of its own turns into numbers:
    /// two.
    bool unfused = false;
    std::int64_t replicas = 0;  ///< without an operator: chips that read a replica each of the tensor
};

/// How one operator is written.
struct OpSyntax {
    std::string name;
    std::size_t operands;  ///< tensors it reads
    /// Nothing after a mistake, which it has recorded.
    std::optional<LayerMeaning> (*read)(LayerText& text);
    bool or_more = false;  ///< it takes any number of tensors from `operands` on
};

/// By the name in `op:`, or null.
const OpSyntax* find_op_syntax(std::string_view name);
std::vector<std::string> op_syntax_names();

/// The names of `kind:`, in the order of each operator's enum.
const std::vector<std::string>& pool_kinds();
const std::vector<std::string>& norm_kinds();
const std::vector<std::string>& resize_kinds();
const std::vector<std::string>& reduce_kinds();
const std::vector<std::string>& collective_kinds();
/// `chips`: 2 … kMostChips.
std::int64_t read_chips(Keys& keys);
/// The names of `spread:`, in the order of the enum.
const std::vector<std::string>& spread_names();
/// Of volumes: `stride_t`, `pad_t`, `dilation_t`, by default those of height and width.
ConvDepth read_conv_depth(Keys& keys, const Conv2d& conv);
/// `scales`, `group`, `scale_dtype` and `sparsity` of stored weights; of a convolution, which has no groups
/// of scales.
WeightFormat read_weight_format(Keys& keys);
WeightFormat read_conv_weight_format(Keys& keys);
/// `scales: block` of an input of a trace, with `group` and `scale_dtype`; without it, plain numbers.
WeightFormat read_input_format(Keys& keys);
/// Refuses these keys, and `fused`, where no operand is stored.
void refuse_weight_format(Keys& keys);
/// `scales`, `group` and `scale_dtype` of a layer that only scales.
WeightFormat read_scaling_format(Keys& keys);
/// One of function_names(); without "none" for the operator whose only work it is.
Function read_post(Keys& keys);
Function read_function(Keys& keys);

}  // namespace systole
