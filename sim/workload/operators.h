// SPDX-License-Identifier: Apache-2.0
// The operators of a layer graph: plain values that say what is to be computed, never how. Shapes are in
// elements. Feature maps are NHWC, matrices row-major.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/base/units.h"
#include "sim/workload/conv_operators.h"
#include "sim/workload/function.h"
#include "sim/workload/weight_format.h"

namespace systole {

/// out[b,m,n] = post(bias[n] + sum over k of a[b,m,k] * w[(b,)k,n]). `shared_weights`: the second operand is
/// stored, one weight matrix for all b (batch is then folded into m by lowering), or, of `experts`, one for
/// each; otherwise it is another activation of shape [batch,k,n].
struct MatMul {
    std::int64_t batch = 1, m = 1, n = 1, k = 1;
    bool shared_weights = true;
    bool transposed_a = false;  ///< the first operand is [batch, k, m]; never with stored weights
    bool transposed_b = false;  ///< the second operand is stored [.., n, k]
    bool bias = false;
    Function post = Function::None;
    WeightFormat format = {};  ///< of stored weights
    /// Weight matrices that are stored, with a bias and scales each. The first `batch` of them are met, the
    /// others only take memory: which ones tokens choose is data. 0: one matrix, which all of b meet.
    std::int64_t experts = 0;
    friend bool operator==(const MatMul&, const MatMul&) = default;
};

/// out = post(a op b), element by element. b has the shape of a, or of the innermost dimensions of a: then it
/// holds elements / times and is met `times` times, one behind the other. Or it lacks dimensions in the
/// middle: then a and b are `items` such pairs, one behind the other. It may be a stored tensor.
struct Elementwise {
    /// Compare: any test, of which true or false comes out. Select: a where b says so, a constant elsewhere.
    enum class Kind { Add, Sub, Mul, Max, Min, Div, Pow, Compare, Select };
    Kind kind = Kind::Add;
    std::int64_t elements = 1;
    Function post = Function::None;
    std::int64_t times = 1;
    bool stored = false;
    std::int64_t items = 1;
    /// If not None, b stands for the slope of that function at b: a gradient on its way back through it.
    Function slope = Function::None;
    friend bool operator==(const Elementwise&, const Elementwise&) = default;
};

struct Activation {
    Function function = Function::Relu;
    std::int64_t elements = 1;
    friend bool operator==(const Activation&, const Activation&) = default;
};

/// The greatest or the average of each window.
struct Pool {
    enum class Kind { Max, Average };
    Kind kind = Kind::Max;
    std::int64_t batch = 1, in_h = 1, in_w = 1, channels = 1;
    std::int64_t window_h = 1, window_w = 1, stride = 1, pad = 0;
    Uneven uneven = {};
    /// Of averages of whole maps: reads the gradient of what the pool made, and gives each pixel its share.
    bool gradient = false;

