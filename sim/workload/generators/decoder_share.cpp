// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/generators/decoder_share.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/units.h"

namespace systole {
namespace {

class Shares {
public:
    Shares(std::int64_t chips, JsonObject& keys) : chips_(chips), keys_(&keys) {}

    /// One chip's part of `size`; `what` says whose.
    void take(std::int64_t& size, const char* what) {
        if (size % chips_ == 0)
            size /= chips_;
        else
            keys_->fail(
                "", fmt::format("--tensor-parallel: {} chips do not divide {} of {}", chips_, what, size));
    }

private:
    std::int64_t chips_;
    JsonObject* keys_;
};

}  // namespace

Decoder share_of(const Decoder& decoder, std::int64_t chips, JsonObject& keys) {
    Decoder d = decoder;
    if (chips == 1) return d;
    Shares shares(chips, keys);
    shares.take(d.heads, "the heads");
    if (d.latents)
        d.kv_heads = d.heads;
    else if (d.kv_heads >= chips)
        shares.take(d.kv_heads, "the heads of keys and values");
    else if (chips % d.kv_heads == 0)
        d.kv_heads = 1;
    else
        keys.fail("",
                  fmt::format("--tensor-parallel: {} heads of keys and values do not go evenly to {} chips",
                              d.kv_heads, chips));
    const bool dense = !d.experts || d.experts->dense_layers > 0;
    if (dense) shares.take(d.ffn, "the width of the feed-forward");
    d.vocabulary = ceil_div(d.vocabulary, chips);  // padded, as servers do
    if (!d.experts) return d;
    Experts& e = *d.experts;
    shares.take(e.count, "the experts");
    if (e.shared_ffn > 0) shares.take(e.shared_ffn, "the width of the shared experts");
    e.chosen = ceil_div(e.chosen, chips);
    return d;
}

std::int64_t expected_met(std::int64_t count, std::int64_t chosen, std::int64_t all, std::int64_t tokens) {
    const double missed = 1 - static_cast<double>(chosen) / static_cast<double>(all);
    const double met = static_cast<double>(count) * (1 - std::pow(missed, static_cast<double>(tokens)));
    return std::clamp<std::int64_t>(std::llround(met), 1, count);
}

}  // namespace systole
