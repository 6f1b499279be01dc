// SPDX-License-Identifier: Apache-2.0
// Columns of operators without weights or lookups: element by element, along rows, and states of cells.
#include <fmt/format.h>

#include "sim/workload/op_reader.h"
#include "sim/workload/single_readers.h"

namespace systole {
namespace {

/// Elements of a state whose gates lie side by side in a row.
std::int64_t read_hidden(Keys& keys) {
    const std::int64_t hidden = keys.integer("hidden", 1);
    if (hidden <= kMaxInteger / 4) return hidden;
    keys.fail(
        fmt::format("'hidden' must be at most {}, not {}: gates are rows of four", kMaxInteger / 4, hidden));
    return 1;
}

}  // namespace

Single read_single_elementwise(Keys& keys) {
    Elementwise e;
    e.kind = static_cast<Elementwise::Kind>(keys.choice("kind", elementwise_kinds()));
    e.elements = keys.integer("elements", 1);
    e.post = read_post(keys);
    return {e, {{e.elements}, {e.elements}}, {e.elements}};
}

Single read_single_activation(Keys& keys) {
    Activation a;
    a.function = read_function(keys);
    a.elements = keys.integer("elements", 1);
    return {a, {{a.elements}}, {a.elements}};
}

Single read_single_softmax(Keys& keys) {
    const Softmax s{keys.integer("rows", 1), keys.integer("cols", 1)};
    return {s, {{s.rows, s.cols}}, {s.rows, s.cols}};
}

Single read_single_norm(Keys& keys) {
    Norm n;
    n.kind = static_cast<Norm::Kind>(keys.choice("kind", norm_kinds()));
    n.rows = keys.integer("rows", 1);
    n.cols = keys.integer("cols", 1);
    return {n, {{n.rows, n.cols}}, {n.rows, n.cols}};
}

Single read_single_reduce(Keys& keys) {
    Reduce r;
    r.kind = static_cast<Reduce::Kind>(keys.choice("kind", reduce_kinds()));
    r.rows = keys.integer("rows", 1);
    r.cols = keys.integer("cols", 1);
    return {r, {{r.rows, r.cols}}, {r.rows, 1}};
}

Single read_single_transpose(Keys& keys) {
    const std::int64_t rows = keys.integer("rows", 1), cols = keys.integer("cols", 1);
    return {Transpose{{rows, cols}, {1, 0}}, {{rows, cols}}, {cols, rows}};
}

Single read_single_resize(Keys& keys) {
    Resize r;
    r.kind = static_cast<Resize::Kind>(keys.choice("kind", resize_kinds()));
    r.batch = keys.integer("n", 1, 1);
    r.in_h = keys.integer("h", 1);
    r.in_w = keys.integer("w", 1);
    r.channels = keys.integer("c", 1);
    r.out_h = keys.integer("out_h", 1);
    r.out_w = keys.integer("out_w", 1);
    return {r, {{r.batch, r.in_h, r.in_w, r.channels}}, {r.batch, r.out_h, r.out_w, r.channels}};
}

Single read_single_rotary(Keys& keys) {
    Rotary r;
    r.outer = keys.integer("batch", 1, 1);
    r.seq = keys.integer("seq", 1);
    r.heads = keys.integer("heads", 1, 1);
    r.dim = keys.integer("dim", 1);
    const Shape shape = {r.outer, r.seq, r.heads, r.dim};
    return {r, {shape}, shape};
}

Single read_single_top_k(Keys& keys) {
    TopK t;
    t.rows = keys.integer("rows", 1);
    t.cols = keys.integer("cols", 1);
    t.k = keys.integer("k", 1);
    return {t, {{t.rows, t.cols}}, {t.rows, t.k}};
}

Single read_single_lstm_cell(Keys& keys) {
    const LstmCell c{keys.integer("batch", 1, 1), read_hidden(keys)};
    return {c, {{c.batch, 4 * c.hidden}, {c.batch, c.hidden}}, {c.batch, 2 * c.hidden}};
}

Single read_single_gru_cell(Keys& keys) {
    const GruCell c{keys.integer("batch", 1, 1), read_hidden(keys)};
    const Shape gates = {c.batch, 3 * c.hidden};
    return {c, {gates, gates, {c.batch, c.hidden}}, {c.batch, c.hidden}};
}

}  // namespace systole
