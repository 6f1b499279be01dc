// SPDX-License-Identifier: Apache-2.0
#include "models/devices/simt/kernels/qkv_kernel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>

#include "models/devices/simt/kernels/program_writer.h"

namespace systole::simt {
namespace {

constexpr std::int64_t kThreads = 256, kWarpThreads = 32;
// The grid: threads of an SM that it is made for; of CTAs of a warp, these, and sequences of each at least
// (WARPS_PER_SM, MIN_SEQUENCES_PER_WARP).
constexpr std::int64_t kThreadsOfSm = 1024, kWarpsOfSm = 32, kLeastSequences = 4;
constexpr std::int64_t kSetUp = 30;   // instructions: its head, columns of queries, keys and values
constexpr std::int64_t kOfRow = 20;   // addresses of a row's five loads, in 64 bits
constexpr std::int64_t kPlaces = 18;  // a page's number and begin, and the place in it (kvCacheUtils.h)
constexpr int kBarrier = 0;
constexpr std::int64_t kLoads = 3;  // queries, keys, values; pairs of the first two are in the L1
/// Cosines and sines of a thread's elements, 8 bytes each, leave 64 bytes apart in as many loads; two of them
/// meet sectors that none did before.
constexpr std::int64_t kAngleLoads = 2, kPairBytes = 8;

std::int64_t element_bytes_of(const VectorKernel& kernel) {
    return bits_of(kernel.in).value() / 8;
}

/// Threads of a CTA with a table: whole warps that hold whole rows, 256 where fewer do.
std::int64_t threads_for(std::int64_t threads_of_row) {
    const std::int64_t least = std::lcm(threads_of_row, kWarpThreads);
    return std::max(least, kThreads / least * least);
}

/// CTAs of a head, the fewest that fill their last wave best.
std::int64_t best_width(std::int64_t blocks, std::int64_t heads, std::int64_t places) {
    float best = 0;
    std::int64_t width = 1;
    for (std::int64_t x = 1; x <= blocks; ++x) {
        const float waves = static_cast<float>(x * heads) / static_cast<float>(places);
        const float efficiency = waves / std::ceil(waves);
        if (efficiency > best) best = efficiency, width = x;
    }
    return width;
}

/// Of queries (0) or keys (1), a thread's element number `element` when it is turned.
RegisterGroups turned(int matrix, std::int64_t element) {
    return loaded(12 + matrix * 8 + element);
}

/// Of all elements, an instruction of each behind the other, as compilers schedule what they unroll.
void add_angles(const VectorKernel& kernel, SectionWriter& writer) {
    const auto each = [&](Op op, int times) {
        for (int i = 0; i < times; ++i)
            for (std::int64_t element = 0; element < kernel.vector; ++element)
                writer.op(op, value(element), value(element));
    };
    for (std::int64_t i = 0; i < kernel.vector; ++i)
        writer.load_again(4 + i, kWarpThreads * 4);  // frequencies
    for (std::int64_t i = 0; i < kernel.vector; ++i) writer.op(Op::Fp32, loaded(4 + i), value(i));
    each(Op::Fp32, sine_and_cosine().fp32);
    each(Op::Integer, sine_and_cosine().integer);
}

/// Both of a pair as numbers, x cos - y sin, and to the format in which they are stored.
void add_rotation(const VectorKernel& kernel, SectionWriter& writer) {
    const RegisterGroups angle = value(20) | loaded(kLoads) | loaded(kLoads + 1);
    const auto each = [&](Op op, bool of_pair, int times) {
        for (int i = 0; i < times; ++i)
            for (int matrix = 0; matrix < 2; ++matrix)
                for (std::int64_t element = 0; element < kernel.vector; ++element) {
                    const RegisterGroups own = turned(matrix, element);
                    const RegisterGroups pair = loaded(matrix) | loaded(28 + matrix);
                    const RegisterGroups turn = kernel.qkv.computed ? value(element) : angle;
                    writer.op(op, own | (of_pair ? pair : turn), own);
                }
    };
    const InstructionMix conversion = conversion_from(kernel.in);
    each(Op::Integer, true, 2 * conversion.integer);
    each(Op::Fp32, true, 2 * conversion.fp32);
    each(Op::Fp32, false, 2);
    each(Op::Integer, false, 1 + conversion_to(kernel.out).integer);  // the sine's sign
}

/// Loads of a row's parts, and the pairs, whose lines are those.
void add_loads(const VectorKernel& kernel, std::int64_t bytes, Section& section) {
    SectionWriter writer(section);
    writer.op(Op::Integer, kAddress, kAddress, kOfRow);
    for (std::int64_t i = 0; i < kLoads; ++i) writer.load(i, bytes);
    const std::int64_t all = kernel.warp_threads * kernel.vector * kPairBytes;
    if (!kernel.qkv.computed) {
        for (std::int64_t i = 0; i < kAngleLoads; ++i) writer.load(kLoads + i, all / kAngleLoads);
        for (std::int64_t i = kAngleLoads; i < kernel.vector; ++i)
            section.body.push_back({.op = Op::SharedLoad,
                                    .reads = loaded(kLoads) | loaded(kLoads + 1),
                                    .writes = value(20),
                                    .bytes = all});
    }
    for (std::int64_t i = 0; i < 2; ++i)
        section.body.push_back(
            {.op = Op::SharedLoad, .reads = loaded(i), .writes = loaded(28 + i), .bytes = bytes});
}

/// Where keys and values go, when all of the CTA have read; and queries, and keys and values, which one of
/// the heads that share them stores: of the others' warps a part each, on average.
void add_stores(const VectorKernel& kernel, std::int64_t bytes, Section& section) {
    SectionWriter writer(section);
    writer.op(Op::Integer, kAddress, value(22), kPlaces / 2);
    for (const RegisterGroups page : {RegisterGroups{0}, value(23)})
        section.body.push_back(
            {.op = Op::TableLoad, .reads = value(22), .writes = page, .amount = kernel.qkv.table});
    writer.op(Op::Integer, value(23), value(23), kPlaces);
    RegisterGroups all = value(23);
    for (int matrix = 0; matrix < 2; ++matrix)
        for (std::int64_t element = 0; element < kernel.vector; ++element) all |= turned(matrix, element);
    if (kernel.warps > 1) writer.wait(kBarrier, all);
    writer.store(all, bytes);
    const std::int64_t others = kernel.qkv.keeps_keys ? 3 : 2;
    for (std::int64_t i = 0; i < others; ++i) writer.store(all, ceil_div(bytes, kernel.qkv.group()));
    writer.loop();
}

Section round(const VectorKernel& kernel, bool computes, std::int64_t trips) {
    Section section;
    section.steps = true;
    section.trips = trips;
    SectionWriter writer(section);
    const QkvRows& rows = kernel.qkv;
    const std::int64_t bytes =
        rows.computed ? rows.dim * element_bytes_of(kernel) : bytes_of_warp(kernel, kernel.vector, kernel.in);
    // A row's sequence and place in it, where sequences differ in length; then that sequence's length.
    if (rows.computed || rows.seq == 1) {
        const std::int64_t first = rows.computed && rows.seq > 1 ? rows.near : rows.table;
        section.body.push_back({.op = Op::TableLoad, .reads = kAddress, .writes = kAddress, .amount = first});
    } else {
        section.body.push_back(
            {.op = Op::TableLoad, .reads = kAddress, .writes = kAddress, .amount = rows.table});
        section.body.push_back(
            {.op = Op::TableLoad, .reads = kAddress, .writes = kAddress, .amount = rows.near});
    }
    add_loads(kernel, bytes, section);
    if (computes) add_angles(kernel, writer);
    add_rotation(kernel, writer);
    add_stores(kernel, bytes, section);
    return section;
}

/// Whether the layer reads the tensor, or a view of it.
bool sees(const Graph& graph, const Layer& layer, TensorId tensor) {
    return std::ranges::any_of(layer.inputs, [&](TensorId id) {
        return id == tensor || graph.tensors[id].view_of == std::optional(tensor);
    });
}

/// Whether anybody but one layer reads the tensor.
bool is_kept(const Graph& graph, TensorId tensor, const Layer& reader) {
    const auto is_output = [&](TensorId id) {
        return id == tensor || graph.tensors[id].view_of == std::optional(tensor);
    };
    return std::ranges::any_of(graph.outputs, is_output) ||
           std::ranges::any_of(graph.layers, [&](const Layer& layer) {
               return layer.output != reader.output && sees(graph, layer, tensor);
           });
}

/// Whether the first two are rotary embeddings of the same tokens, which do not wait for each other.
bool turns_both(const Graph& graph, std::span<const Layer> layers) {
    if (layers.size() < kTurnedByVllm) return false;
    const auto *queries = std::get_if<Rotary>(&layers[0].op), *keys = std::get_if<Rotary>(&layers[1].op);
    return queries != nullptr && keys != nullptr && queries->outer == keys->outer &&
           queries->seq == keys->seq && queries->dim == keys->dim && queries->heads % keys->heads == 0 &&
           graph.tensors[layers[0].inputs.at(0)].dtype == graph.tensors[layers[1].inputs.at(0)].dtype &&
           graph.tensors[layers[0].output].dtype == graph.tensors[layers[1].output].dtype &&
           !sees(graph, layers[1], layers[0].output);
}

/// Whether the first of them are rotary embeddings of queries and keys, and caches of these and of values.
bool turns_and_caches(const Graph& graph, std::span<const Layer> layers) {
    if (layers.size() < kQkvLayers) return false;
    const auto *queries = std::get_if<Rotary>(&layers[0].op), *keys = std::get_if<Rotary>(&layers[1].op);
    const auto *cache = std::get_if<CacheAppend>(&layers[2].op),
               *values = std::get_if<CacheAppend>(&layers[3].op);
    if (queries == nullptr || keys == nullptr || cache == nullptr || values == nullptr) return false;
    const bool alike = queries->outer == keys->outer && queries->seq == keys->seq &&
                       queries->dim == keys->dim && queries->heads % keys->heads == 0 && *cache == *values;
    const bool cached = cache->batch == keys->outer && cache->rows == keys->seq &&
                        cache->heads == keys->heads && cache->dim == keys->dim;
    // Threads hold 16 bytes of a head, a warp a head of at most eight elements each.
    const std::int64_t bytes =
        queries->dim * bits_of(graph.tensors[layers[0].inputs.at(0)].dtype).value() / 8;
    return alike && cached && bytes % kThreadBytes == 0 && bytes <= kWarpThreads * kThreadBytes &&
           sees(graph, layers[2], layers[1].output);
}

/// Whether the first two are slices of one matrix, one behind the other from its first column on, that only
/// the two rotary embeddings behind them read.
bool turns_views(const Graph& graph, std::span<const Layer> layers) {
    if (layers.size() < kTurnedViews || !turns_both(graph, layers.subspan(2))) return false;
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < 2; ++i) {
        const auto* slice = std::get_if<Slice>(&layers[i].op);
        const auto& turned = std::get<Rotary>(layers[2 + i].op);
        if (slice == nullptr || slice->gradient || layers[i].inputs != layers[0].inputs) return false;
        if (slice->outer != turned.outer * turned.seq || slice->inner != 1 || slice->begin != begin ||
            slice->size != turned.heads * turned.dim || !sees(graph, layers[2 + i], layers[i].output) ||
            is_kept(graph, layers[i].output, layers[2 + i]))
            return false;
        begin += slice->size;
    }
    return true;
}

/// Whether the first three are the slices of one matrix that the others read: queries, keys and values.
bool is_packed(const Graph& graph, std::span<const Layer> layers) {
    const auto &queries = std::get<Rotary>(layers[3].op), &keys = std::get<Rotary>(layers[4].op);
    const std::array sizes{queries.heads * queries.dim, keys.heads * keys.dim, keys.heads * keys.dim};
    const std::array readers{std::size_t{3}, std::size_t{4}, std::size_t{6}};
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const auto* slice = std::get_if<Slice>(&layers[i].op);
        if (slice == nullptr || slice->gradient || layers[i].inputs != layers[0].inputs) return false;
        if (slice->outer != queries.outer * queries.seq || slice->inner != 1 || slice->begin != begin ||
            slice->size != sizes[i] || !sees(graph, layers[readers[i]], layers[i].output) ||
            is_kept(graph, layers[i].output, layers[readers[i]]))
            return false;
        begin += sizes[i];
    }
    return begin == std::get<Slice>(layers[0].op).in;
}

}  // namespace

