// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/generators/llm_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/workload/generators/decoder_share.h"
#include "sim/workload/importers/decoder_config.h"
#include "sim/workload/parameters.h"

namespace systole {
namespace {

using Phase = ServingStep::Phase;

/// How weights are stored.
struct StoredFormat {
    std::string dtype, scales;
    std::string text;        ///< of the scales, behind the name
    std::int64_t group = 0;  ///< rows of K that share a scale; 0: all

    bool blocks() const { return scales == "block"; }
    /// The dtype and scales of a layer, by the key that names the dtype.
    std::string keys(const std::string& key) const {
        return fmt::format("{}: {}, scales: {}", key, dtype, scales) +
               (group > 0 ? fmt::format(", group: {}", group) : "");
    }
};

/// Groups of int4 are those of GPTQ and AWQ (Frantar et al. 2023, Lin et al. 2024), blocks those of OCP's
/// Microscaling Formats 1.0 and of NVFP4.
const std::map<std::string, StoredFormat, std::less<>>& stored_formats() {
    static const std::map<std::string, StoredFormat, std::less<>> all{
        {"fp8", {"fp8", "channel", " with a bf16 scale for each column"}},
        {"int8", {"int8", "channel", " with a bf16 scale for each column"}},
        {"int4", {"int4", "group", " with a bf16 scale for each 128 of a column", 128}},
        {"mxfp8", {"fp8", "block", " (fp8 with an e8m0 scale for each 32 of a column)", 32}},
        {"mxfp4", {"fp4", "block", " (fp4 with an e8m0 scale for each 32 of a column)", 32}},
        {"nvfp4", {"fp4", "block", " (fp4 with an e4m3 scale for each 16 of a column)", 16}}};
    return all;
}

class Generator {
public:
    Generator(std::string_view text, const std::string& file, const LlmRequest& request)
        : config_(text, file, decoder_types()), request_(request) {}

    Imported run();

private:
    bool trains() const { return request_.step.phase == Phase::Train; }
    void settle_lengths(const Decoder& whole);
    void expect_groups(const Decoder& share);
    std::string met(const Decoder& whole, const Decoder& share) const;
    static std::int64_t most_chosen(const Decoder& whole, const Decoder& share);
    std::string pairs(const Decoder& whole, const Decoder& share) const;
    DecoderStep step_of(const Decoder& whole, const Decoder& share) const;
    std::vector<std::string> about(const Decoder& whole) const;
    std::vector<std::string> about_training(const Decoder& whole) const;
    std::string about_routing() const {
        return fmt::format("Routing is data: {}.",
                           routing_names()[static_cast<std::size_t>(request_.routing)]);
    }

    /// Nothing: plain numbers.
    const StoredFormat* stored() const {
        const auto found = stored_formats().find(request_.weights);
        return found == stored_formats().end() ? nullptr : &found->second;
    }
    /// Products with stored weights read activations of the weights' format.
    bool narrows() const {
        return stored() != nullptr && (stored()->blocks() || request_.activations == "as-weights");
    }
    void expect_activations();

