// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/network/recognize.h"

#include <catch2/catch.hpp>

#include "networks.h"
#include "sim/workload/importers/network/products.h"
#include "sim/workload/importers/network/vectors.h"

using namespace systole;
using namespace systole::test;

namespace {

const Shape kShape = {2, 8, 16};

/// A network under construction, in short words.
struct Writer {
    Network network;
    int count = 0;

    std::string name() { return "v" + std::to_string(++count); }
    Value x() { return network.input("x", kShape, kF); }
    Value number() { return network.stored(name(), {}, kF); }
    Value row() { return network.stored(name(), {16}, kF); }
    Value two(const char* kind, Value a, Value b) { return elementwise(network, name(), kind, a, b); }
    Value one(const char* function, Value a) { return apply(network, name(), function, a); }
    Value rows(const char* kind, Value a) { return reduce(network, name(), kind, a, {2}, true); }
    std::string layers(Value result) {
        network.output(result);
        return layers_of(graph_of(network));
    }
};

Value softmax_of(Writer& w, Value x, const char* greatest = "max") {
    const Value power = w.one("exp", w.two("sub", x, w.rows(greatest, x)));
    return w.two("div", power, w.rows("sum", power));
}

/// With the mean as a layer, or as a sum and a quotient.
Value mean_of(Writer& w, Value x, bool whole) {
    return whole ? w.rows("mean", x) : w.two("div", w.rows("sum", x), w.number());
}

Value normal_of(Writer& w, Value centred, bool whole, bool divides) {
    const Value square = w.two("mul", centred, centred);
    const Value variance = w.two("add", mean_of(w, square, whole), w.number());
    if (divides) return w.two("div", centred, w.one("sqrt", variance));
    return w.two("mul", centred, w.one("rsqrt", variance));
}

Value layer_norm_of(Writer& w, Value x, bool whole, bool divides) {
    const Value centred = w.two("sub", x, mean_of(w, x, whole));
    return w.two("add", w.two("mul", normal_of(w, centred, whole, divides), w.row()), w.row());
}

}  // namespace

TEST_CASE("softmax as a file spells it out is one layer") {
    Writer w;
    CHECK(w.layers(softmax_of(w, w.x())) == "softmax");
    Writer guarded;  // as JAX does, against rows of minus infinity
    const Value x = guarded.x();
    const Value most = guarded.two("max", guarded.rows("max", x), guarded.number());
    const Value power = guarded.one("exp", guarded.two("sub", x, most));
    CHECK(guarded.layers(guarded.two("div", power, guarded.rows("sum", power))) == "softmax");
}

TEST_CASE("what only looks like a softmax stays as it is") {
    Writer least;
    CHECK(least.layers(softmax_of(least, least.x(), "min")) == "reduce sub reduce div");
    // Somebody else reads the powers.
    Writer shared;
    const Value x = shared.x(), power = shared.one("exp", shared.two("sub", x, shared.rows("max", x)));
    const Value part = shared.two("div", power, shared.rows("sum", power));
    CHECK(shared.layers(shared.two("mul", part, power)) == "reduce sub reduce div mul");
    // Over the sum of something else.
    Writer other;
    const Value y = other.x(), raised = other.one("exp", other.two("sub", y, other.rows("max", y)));
    CHECK(other.layers(other.two("div", raised, other.rows("sum", y))) == "reduce sub reduce div");
}

TEST_CASE("norms as files spell them out are one layer, however means and roots are written") {
    const bool whole = GENERATE(true, false), divides = GENERATE(true, false);
    Writer layer;
    CHECK(layer.layers(layer_norm_of(layer, layer.x(), whole, divides)) == "norm");
    Writer rms;
    CHECK(rms.layers(rms.two("mul", normal_of(rms, rms.x(), whole, divides), rms.row())) == "norm");
    // Without the scale a trace's norm stores more than this does.
    Writer plain;
    CHECK(plain.layers(normal_of(plain, plain.x(), whole, divides)) != "norm");
}

TEST_CASE("what is left of a norm whose mean is another one's is the norm of what was taken from it") {
    Writer w;
    const Value x = w.x(), y = w.network.input("y", kShape, kF);
    const Value centred = w.two("sub", x, w.rows("mean", y));
    const Value normal = normal_of(w, centred, true, false);
    CHECK(w.layers(w.two("add", w.two("mul", normal, w.row()), w.row())) == "reduce sub norm add");
}

