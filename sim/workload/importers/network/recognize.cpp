// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/network/recognize.h"

#include <algorithm>

namespace systole {
namespace {

constexpr std::string_view kMul = ", kind: mul", kAdd = ", kind: add", kSub = ", kind: sub",
                           kDiv = ", kind: div", kMax = ", kind: max";

/// Products and quotients that are looked into for one spelling: those of a GELU are eight. Networks chain
/// thousands.
constexpr int kMostFactors = 16;

}  // namespace

Recognizer::Recognizer(Network& network, const std::vector<bool>& dropped)
    : network_(network), dropped_(dropped), uses_(network.tensors_.size(), 0) {
    for (std::size_t i = 0; i < network_.steps_.size(); ++i)
        if (!dropped_[i] && network_.steps_[i].op != "reshape")
            for (const TensorId id : network_.steps_[i].in) ++uses_[base(id)];
    for (const TensorId id : network_.outputs_) ++uses_[base(id)];
}

TensorId Recognizer::base(TensorId tensor) const {
    while (const auto step = network_.tensors_[tensor].step) {
        if (network_.steps_[*step].op != "reshape") break;
        tensor = network_.steps_[*step].in[0];
    }
    return tensor;
}

Step* Recognizer::maker(TensorId tensor) const {
    const auto step = network_.tensors_[base(tensor)].step;
    return step ? &network_.steps_[*step] : nullptr;
}

std::int64_t Recognizer::elements_of(TensorId tensor) const {
    return elements(network_.tensors_[tensor].shape);
}

Step* Recognizer::only(TensorId tensor, std::string_view op, std::string_view keys) const {
    Step* const step = maker(tensor);
    return step && uses(tensor) == 1 && step->op == op && step->keys == keys ? step : nullptr;
}

Step* Recognizer::function(TensorId tensor, std::string_view name) const {
    Step* const step = only(tensor, "activation");
    return step && step->function == name ? step : nullptr;
}

bool Recognizer::is_number(const Step& step) const {
    return step.stored && elements(*step.stored) == 1;
}

/// Whether it is a stored row, one number for each column.
bool Recognizer::is_row(const Step& step, std::int64_t columns) const {
    return step.stored && elements(*step.stored) == columns && step.stored->back() == columns;
}

/// Of one and the same operation on the same tensors, too: files write some twice.
bool Recognizer::same(TensorId a, TensorId b) const {
    if (base(a) == base(b)) return true;
    const Step *const x = maker(a), *const y = maker(b);
    if (!x || !y || x->op != y->op || x->keys != y->keys || x->stored || y->stored ||
        x->function != y->function || x->in.size() != y->in.size())
        return false;
    for (std::size_t i = 0; i < x->in.size(); ++i)
        if (base(x->in[i]) != base(y->in[i])) return false;
    return true;
}

Recognizer::Factors Recognizer::factors(TensorId tensor) const {
    Factors found;
    std::vector<TensorId> left{tensor};
    for (int opened = 0; !left.empty();) {
        const TensorId next = left.back();
        left.pop_back();
        const Step* const step = opened < kMostFactors ? maker(next) : nullptr;
        const bool product_of = step && step->op == "elementwise" && (opened == 0 || uses(next) == 1);
        const bool of_tensors = product_of && step->keys == kMul && !step->stored;
        const bool of_number = product_of && (step->keys == kMul || step->keys == kDiv) && is_number(*step);
        if (of_tensors || of_number) {
            ++opened;
            found.numbers += of_number ? 1 : 0;
            left.insert(left.end(), step->in.rbegin(), step->in.rend());
        } else {
            found.tensors.push_back(next);
        }
    }
    return found;
}

bool Recognizer::by_rows(const Step& step) const {
    if (step.in.size() != 2) return false;
    Shape wanted = network_.tensors_[step.in[0]].shape;
    wanted.back() = 1;
    return network_.tensors_[step.in[1]].shape == wanted;
}

std::optional<TensorId> Recognizer::without_number(TensorId tensor, std::string_view kind) const {
    const Step* const step = only(tensor, "elementwise", kind);
    return step && is_number(*step) ? std::optional(step->in[0]) : std::nullopt;
}

std::optional<TensorId> Recognizer::mean_of(TensorId tensor) const {
    const Step* step = maker(tensor);
    if (step && step->op == "reduce" && step->keys == ", kind: mean") return step->in[0];
    for (const std::string_view kind : {kDiv, kMul})
        if (step && step->op == "elementwise" && step->keys == kind && is_number(*step))
            if (const Step* const sum = only(step->in[0], "reduce", ", kind: sum")) return sum->in[0];
    return std::nullopt;
}

std::optional<TensorId> Recognizer::square_of(TensorId tensor) const {
    const Step* const step = maker(tensor);
    if (!step || uses(tensor) != 1 || step->op != "elementwise") return std::nullopt;
    if (step->keys == kMul && !step->stored && step->in.size() == 2 && same(step->in[0], step->in[1]))
        return step->in[0];
    return std::nullopt;
}

/// x / sqrt(y), x * rsqrt(y), x * reciprocal(sqrt(y)) or x * (1 / sqrt(y)): y.
std::optional<TensorId> Recognizer::under_root(const Step& normal) const {
    const TensorId by = normal.in[1];
    if (normal.keys == kDiv) {
        const Step* const root = function(by, "sqrt");
        return root ? std::optional(root->in[0]) : std::nullopt;
    }
    if (normal.keys != kMul) return std::nullopt;
    if (const Step* const root = function(by, "rsqrt")) return root->in[0];
    const Step* const reciprocal = function(by, "reciprocal");
    const std::optional<TensorId> inverted =
        reciprocal ? std::optional(reciprocal->in[0]) : without_number(by, kDiv);
    const Step* const root = inverted ? function(*inverted, "sqrt") : nullptr;
    return root ? std::optional(root->in[0]) : std::nullopt;
}

/// `root` becomes the layer, of x seen as root's own shape.
bool Recognizer::replace(Step& root, TensorId x, std::string_view op, std::string_view keys,
                         std::string_view function) {
    const Shape& shape = network_.tensors_[root.out].shape;
    if (network_.tensors_[x].shape != shape) x = base(x);
    if (network_.tensors_[x].shape != shape ||
        network_.tensors_[x].dtype != network_.tensors_[root.out].dtype)
        return false;
    Step layer{root.name, std::string(op), {x}};
    layer.keys = keys;
    layer.function = function;
    layer.out = root.out;
    ++uses_[base(x)];
    release(root);
    root = std::move(layer);
    ++found_;
    return true;
}

/// Nobody makes anything of what the step read any more.
void Recognizer::release(const Step& step) {
    for (const TensorId id : step.in) {
        const Step* const made = maker(id);
        if (--uses_[base(id)] == 0 && made) release(*made);
    }
}

bool Recognizer::softmax(Step& root) {
    if (root.op != "elementwise" || root.keys != kDiv || root.in.size() != 2) return false;
    const Step* const sum = only(root.in[1], "reduce", ", kind: sum");
    const Step* const power = maker(root.in[0]);
    if (!sum || !power || base(sum->in[0]) != base(root.in[0]) || uses(root.in[0]) != 2) return false;
    if (power->op != "activation" || power->function != "exp") return false;
    const Step* const difference = only(power->in[0], "elementwise", kSub);
    if (!difference || !by_rows(*difference) || !by_rows(root)) return false;
    TensorId most = difference->in[1];
    // JAX takes the greater one of minus infinity and the maximum.
    if (const auto plain = without_number(most, kMax)) most = *plain;
    const Step* const greatest = only(most, "reduce", kMax);
    const TensorId x = difference->in[0];
    if (!greatest || base(greatest->in[0]) != base(x)) return false;
    const std::int64_t row = network_.tensors_[x].shape.back();
    for (const TensorId rows : {greatest->in[0], sum->in[0], root.in[0]})
        if (network_.tensors_[rows].shape.back() != row) return false;
    return replace(root, x, "softmax", "", "");
}

/// root: shift added, of a layer norm; or scale multiplied, of an rms norm. Both stored.
bool Recognizer::norm(Step& root) {
    if (root.op != "elementwise" || !root.stored || root.in.size() != 1) return false;
    const Step* scaled = &root;
    const bool shifts = root.keys == kAdd;
    if (shifts) scaled = only(root.in[0], "elementwise", kMul);
    const std::int64_t row = network_.tensors_[root.out].shape.back();
    if (!scaled || scaled->keys != kMul || row == 1 || !is_row(*scaled, row) || !is_row(root, row))
        return false;
    const Step* const normal = maker(scaled->in[0]);
    if (!normal || uses(scaled->in[0]) != 1 || normal->op != "elementwise" || !by_rows(*normal)) return false;
    const std::optional<TensorId> under = under_root(*normal);
    if (!under) return false;
    const auto variance = without_number(*under, kAdd);
    const auto squares = variance && uses(*variance) == 1 ? mean_of(*variance) : std::nullopt;
    const auto centred = squares ? square_of(*squares) : std::nullopt;
    if (!centred || !same(*centred, normal->in[0])) return false;
    if (network_.tensors_[*squares].shape.back() != row) return false;
    if (!shifts) return replace(root, normal->in[0], "norm", ", kind: rms", "");
    const Step* const difference = maker(normal->in[0]);
    if (!difference || difference->op != "elementwise" || difference->keys != kSub || !by_rows(*difference))
        return false;
    const auto x = mean_of(difference->in[1]);
    if (!x || base(*x) != base(difference->in[0]) || network_.tensors_[*x].shape.back() != row) return false;
    return replace(root, difference->in[0], "norm", ", kind: layer", "");
}

/// Numbers times (x + numbers times x^3).
bool Recognizer::is_cube_sum(TensorId tensor, TensorId x) const {
    const Factors outer = factors(tensor);
    if (outer.tensors.size() != 1) return false;
    const Step* const sum = only(outer.tensors[0], "elementwise", kAdd);
    if (!sum || sum->in.size() != 2) return false;
    for (const std::size_t i : {0, 1}) {
        if (base(sum->in[i]) != base(x)) continue;
        const Factors cube = factors(sum->in[1 - i]);
        if (cube.tensors.size() == 3 &&
            std::ranges::all_of(cube.tensors, [&](TensorId each) { return base(each) == base(x); }))
            return true;
    }
    return false;
}

/// 1 + erf(numbers times x), 1 + tanh(cube sum).
bool Recognizer::is_gelu_gate(TensorId tensor, TensorId x) const {
    const auto curve = without_number(tensor, kAdd);
    if (!curve) return false;
    if (const Step* const tanh = function(*curve, "tanh")) return is_cube_sum(tanh->in[0], x);
    const Step* const erf = function(*curve, "erf");
    if (!erf) return false;
    const Factors inside = factors(erf->in[0]);
    return inside.tensors.size() == 1 && base(inside.tensors[0]) == base(x);
}

/// x times something of x.
bool Recognizer::unit(Step& root) {
    if (root.op != "elementwise" || root.keys != kMul) return false;
    const Factors found = factors(root.out);
    if (found.tensors.size() != 2) return false;
    for (const std::size_t i : {0, 1}) {
        const TensorId x = found.tensors[i], gate = found.tensors[1 - i];
        const Step* const sigmoid = function(gate, "sigmoid");
        if (sigmoid && base(sigmoid->in[0]) == base(x) && found.numbers == 0)
            return replace(root, x, "activation", "", "silu");
        const Step* const hard = function(gate, "hard_sigmoid");
        if (hard && base(hard->in[0]) == base(x) && found.numbers == 0)
            return replace(root, x, "activation", "", "hard_swish");
        if (found.numbers > 0 && is_gelu_gate(gate, x)) return replace(root, x, "activation", "", "gelu");
    }
    return false;
}

void Recognizer::run() {
    // From the end: the last operation of a spelling is met before its parts.
    for (std::size_t i = network_.steps_.size(); i-- > 0;) {
        Step& step = network_.steps_[i];
        if (dropped_[i] || uses(step.out) == 0) continue;
        if (!softmax(step) && !norm(step)) unit(step);
    }
}

}  // namespace systole
