// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/digest.h"

#include <nettle/sha2.h>

#include <array>

namespace systole::sweep {

std::string sha256(std::string_view text) {
    sha256_ctx context;
    nettle_sha256_init(&context);
    nettle_sha256_update(&context, text.size(), reinterpret_cast<const std::uint8_t*>(text.data()));
    std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
    nettle_sha256_digest(&context, digest.size(), digest.data());
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string hex;
    for (const std::uint8_t byte : digest) {
        hex += kDigits[byte >> 4];
        hex += kDigits[byte & 15];
    }
    return hex;
}

}  // namespace systole::sweep