TEST_CASE("gated units are one function, which joins the product before them") {
    Writer silu;
    const Value x = silu.x();
    CHECK(silu.layers(silu.two("mul", x, silu.one("sigmoid", x))) == "activation");

    Writer erf;
    const Value made = matmul(erf.network, "product", erf.x(), erf.network.stored("w", {16, 32}, kF));
    const Value gate = erf.two("add", erf.one("erf", erf.two("div", made, erf.number())), erf.number());
    CHECK(erf.layers(erf.two("mul", erf.two("mul", made, erf.number()), gate)) == "matmul");

    Writer tanh;
    const Value y = tanh.x();
    const Value cube = tanh.two("mul", tanh.two("mul", tanh.two("mul", y, y), y), tanh.number());
    const Value curve = tanh.one("tanh", tanh.two("mul", tanh.two("add", y, cube), tanh.number()));
    CHECK(tanh.layers(tanh.two("mul", tanh.two("mul", y, tanh.two("add", curve, tanh.number())),
                               tanh.number())) == "activation");
}

TEST_CASE("what only looks like a gated unit stays as it is") {
    Writer other;
    const Value x = other.x(), y = other.network.input("y", kShape, kF);
    CHECK(other.layers(other.two("mul", x, other.one("sigmoid", y))) == "activation mul");
    Writer square;  // x^2 where GELU has x^3
    const Value z = square.x();
    const Value sum = square.two("add", z, square.two("mul", square.two("mul", z, z), square.number()));
    const Value curve = square.one("tanh", square.two("mul", sum, square.number()));
    const Value half = square.two("mul", square.two("add", curve, square.number()), square.number());
    CHECK(square.layers(square.two("mul", z, half)).find("mul") != std::string::npos);
}

TEST_CASE("roots are divided by in whatever way files write it, and hard swish is a gated unit, too") {
    for (const bool reciprocal : {true, false}) {
        Writer w;
        const Value x = w.x();
        const Value variance = w.two("add", w.rows("mean", w.two("mul", x, x)), w.number());
        const Value root = w.one("sqrt", variance);
        const Value inverse = reciprocal ? w.one("reciprocal", root) : w.two("div", w.number(), root);
        CHECK(w.layers(w.two("mul", w.two("mul", x, inverse), w.row())) == "norm");
    }
    Writer hard;
    const Value x = hard.x();
    CHECK(hard.layers(hard.two("mul", x, hard.one("hard_sigmoid", x))) == "activation");
}

TEST_CASE("a statistic that is met along another dimension than its own makes no softmax and no norm") {
    // Of a square tensor nothing but the operand's shape tells rows from columns.
    const auto across = [](Writer& w, const char* kind, Value x) {
        return reduce(w.network, w.name(), kind, x, {1}, false);
    };
    Writer soft;
    const Value x = soft.network.input("x", {16, 16}, kF);
    const Value power = soft.one("exp", soft.two("sub", x, across(soft, "max", x)));
    CHECK(soft.layers(soft.two("div", power, across(soft, "sum", power))) == "reduce sub reduce div");

    Writer norm;
    const Value y = norm.network.input("y", {16, 16}, kF);
    const Value variance = norm.two("add", across(norm, "mean", norm.two("mul", y, y)), norm.number());
    const Value normal = norm.two("mul", y, norm.one("rsqrt", variance));
    CHECK(norm.layers(norm.two("mul", normal, norm.row())) == "mul reduce add mul mul");

    Writer centre;
    const Value z = centre.network.input("z", {16, 16}, kF);
    const Value centred = centre.two("sub", z, across(centre, "mean", z));
    const Value spread = reduce(centre.network, "s", "mean", centre.two("mul", centred, centred), {1}, true);
    const Value rest =
        centre.two("mul", centred, centre.one("rsqrt", centre.two("add", spread, centre.number())));
    CHECK(centre.layers(centre.two("add", centre.two("mul", rest, centre.row()), centre.row())) ==
          "reduce sub norm add");
}

TEST_CASE("a power that nobody knows is no square") {
    Writer w;
    const Value x = w.x();
    const Value fourth = w.two("pow", x, w.number());
    const Value variance = w.two("add", w.rows("mean", fourth), w.number());
    const Value result = w.two("mul", w.two("mul", x, w.one("rsqrt", variance)), w.row());
    CHECK(w.layers(result).find("norm") == std::string::npos);
}

TEST_CASE("long chains of products are looked into a few steps only") {
    Writer w;
    const Value x = w.x(), y = w.network.input("y", kShape, kF);
    Value product = x;
    for (int i = 0; i < 100'000; ++i) product = w.two("mul", product, y);
    w.network.output(product);
    // Quadratic work takes minutes, and recursion no stack has.
    CHECK_FALSE(w.network.finish("t", {}, "file").trace.empty());
    CHECK(w.network.written() == 100'000);
}
