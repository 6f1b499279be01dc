// SPDX-License-Identifier: Apache-2.0
// What the heap does with memory that is free: glibc gives it back to the system, from where it comes again
// page by page, each by a fault (10 us on some virtual machines).
#pragma once

namespace systole {

/// Keeps it for what will be asked for: all of it, or 8 MiB where the process has a limit on its data
/// (RLIMIT_DATA), of which stacks want a part, too. To be called once more when the limit has changed.
void keep_free_memory();

}  // namespace systole
