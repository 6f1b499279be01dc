// SPDX-License-Identifier: Apache-2.0
// Whether this is a build with the address sanitizer, which maps far more memory than it uses.
#pragma once

namespace systole {

#if defined(__SANITIZE_ADDRESS__)  // GCC's
inline constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)  // clang's
#if __has_feature(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
#else
inline constexpr bool kAddressSanitizer = false;
#endif

}  // namespace systole
