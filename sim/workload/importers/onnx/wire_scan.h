// SPDX-License-Identifier: Apache-2.0
// The bytes of a model without its weights. Walks the wire format of protocol buffers
// (https://protobuf.dev/programming-guides/encoding) through the messages of ONNX that hold tensors, and
// leaves out what large tensors hold; only that much is ever in memory. Lengths, nesting and truncation are
// checked on the way, so that what it passes on is well formed as far as it went in.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace systole {

struct WireLimits {
    std::uint64_t tensor_bytes = 16 << 10;  ///< of one field of a tensor's data: more is left out
    std::uint64_t all_bytes = 64 << 20;     ///< of what is left
    int depth = 64;                         ///< of messages within messages
};

/// A serialized ModelProto. Throws UserError that names `file` and the offset of what is wrong.
std::string without_weights(std::istream& in, const std::string& file, const WireLimits& limits = {});

}  // namespace systole