    ModelConfig config_;
    LlmRequest request_;
    std::int64_t q_len_ = 1, kv_len_ = 1;
};

/// A decode step in the middle of those that make `new_tokens`.
void Generator::settle_lengths(const Decoder& whole) {
    const std::int64_t trained = config_.keys().extent("max_position_embeddings", kMaxInteger);
    // Tables may have rows more than are used.
    const std::int64_t positions = std::min(whole.positions, trained);
    std::int64_t& context = request_.step.context;
    if (request_.any_context && whole.positions > 0)
        context = std::max<std::int64_t>(1, std::min(context, positions - request_.new_tokens + 1));
    q_len_ = request_.step.phase == Phase::Decode ? 1 : context;
    kv_len_ = request_.step.phase == Phase::Decode ? context + (request_.new_tokens - 1) / 2 : context;
    const std::int64_t most = context + request_.new_tokens - 1;
    if (whole.positions > 0 && most > positions)
        config_.keys().fail(
            "", fmt::format("--context: the model has positions for {} tokens, not for {}", positions, most));
    if (whole.positions == 0 && most > trained)
        config_.note("max_position_embeddings",
                     fmt::format("the model was made for {} tokens, not for {}", trained, most));
}

/// Activations of the weights' format, where there is one that products take.
void Generator::expect_activations() {
    if (request_.activations == "bf16" && stored() != nullptr && stored()->blocks())
        config_.keys().fail("",
                            fmt::format("--activations bf16: products with {} weights read activations in "
                                        "blocks, too; leave it out, or give 'as-weights'",
                                        request_.weights));
    if (request_.activations != "as-weights") return;
    if (stored() == nullptr)
        config_.keys().fail(
            "", "--activations as-weights: the weights are bf16; give '--weights fp8' or another");
    else if (stored()->scales == "group")
        config_.keys().fail("", fmt::format("--activations as-weights: {} weights become numbers of the "
                                            "activations' format, by scales of groups",
                                            request_.weights));
}

/// Scales of groups need whole groups of K in every product that has them.
void Generator::expect_groups(const Decoder& d) {
    const std::int64_t group = stored() != nullptr ? stored()->group : 0;
    if (group == 0) return;
    const auto expect = [&](std::int64_t k, const char* what) {
        if (k % group != 0)
            config_.keys().fail(
                "", fmt::format("--weights {}: {}s of {} that share a scale do not divide {} of {}",
                                request_.weights, stored()->scales, group, what, k));
    };
    expect(d.hidden, "the width");
    if (!d.latents) expect(d.heads * d.head_dim, "a chip's heads");
    if (!d.experts || d.experts->dense_layers > 0) expect(d.ffn, "a chip's feed-forward");
    if (d.experts) {
        expect(d.experts->ffn, "an expert");
        if (d.experts->shared_ffn > 0) expect(d.experts->shared_ffn, "a chip's shared experts");
    }
    if (d.latents) {
        if (d.latents->query_rank > 0) expect(d.latents->query_rank, "the latents of queries");
        expect(d.latents->rank, "the latents");
        expect(d.latents->plain, "a head of keys");
        expect(d.heads * d.latents->value, "a chip's heads of values");
    }
}

/// Experts of this chip that are met, as an expression of the trace.
std::string Generator::met(const Decoder& whole, const Decoder& share) const {
    if (!share.experts || request_.routing == Routing::Even) return "min(experts, pairs)";
    if (request_.routing == Routing::Worst) return fmt::format("{}", most_chosen(whole, share));
    // Beyond that, no trace has so many.
    const std::int64_t tokens = std::min(request_.step.batch * q_len_, kMaxInteger);
    const std::int64_t chance =
        expected_met(share.experts->count, whole.experts->chosen, whole.experts->count, tokens);
    // No expert has more rows than there are tokens.
    const std::int64_t pairs = ceil_div(tokens * whole.experts->chosen, request_.step.tensor_parallel);
    return fmt::format("min({}, pairs)", std::max(chance, ceil_div(pairs, tokens)));
}

/// Experts on one chip that a token can choose.
std::int64_t Generator::most_chosen(const Decoder& whole, const Decoder& share) {
    return std::min(share.experts->count, whole.experts->chosen);
}

/// All chips' experts have an even share of what tokens choose, unless the worst comes.
std::string Generator::pairs(const Decoder& whole, const Decoder& share) const {
    if (request_.routing == Routing::Worst)
        return fmt::format("batch * q_len * {}", most_chosen(whole, share));
    if (request_.step.tensor_parallel == 1) return "batch * q_len * chosen";
    return fmt::format("ceil_div(batch * q_len * {}, {})", whole.experts->chosen,
                       request_.step.tensor_parallel);
}

DecoderStep Generator::step_of(const Decoder& whole, const Decoder& share) const {
    const ServingStep& s = request_.step;
    DecoderStep step;
    step.numbers = fmt::format("batch: {}, q_len: {}", s.batch, q_len_);
    if (!trains()) step.numbers += fmt::format(", kv_len: {}", kv_len_);
    // In parameters, so that it stays true of a trace whose parameters are set.
    step.serving =
        fmt::format("phase: {}, batch: batch, {}, tensor_parallel: {}", to_string(s.phase),
                    s.phase == Phase::Decode ? "context: kv_len, new_tokens: q_len" : "context: q_len",
                    s.tensor_parallel);
    if (trains()) {
        step.serving += fmt::format(", data_parallel: {}", s.data_parallel);
        step.training =
            fmt::format("optimizer: {}, gradients: {}, data_parallel: {}, recompute: {}", request_.optimizer,
                        request_.gradients, s.data_parallel, request_.recompute);
    }
    if (stored() != nullptr) step.weights = ", " + stored()->keys("weight_dtype");
    if (stored() != nullptr && stored()->scales == "group") step.weights += ", scale_dtype: bf16";
    if (narrows()) {
        StoredFormat made = *stored();
        if (!made.blocks()) made.scales = "tensor";
        step.activations = made.keys("out_dtype");
        step.weights += ", out_dtype: dtype";
    }
    if (request_.cache != "bf16") step.cache_dtype = request_.cache;
    step.chips = s.tensor_parallel;
    step.met = met(whole, share);
    if (whole.experts) step.pairs = pairs(whole, share);
    step.expanded = s.phase != Phase::Decode;
    return step;
}

std::vector<std::string> Generator::about_training(const Decoder& whole) const {
    const ServingStep& s = request_.step;
    std::vector<std::string> lines{
        fmt::format("{}, a step of training: {} sequences of {} tokens, up to the new weights.", whole.name,
                    s.batch, q_len_),
        "All weights bf16, and in fp32 with the optimizer's state. The loss is the cross-entropy of all "
        "tokens."};
    if (s.tensor_parallel > 1) {
        lines.push_back(
            fmt::format("One of {} chips that have a share each of every layer.", s.tensor_parallel));
        lines.emplace_back(
            "The loss is over this chip's words: the two sums of a number for each token over the chips are "
            "left out.");
    }
    if (s.data_parallel > 1)
        lines.push_back(fmt::format("One of {} replicas, which sum their gradients.", s.data_parallel));
    if (whole.experts) lines.push_back(about_routing());
    if (request_.recompute == "blocks")
        lines.emplace_back(
            "Of each layer only what enters is kept; the rest is computed again on the way back.");
    lines.emplace_back("The factor 1/sqrt(head_dim) is in the weights of the queries.");
    return lines;
}

std::vector<std::string> Generator::about(const Decoder& whole) const {
    if (trains()) return about_training(whole);
    const ServingStep& s = request_.step;
    std::vector<std::string> lines{
        fmt::format("{}, a step of {}: {} sequences, {} tokens each in the cache at its end.", whole.name,
                    to_string(s.phase), s.batch, kv_len_)};
    if (request_.step.phase == Phase::Decode && request_.new_tokens > 1)
        lines.push_back(
            fmt::format("Of {} tokens that each sequence gets behind {}, it is the step in the middle.",
                        request_.new_tokens, s.context - 1));
    lines.push_back(fmt::format(
        "Weights {}{}; the tables of words and positions, the head, routers and norms bf16. Cache {}.",
        request_.weights, stored() != nullptr ? stored()->text : "", request_.cache));
    if (narrows())
        lines.push_back(fmt::format("What products with such weights read is quantized ahead of them, {}.",
                                    stored()->blocks() ? "in blocks, too" : "by a scale of each tensor"));
    if (s.tensor_parallel > 1)
        lines.push_back(
            fmt::format("One of {} chips that have a share each of every layer.", s.tensor_parallel));
    if (whole.experts) lines.push_back(about_routing());
    lines.emplace_back(
        "The factor 1/sqrt(head_dim) is in the weights of the queries; only the last token's head is "
        "computed.");
    return lines;
}

Imported Generator::run() {
    config_.refuse_other_computations();
    config_.tell_formats(fmt::format("--weights says it, {}", request_.weights));
    const Decoder whole = read_decoder(config_);
    if (request_.asks_routing && !whole.experts)
        config_.keys().fail("", "--routing: the model has no experts");
    config_.keys().throw_if_any();
    settle_lengths(whole);
    Decoder share = share_of(whole, request_.step.tensor_parallel, config_.keys());
    config_.keys().throw_if_any();
    expect_groups(share);
    expect_activations();
    config_.keys().throw_if_any();
    if (share.experts && request_.routing == Routing::Worst)
        share.experts->chosen = most_chosen(whole, share);
    share.about = about(whole);
    if (const std::int64_t chips = request_.step.tensor_parallel; whole.vocabulary % chips != 0)
        config_.note("vocab_size",
                     fmt::format("the vocabulary of {} is padded to {}, that chips have as many words",
                                 whole.vocabulary, share.vocabulary * chips));
    Imported imported;
    imported.trace = decoder_trace(share, step_of(whole, share));
    imported.notes = config_.take_notes();
    return imported;
}

}  // namespace

const std::vector<std::string>& routing_names() {
    static const std::vector<std::string> names{"even", "expected", "worst"};
    return names;
}

const std::vector<std::string>& weight_formats() {
    static const std::vector<std::string> names{"bf16", "fp8", "int8", "int4", "mxfp8", "mxfp4", "nvfp4"};
    return names;
}

const std::vector<std::string>& activation_formats() {
    static const std::vector<std::string> names{"bf16", "as-weights"};
    return names;
}

const std::vector<std::string>& cache_formats() {
    static const std::vector<std::string> names{"bf16", "fp8", "int8"};
    return names;
}

Imported llm_trace(std::string_view text, const std::string& file, const LlmRequest& request) {
    return Generator(text, file, request).run();
}

}  // namespace systole