    /// Whether one window is all of the map.
    bool global() const { return out_h() == 1 && out_w() == 1 && window_h == in_h && window_w == in_w; }
    std::int64_t stride_w() const { return uneven.stride_w.value_or(stride); }
    std::int64_t left() const { return uneven.pad_left.value_or(pad); }
    std::int64_t bottom() const { return uneven.pad_bottom.value_or(pad); }
    std::int64_t right() const { return uneven.pad_right.value_or(pad); }
    std::int64_t out_h() const { return (in_h + pad + bottom() - window_h) / stride + 1; }
    std::int64_t out_w() const { return (in_w + left() + right() - window_w) / stride_w() + 1; }
    friend bool operator==(const Pool&, const Pool&) = default;
};

/// Along the last dimension: `rows` independent rows of `cols` elements.
struct Softmax {
    std::int64_t rows = 1, cols = 1;
    /// Of two inputs, the gradient g of what it made and that itself, y: out = y (g - sum over the row of g
    /// y).
    bool gradient = false;
    friend bool operator==(const Softmax&, const Softmax&) = default;
};

struct Norm {
    enum class Kind { Layer, Rms };
    Kind kind = Kind::Layer;
    std::int64_t rows = 1, cols = 1;
    /// Of two inputs, the gradient of what it made and what it read: the gradient of the latter. It reads the
    /// stored gains, and has no shift.
    bool gradient = false;
    friend bool operator==(const Norm&, const Norm&) = default;
};

/// One number of each row; or, `columns`, the sum of each column: of products, where there are two inputs; of
/// `items` matrices, one behind the other, each by itself.
struct Reduce {
    enum class Kind { Sum, Mean, Max, Min, Product };
    Kind kind = Kind::Sum;
    std::int64_t rows = 1, cols = 1;
    bool columns = false;
    std::int64_t items = 1;
    friend bool operator==(const Reduce&, const Reduce&) = default;
};

/// out[.., permuted ..] = in: element [i0,i1,..] of the output is element of the input with dims permuted.
struct Transpose {
    std::vector<std::int64_t> shape;        ///< of the input
    std::vector<std::int64_t> permutation;  ///< output dim d is input dim permutation[d]
    friend bool operator==(const Transpose&, const Transpose&) = default;
};

/// Which rows lookups meet, for indices are data that nobody gives: evenly spread over the table, or by a
/// fixed hash of the lookup's number.
enum class Spread { Even, Random };

/// out[i,:] = sum over b of table[index[i * bag + b],:].
struct Embedding {
    std::int64_t vocabulary = 1, width = 1, lookups = 1;
    Spread spread = Spread::Even;
    std::int64_t bag = 1;  ///< lookups that are summed into one row of the output; divides them
    friend bool operator==(const Embedding&, const Embedding&) = default;
};

/// The gradient of an Embedding's table, all of it: row v is the sum of the gradients [lookups / bag, width]
/// of the lookups that met row v, zero where none did.
struct EmbeddingGradient {
    std::int64_t vocabulary = 1, width = 1, lookups = 1;
    Spread spread = Spread::Even;
    std::int64_t bag = 1;
    friend bool operator==(const EmbeddingGradient&, const EmbeddingGradient&) = default;
};

/// out[i,:] = in[index[i],:]: the first operand holds `rows` rows, the second the indices.
struct Gather {
    std::int64_t rows = 1, width = 1, lookups = 1;
    Spread spread = Spread::Even;
    friend bool operator==(const Gather&, const Gather&) = default;
};

/// Tensors one behind the other along an axis. `outer`: elements of the dimensions before it, `inner`: behind
/// it; `sizes`: of the axis in each input.
struct Concat {
    std::int64_t outer = 1, inner = 1;
    std::vector<std::int64_t> sizes;
    friend bool operator==(const Concat&, const Concat&) = default;
};

/// Of an axis of `in` indices, `size` from `begin` on; `outer` and `inner` as for Concat.
struct Slice {
    std::int64_t outer = 1, inner = 1, in = 1, begin = 0, size = 1;
    /// Reads the gradient of the slice; makes that of all `in` indices, zero outside it.
    bool gradient = false;
    friend bool operator==(const Slice&, const Slice&) = default;
};

/// Another size of a feature map. Nearest: of input pixel floor(p * in / out). Bilinear: between the four
/// that surround (p + 1/2) * in / out - 1/2 (centres of pixels, not corners, lie on each other).
struct Resize {
    enum class Kind { Nearest, Bilinear };
    Kind kind = Kind::Nearest;
    std::int64_t batch = 1, in_h = 1, in_w = 1, channels = 1;
    std::int64_t out_h = 1, out_w = 1;
    friend bool operator==(const Resize&, const Resize&) = default;
};

/// Rotary position embedding of [outer, seq, heads, dim]: of each head, pairs of elements turned by the angle
/// of the position. The stored table [seq, dim] holds the cosine and sine of each of the dim / 2 angles.
struct Rotary {
    std::int64_t outer = 1, seq = 1, heads = 1, dim = 2;
    friend bool operator==(const Rotary&, const Rotary&) = default;
};

/// Of each row, the k greatest elements in descending order, or where they stood.
struct TopK {
    std::int64_t rows = 1, cols = 1, k = 1;
    bool indices = false;
    /// Of two inputs, the gradient of the k greatest and where they stood: rows of `cols`, zero elsewhere.
    bool gradient = false;
    friend bool operator==(const TopK&, const TopK&) = default;
};

/// The element by element part of a step of a long short-term memory. Reads the pre-activations of the gates
/// [batch, 4 hidden] and the cell state c [batch, hidden]; writes h and c side by side, [batch, 2 hidden].
struct LstmCell {
    std::int64_t batch = 1, hidden = 1;
    friend bool operator==(const LstmCell&, const LstmCell&) = default;
};

/// The same of a gated recurrent unit: reads the pre-activations from the input and from the state, each
/// [batch, 3 hidden], and the state h [batch, hidden]; writes h.
struct GruCell {
    std::int64_t batch = 1, hidden = 1;
    friend bool operator==(const GruCell&, const GruCell&) = default;
};

/// The rows of a step, [batch, rows, heads * dim], written as the last ones of a stored cache
/// [batch, heads, length, dim], which is what comes out.
struct CacheAppend {
    std::int64_t batch = 1, rows = 1, heads = 1, dim = 1, length = 1;
    friend bool operator==(const CacheAppend&, const CacheAppend&) = default;
};

/// out = softmax(q k^T) v for each of `heads` heads of queries; heads / kv_heads of them in a row share a
/// head of keys and values. q is [batch, q_len, heads * head_dim], out [batch, q_len, heads * value_dim()].
/// The factor 1 / sqrt(head_dim) is in the weights of the queries. With `shared`, k and v are one tensor:
/// rows of v are the first elements of those of k, and one load serves both (a cache of latents).
struct Attention {
    /// All of it; or, where scores become tensors, one of its two products. Scores and their softmax are
    /// [batch, kv_heads, q_len, heads / kv_heads, kv_len].
    ///
    /// Keys is what gradients need: of scores s and rows r like queries, out[b, j, h, :] = sum over queries i
    /// and heads g of the group of s[b, h, i, g, j] * r[b, i, h * group + g, :], rows like keys (of head_dim)
    /// or, where `of_values`, like values.
    enum class Part { Whole, Scores, Context, Keys };
    Part part = Part::Whole;
    bool of_values = false;  ///< Scores, Keys: rows that are met, or made, are as long as those of values
    std::int64_t batch = 1, q_len = 1, kv_len = 1, heads = 1, kv_heads = 1, head_dim = 1;
    bool causal = false;  ///< query i sees the first kv_len - q_len + i + 1 keys
    bool by_head =
        false;  ///< k, v lie as [batch, kv_heads, kv_len, head_dim], not [batch, kv_len, kv_heads * head_dim]
    std::int64_t value_width = 0;  ///< elements of a row of values; 0: as many as of keys
    bool shared = false;           ///< k and v are one tensor
    bool turned = false;           ///< Keys: scores lie as [batch, kv_heads, kv_len, q_len, heads / kv_heads]

