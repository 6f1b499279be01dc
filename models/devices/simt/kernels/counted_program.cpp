// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/counted_program.h"

#include <utility>

#include "models/devices/simt/kernels/program_writer.h"

namespace systole::simt {
namespace {

constexpr int kBarrier = 0;

std::int64_t bytes_of(const VectorKernel& kernel, DType dtype) {
    return bytes_of_warp(kernel, 1, dtype);
}

/// Sums over a warp, over all warps through shared memory, and what the first thread makes of it, for which
/// the others wait: a quotient by the number of columns, and a reciprocal root.
Section norm_root(const VectorKernel& kernel) {
    Section section;
    SectionWriter writer(section);
    writer.shuffle(kernel, kernel.warp_threads, 1, {1, 0, 0});
    writer.leave(kSum, 4);
    writer.wait(kBarrier, kSum);
    section.body.push_back({.op = Op::SharedLoad, .writes = kSum, .bytes = kernel.warp_threads * 4});
    writer.shuffle(kernel, kernel.warp_threads, 1, {1, 0, 0});
    // I2F and rcp, one behind the other; the remainder's steps while FCHK tests; rsqrt.
    writer.op(Op::Integer, kSum, kAddress);
    writer.special(2);
    writer.paced({5, 3, 0}, 30);
    writer.paced({2, 1, 0}, 22);
    writer.special(1);
    writer.paced({1, 1, 0}, 10);
    writer.leave(kAddress, 4);
    writer.wait(kBarrier);
    section.body.push_back({.op = Op::SharedLoad, .writes = kSum, .bytes = 4});
    return section;
}

}  // namespace

// Two loops over the row: an address, a load, its square added; two addresses and loads, the second of what
// the column has, two products that are rounded each, an address, a store.
WarpProgram vllm_norm(const VectorKernel& kernel, Section set_up) {
    Section squares, results;
    squares.trips = results.trips = kernel.trips();
    squares.steps = true;
    results.steps = !kernel.rereads_l1;
    const std::int64_t bytes = bytes_of(kernel, kernel.in);
    SectionWriter first(squares), second(results);
    first.paced({3, 0, 0}, 12);
    first.load(0, bytes);
    first.paced({0, 2, 0}, 5);
    first.paced({2, 1, 0}, 17, loaded(0));

    second.paced({3, 0, 0}, 12);
    if (kernel.rereads_l1)
        second.load_again(0, bytes);
    else
        second.load(0, bytes);
    second.paced({1, 0, 0}, 6);
    // Out of the L2 for an SM's first CTA, round by round.
    if (kernel.rereads_l1) second.load(1, bytes);
    second.load_again(1, bytes);
    second.paced({0, 2, 0}, 5, kSum);
    second.paced({6, 2, 0}, 30, loaded(0) | loaded(1));
    second.store(value(0), bytes_of(kernel, kernel.out));
    second.paced({0, 1, 0}, 5);

    Section columns;
    if (!kernel.rereads_l1) {
        columns.trips = kernel.trips();
        SectionWriter(columns).load(1, bytes);
    }
    return {std::move(set_up), std::move(squares), norm_root(kernel), std::move(columns), std::move(results)};
}

namespace {

/// A round over queries or keys: a division, four addresses of 64 bits, four loads, four products and two
/// sums that are rounded each.
Section rotary_round(const VectorKernel& kernel, std::int64_t trips) {
    Section round;
    SectionWriter writer(round);
    round.trips = trips;
    round.steps = true;
    writer.paced({12, 25, 0}, 98);
    RegisterGroups all = 0;
    for (std::int64_t i = 0; i < kernel.loads_of_step(); ++i) {
        writer.load(i, bytes_of(kernel, kernel.in));
        all |= loaded(i);
    }
    writer.paced({0, 2, 0}, 5);
    writer.paced({14, 4, 0}, 40, all);
    for (int i = 0; i < 2; ++i) writer.store(value(i), bytes_of(kernel, kernel.out));
    writer.paced({0, 1, 0}, 5);
    return round;
}

}  // namespace

// A loop over queries' pairs and one over keys', each behind a reciprocal of a head's pairs, but that over no
// keys.
std::vector<Role> vllm_rotary(const VectorKernel& kernel, const Section& set_up) {
    Section position, keys;
    SectionWriter before(position), behind(keys);
    position.body.push_back(
        {.op = Op::TableLoad, .reads = kAddress, .writes = kAddress, .amount = kernel.position_latency});
    before.paced({6, 9, 0}, 41);
    before.special(3);
    before.paced({6, 4, 0}, 34);
    behind.paced({3, 4, 0}, 30);
    behind.special(3);
    behind.paced({3, 3, 0}, 32);

    std::vector<Role> roles;
    const RotaryLoops loops = kernel.rotary_loops();
    std::int64_t of_queries = 0, of_keys = 0;
    for (std::int64_t warp = 0; warp < kernel.warps; ++warp) {
        const std::int64_t own_queries = loops.rounds_over(loops.queries, warp),
                           own_keys = loops.rounds_over(loops.keys, warp);
        if (roles.empty() || own_queries != of_queries || own_keys != of_keys) {
            of_queries = own_queries, of_keys = own_keys;
            WarpProgram program{set_up, position, rotary_round(kernel, own_queries)};
            if (own_keys > 0) {
                program.push_back(keys);
                program.push_back(rotary_round(kernel, own_keys));
            }
            roles.push_back({0, std::move(program)});
        }
        ++roles.back().warps;
    }
    return roles;
}

// Which row a thread's element is of, by a division; its index, which is tested; where the element lies in
// the row, by a quotient and a remainder; the same for the result, while the load is under way.
WarpProgram lookup_by_element(const VectorKernel& kernel, Section set_up) {
    constexpr std::int64_t kIndexBytes = 8;
    Section index, element, finish;
    index.steps = element.steps = true;
    SectionWriter first(index), second(element), stores(finish);
    first.special(3);
    first.paced({9, 9, 0}, 96);
    first.load(0, kIndexBytes);
    second.paced({0, 5, 0}, 30, loaded(0));
    // Quotient and remainder are computed side by side.
    second.special(6, 3);
    second.paced({18, 19, 0}, 173);
    second.load(1, bytes_of(kernel, kernel.in));
    second.special(3);
    second.paced({13, 12, 0}, 111);
    stores.store(loaded(1), bytes_of(kernel, kernel.out));
    stores.paced({0, 1, 0}, 16);
    return {std::move(set_up), std::move(index), std::move(element), std::move(finish)};
}

// Of each lookup: where its index lies, out of the L1 once the first one's load has brought them all; a test;
// where the element lies in the row, by a quotient and a remainder, and the same for the result, while the
// load is under way. A warp issues in order, so that the next lookup waits for what this one stores.
WarpProgram lookups_in_turn(const VectorKernel& kernel, Section set_up) {
    constexpr std::int64_t kIndexBytes = 8;
    Section index, element;
    index.steps = element.steps = true;
    element.trips = kernel.lookup.bag;
    SectionWriter first(index), each(element);
    first.load(0, kIndexBytes);
    each.paced({2, 0, 0}, 9, loaded(0));
    each.load_again(2, kIndexBytes);
    each.paced({0, 8, 0}, 46, loaded(2));
    // Quotients of both places are computed side by side.
    each.special(6, 3);
    each.paced({18, 17, 0}, 124);
    each.load(1, bytes_of(kernel, kernel.in));
    each.paced({9, 9, 0}, 79);
    each.store(loaded(1), bytes_of(kernel, kernel.out));
    each.paced({0, 5, 0}, 43);
    return {std::move(set_up), std::move(index), std::move(element)};
}

}  // namespace systole::simt
