// SPDX-License-Identifier: Apache-2.0
// What a trace is a batch of, so that its time and its cost can be told for each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace systole {

struct BatchOf {
    enum class Item { Images, Sequences, Queries, Samples, Inferences, Tokens };
    Item item = Item::Images;
    std::int64_t count = 1;
    friend bool operator==(const BatchOf&, const BatchOf&) = default;
};

/// "images", …, "tokens", in the order of the enum.
inline const std::vector<std::string>& batch_item_names() {
    static const std::vector<std::string> names{"images",  "sequences",  "queries",
                                                "samples", "inferences", "tokens"};
    return names;
}
inline const std::string& to_string(BatchOf::Item item) {
    return batch_item_names()[static_cast<std::size_t>(item)];
}

}  // namespace systole
