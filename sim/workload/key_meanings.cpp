// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/key_meanings.h"

#include <algorithm>
#include <array>

namespace systole {
namespace {

constexpr std::string_view kConvs = "conv2d conv3d";  // with all ways to store weights

constexpr std::array kMeanings = std::to_array<KeyMeaning>({
    // Number formats.
    {"embedding", "dtype",
     "format of the table, for the input holds indices; one of `dtype` and `weight_dtype` must be there"},
    {"", "dtype", "format of the first input; it may only repeat what that has"},
    {"conv2d conv3d conv_transpose matmul", "weight_dtype",
     "format of the stored weights; without it, that of the input"},
    {"norm", "weight_dtype",
     "format of the stored gains, and of the shifts of a layer norm; without it, that of the input"},
    {"embedding", "weight_dtype",
     "format of the table, where rows leave it in another format; without it, `dtype`"},
    {"rotary", "weight_dtype",
     "format of the stored table of cosines and sines; without it, that of the input"},
    {"matmul", "out_dtype",
     "format of the output; without it, that of the input, and `bf16` with `scales: block`"},
    {"quantize dequantize", "out_dtype",
     "format of the output, which is what the layer is for: it must be there"},
    {"embedding", "out_dtype", "format of the output; without it, `dtype`, or that of the table"},
    {"top_k", "out_dtype", "format of the output, where `result` is `values`; indices are int32"},
    {"", "out_dtype", "format of the output; without it, that of the first input"},

    // Convolutions and products.
    {"", "filters", "channels of the output"},
    {"conv3d", "kernel", "extent of a filter in depth, height and width"},
    {"", "kernel", "extent of a filter in height and width"},
    {kConvs, "stride", "steps from one window to the next, in rows and columns; without it, 1"},
    {"conv_transpose", "stride", "rows and columns of the output for each of the input; at most `kernel`"},
    {"pool", "stride",
     "steps from one window to the next, in rows and columns; without it, those of a square `window`"},
    {"conv_transpose", "pad", "rows and columns that are cut off at each side of the output"},
    {"", "pad", "zeros around the input, the same at all sides or for each"},
    {"", "out_pad", "rows and columns that are added to the output, at the bottom and on the right"},
    {"", "dilation", "distance of a filter's taps in the input, in rows and columns; without it, 1"},
    {"", "groups",
     "parts of the channels that are convolved by themselves, each with its share of the filters"},
    {"", "depthwise", "one group for each channel of the input; in place of `groups`"},
    {"", "round_up", "a last window that reaches beyond the padded input counts, too, on zeros"},
    {"", "stride_t", "steps in depth; without it, those of `stride`"},
    {"", "pad_t", "zeros before and behind the input in depth; without it, as many as `pad` has"},
    {"", "dilation_t", "distance of taps in depth; without it, that of `dilation`"},
    {"matmul", "n", "columns of the stored weights, and so the last dimension of the output"},
    {"", "bias", "a stored number is added to each channel or column, as wide as an accumulator"},
    {"", "activation", "function of each result, before it is written"},
    {"matmul", "experts",
     "stored matrices, each with a bias and scales of its own; the input is [met, rows, k], and the first "
     "`met` are multiplied"},
    {"matmul", "fused",
     "weights with scales become numbers on their way into the arrays; `false`: a layer NAME.dequantize "
     "writes them first"},
    {"batched_matmul", "transpose_a", "the first operand lies as [.., k, m]"},
    {"batched_matmul", "transpose_b", "the second operand lies as [.., n, k]"},

    // How numbers are stored.
    {kConvs, "scales",
     "which stored weights share a scale: all (`tensor`), those of a filter (`channel`); `group` and `block` "
     "are refused, for they are of matrices"},
    {"matmul", "scales",
     "which stored weights share a scale: all (`tensor`), those of a column (`channel`), `group` rows of K "
     "of a column (`group`), or the same and of activations, too (`block`)"},
    {"", "scales",
     "which numbers share a scale: all (`tensor`), those of a column (`channel`), `group` rows of a column "
     "(`group`), `group` neighbours in a row (`block`); `none` is refused"},
    {kConvs, "group", "of no use: scales of a convolution are of the tensor or of channels"},
    {"matmul", "group", "rows of K that share a scale, with `scales: group` or `block`; it divides K"},
    {"quantize dequantize", "group", "numbers that share a scale, with `scales: group` or `block`"},
    {"", "scale_dtype",
     "of the scales of channels, groups and blocks: a floating-point format; without it, `bf16`, of blocks "
     "`fp8`"},
    {"", "sparsity",
     "`N:M`, such as 2:4: of every M weights along K, N are stored, with their places; M divides K (of a "
     "convolution, the input channels of a group)"},

    // Elements and windows.
    {"elementwise", "kind",
     "what is done with two numbers; `select` takes the first where the second says so, and a constant "
     "elsewhere"},
    {"elementwise", "stored", "shape of a stored second operand, in place of a second input"},
    {"activation", "function", "function of each number"},
    {"pool", "kind", "the greatest number of a window, or its mean"},
    {"pool", "window", "extent of a window in height and width; unless `global`, it must be there"},
    {"pool", "global", "one window, of the whole map"},
    {"norm", "kind",
     "`layer` subtracts the mean of a row and divides by its deviation, `rms` divides by the root of its "
     "mean square"},
    {"reduce", "kind", "what becomes of a row along the last dimension"},
    {"resize", "kind", "how a pixel comes from those of the input"},
    {"resize", "scale", "rows and columns of the output for each of the input; or give `size`"},
    {"resize", "size", "rows and columns of the output; or give `scale`"},
    {"top_k", "k", "how many of the greatest numbers of a row, in descending order"},
    {"top_k", "result", "the numbers, or where in the row they stand"},

    // Moves and lookups.
    {"transpose", "permutation", "dimensions of the input, counted from 0, in the order of the output's"},
    {"reshape", "shape", "of the output, with as many elements; no work, a view"},
    {"embedding", "vocabulary", "rows of the table"},
    {"embedding", "width", "numbers of a row of the table, and so the last dimension of the output"},
    {"embedding", "bag", "indices in a row whose rows of the table are summed to one; 1: no sum"},
    {"", "spread",
     "which rows lookups meet, for indices are data and not given: evenly over the table, or by a fixed "
     "hash"},
    {"concat", "axis", "dimension along which tensors are joined, counted from 0; without it, the last"},
    {"slice", "axis", "dimension that is cut, counted from 0; without it, the last"},
    {"collective", "axis",
     "dimension that chips share, counted from 0; without it, the last; an all_reduce has none"},
    {"rotary", "axis", "dimension of positions, counted from 0; without it, the last but one"},
    {"slice", "begin", "first index that is kept, counted from 0; without it, 0"},
    {"slice", "size", "indices that are kept; without it, all to the end"},
    {"slice", "parts", "equal parts, of which one is kept; in place of `begin` and `size`"},
    {"slice", "part", "which of the `parts` is kept, counted from 0"},

    // Attention, and chips together.
    {"attention", "heads", "heads of queries"},
    {"attention", "kv_heads",
     "heads of keys and values, each shared by `heads` / `kv_heads` heads of queries; without it, `heads`"},
    {"attention", "causal",
     "a query sees the keys up to its own place, the last one all; `false`: each sees all"},
    {"attention", "value_dim", "numbers of a head's row of values; without it, as many as of keys"},
    {"attention", "fused",
     "scores never leave the chip; `false`: layers NAME.scores, NAME.softmax and NAME, with tensors between "
     "them"},
    {"kv_cache", "heads", "heads of keys or values"},
    {"kv_cache", "length", "rows of the cache, with the new ones, which are its last"},
    {"collective", "kind",
     "what chips do together: the sum to all, all parts to all, the sum's part to each, to each its part "
     "from all; `replicate`: no work, but an all_reduce of its gradient"},
    {"collective", "chips", "chips of the ring, all of which run this trace; at most 65,536"},
});

bool names(std::string_view ops, std::string_view op) {
    for (std::size_t at = ops.find(op); at != std::string_view::npos; at = ops.find(op, at + 1)) {
        const std::size_t end = at + op.size();
        if ((at == 0 || ops[at - 1] == ' ') && (end == ops.size() || ops[end] == ' ')) return true;
    }
    return false;
}

}  // namespace

std::span<const KeyMeaning> key_meanings() {
    return kMeanings;
}

const KeyMeaning* find_key_meaning(std::string_view op, std::string_view key) {
    const auto found = std::ranges::find_if(kMeanings, [&](const KeyMeaning& row) {
        return row.key == key && (row.ops.empty() || names(row.ops, op));
    });
    return found == kMeanings.end() ? nullptr : &*found;
}

}  // namespace systole
