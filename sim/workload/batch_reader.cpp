// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/batch_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/workload/keys.h"

namespace systole {

std::optional<BatchOf> read_batch_of(const config::YamlNode& node, const Parameters& parameters,
                                     Mistakes& mistakes) {
    const std::string expected =
        fmt::format("one of {} and how many: {{images: batch}}", fmt::join(batch_item_names(), ", "));
    if (node.kind != config::YamlNode::Kind::Map) {
        mistakes.add(node.where, fmt::format("'batch_of' must be a map of {}; not {}", expected,
                                             config::to_string(node.kind)));
        return std::nullopt;
    }
    const std::size_t before = mistakes.count();
    Keys keys(node, parameters, mistakes, "batch_of");
    std::optional<BatchOf> batch;
    for (std::size_t i = 0; i < batch_item_names().size(); ++i) {
        const std::string& name = batch_item_names()[i];
        keys.optional(name);
        if (!keys.has(name)) continue;
        if (batch)
            keys.fail(fmt::format("a batch of '{}' is not one of '{}', too", to_string(batch->item), name));
        batch = BatchOf{static_cast<BatchOf::Item>(i), keys.integer(name, 1)};
    }
    keys.finish();
    if (!batch && mistakes.count() == before) keys.fail(fmt::format("expected {}", expected));
    return mistakes.count() == before ? batch : std::nullopt;
}

}  // namespace systole
