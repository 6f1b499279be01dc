// SPDX-License-Identifier: Apache-2.0
// The halves of a decoder's layer, each written by a file of its own.
#pragma once

#include <string>

#include "sim/workload/importers/decoder.h"
#include "sim/workload/importers/trace_writer.h"

namespace systole {

/// ", bias: true", or nothing.
const char* bias_key(bool there);
/// The sum over all chips of what `block`'s last layer made, where chips share layers. Answers what then
/// holds it.
std::string write_sum(TraceBlock& block, const DecoderStep& step, const std::string& of);

/// What each chip's products read, where chips share layers: in training, gradients of `of` are summed over
/// the chips there. Answers its name.
std::string write_replica(TraceBlock& block, const DecoderStep& step, const std::string& of);

/// `of` as products with weights read it, quantized where the step says so. Answers its name.
std::string write_narrow(TraceBlock& block, const DecoderStep& step, const std::string& of);

/// From "attention_norm" to "projection", summed; answers its name. Keys and values go through a cache, but
/// in training.
std::string write_heads(TraceBlock& block, const Decoder& decoder, const DecoderStep& step);
std::string write_latent_heads(TraceBlock& block, const Decoder& decoder, const DecoderStep& step);
/// From "feed_forward_norm" on; answers what is added to the stream.
std::string write_feed_forward(TraceBlock& block, const Decoder& decoder, const DecoderStep& step);
std::string write_experts(TraceBlock& block, const Decoder& decoder, const DecoderStep& step);

}  // namespace systole
