// SPDX-License-Identifier: Apache-2.0
#include "sim/base/schema.h"

#include <fmt/format.h>

namespace systole {
namespace {

/// "trace/1", "result/1..3".
std::string reads(const Schema& schema) {
    return schema.oldest == schema.current
               ? fmt::format("{}/{}", schema.name, schema.current)
               : fmt::format("{}/{}..{}", schema.name, schema.oldest, schema.current);
}

}  // namespace

std::string schema_complaint(const Schema& schema, std::int64_t stated) {
    if (stated > schema.current)
        return fmt::format(
            "{}/{} was written by or for a newer systole; this one reads {}: take a newer one, or {}",
            schema.name, stated, reads(schema), schema.renew);
    if (stated < schema.oldest)
        return fmt::format("{}/{} is not read any more; this systole reads {}: {}", schema.name, stated,
                           reads(schema), schema.renew);
    return "";
}

std::span<const Rename> renamed_keys() {
    // None yet: {"device", 2, "mxu.speed", "mxu.rate"} would be one. A name that was given up is never used
    // for something else.
    return {};
}

}  // namespace systole