std::size_t prepares_attention(const Graph& graph, std::size_t first, const KernelsSpec& kernels) {
    const std::span<const Layer> rest = std::span(graph.layers).subspan(first);
    if (kernels.layers == Library::Vllm)
        return turns_views(graph, rest) ? kTurnedViews : turns_both(graph, rest) ? kTurnedByVllm : 0;
    if (kernels.layers != Library::TensorRtLlm) return 0;
    if (turns_and_caches(graph, rest)) return kQkvLayers;
    if (rest.size() < kPackedLayers || !turns_and_caches(graph, rest.subspan(kPackedLayers - kQkvLayers)))
        return 0;
    return is_packed(graph, rest) ? kPackedLayers : 0;
}

VectorKernel qkv_kernel(const Graph& graph, std::span<const Layer> all, const SimtSpec& spec) {
    const std::span<const Layer> layers = all.last(kQkvLayers);
    const auto &q = std::get<Rotary>(layers[0].op), &k = std::get<Rotary>(layers[1].op);
    const std::int64_t length = std::get<CacheAppend>(layers[2].op).length;
    const SmSpec& sm = spec.sm;
    VectorKernel kernel;
    kernel.kind = VectorKernel::Kind::Qkv;
    kernel.in = graph.tensors[layers[0].inputs.at(0)].dtype;
    kernel.out = graph.tensors[layers[0].output].dtype;
    kernel.rows = q.outer * q.seq;
    kernel.cols = (q.heads + 2 * k.heads) * q.dim;
    QkvRows& rows = kernel.qkv;
    rows = {.batch = q.outer, .seq = q.seq, .heads = q.heads, .kv_heads = k.heads, .dim = q.dim};
    rows.length = length;
    rows.packed = all.size() > kQkvLayers;
    rows.keeps_keys = is_kept(graph, layers[1].output, layers[2]);
    rows.table = spec.l2.latency.value();
    rows.near = sm.l1_latency.value();
    rows.computed = spec.kernels.table_positions > 0 && length > spec.kernels.table_positions;
    if (rows.computed) {
        const std::int64_t threads = std::max<std::int64_t>(
            64, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(q.dim))));
        kernel.warps = 1;
        kernel.vector = threads / kWarpThreads;
        rows.wide =
            std::min(ceil_div(sm.count * kWarpsOfSm, q.seq * q.heads), ceil_div(q.outer, kLeastSequences));
        return kernel;
    }
    kernel.vector = kThreadBytes / element_bytes_of(kernel);
    const std::int64_t of_row = q.dim / kernel.vector, threads = threads_for(of_row);
    kernel.warps = static_cast<int>(ceil_div(threads, kWarpThreads));
    rows.own = threads / of_row;
    const std::int64_t places = kThreadsOfSm / threads * sm.count;
    rows.wide = best_width(rows.blocks(), rows.heads, places);
    return kernel;
}

WarpProgram qkv_program(const VectorKernel& kernel) {
    Section begin;
    SectionWriter(begin).op(Op::Integer, kAddress, kAddress, kSetUp);
    const QkvRows& rows = kernel.qkv;
    WarpProgram program{std::move(begin), round(kernel, rows.computed, 1)};
    // All sequences have the same positions: what was computed for the first one is kept.
    if (rows.rounds() > 1) program.push_back(round(kernel, false, rows.rounds() - 1));
    return program;
}

CtaTiming with_places_of(const QkvRows& rows, CtaTiming timing, const SmSpec& sm) {
    if (rows.computed) return timing;
    const std::int64_t most = ceil_div(rows.wide * rows.heads, std::int64_t{sm.count});
    const auto places = static_cast<int>(std::min<std::int64_t>(timing.resident, most));
    timing.interval_full *= static_cast<double>(places) / timing.resident;
    timing.resident = places;
    return timing;
}

}  // namespace systole::simt