    /// Independent products: a head of keys and values of a batch item, with all its queries.
    std::int64_t items() const { return batch * kv_heads; }
    std::int64_t group() const { return heads / kv_heads; }
    std::int64_t value_dim() const { return value_width > 0 ? value_width : head_dim; }
    /// Scores, Keys: of the rows that are met, or made.
    std::int64_t row_dim() const { return of_values ? value_dim() : head_dim; }
    /// Keys that query i sees.
    std::int64_t visible(std::int64_t i) const { return causal ? kv_len - q_len + i + 1 : kv_len; }
    /// Of a head: queries with the keys that they see.
    std::int64_t pairs() const { return q_len * visible(0) + (causal ? q_len * (q_len - 1) / 2 : 0); }
    friend bool operator==(const Attention&, const Attention&) = default;
};

/// Numbers of one dtype as those of another: out[r, c] = in[r, c] * scale[r / group, c], or divided by it.
/// The scales are stored, but for one of a whole tensor, which is part of the program.
struct Scaling {
    enum class Kind { Quantize, Dequantize };
    Kind kind = Kind::Dequantize;
    std::int64_t rows = 1, cols = 1;
    WeightFormat format = {};  ///< its scales only
    friend bool operator==(const Scaling&, const Scaling&) = default;
};

/// A step of training for `elements` weights, in place: reads their gradient and their state (fp32, `slots()`
/// of each weight, one behind the other), writes the state, and the weights of the format that is multiplied
/// with.
struct Optimizer {
    /// Sgd: the weight in fp32. Momentum: beside it an average of gradients. Adam (Kingma and Ba, 2015): and
    /// one of their squares.
    enum class Kind { Sgd, Momentum, Adam };
    Kind kind = Kind::Adam;
    std::int64_t elements = 1;

    std::int64_t slots() const { return static_cast<std::int64_t>(kind) + 1; }
    friend bool operator==(const Optimizer&, const Optimizer&) = default;
};

/// What chips on a ring of `chips` do together, each with a tensor of `outer` rows of `row` elements.
/// All-reduce: the sum of all, to all. Reduce-scatter: of the sum each chip keeps a part of every row.
/// All-to-all: of every row each chip gets a part from each. All-gather: rows of all chips side by side, to
/// all.
struct Collective {
    enum class Kind { AllReduce, AllGather, ReduceScatter, AllToAll };
    Kind kind = Kind::AllReduce;
    std::int64_t chips = 2;
    std::int64_t outer = 1, row = 1;
    friend bool operator==(const Collective&, const Collective&) = default;
};
constexpr std::int64_t kMostChips = 65536;

using Operator =
    std::variant<Conv2d, MatMul, Elementwise, Activation, Pool, Softmax, Norm, Transpose, Embedding, Concat,
                 Slice, Resize, Rotary, Gather, TopK, LstmCell, GruCell, CacheAppend, Attention, Scaling,
                 ConvTranspose, Collective, Reduce, EmbeddingGradient, Optimizer>;

/// "conv2d", "matmul", "elementwise", ... as written in traces and results.
std::string_view op_name(const Operator& op);
std::string_view to_string(Function function);
/// All functions, "none" first, in the order of the enum.
const std::vector<std::string>& function_names();
/// "add", "sub", "mul", …, in the order of Elementwise::Kind.
const std::vector<std::string>& elementwise_kinds();

/// Multiply-accumulates of the matrix kind (convolutions, matmul: with the weights that are kept;
/// attention: of pairs that see each other); 0 for all others. Shapes in a Graph were checked for overflow
/// when it was read.
Macs macs(const Operator& op);

}  // namespace systole
