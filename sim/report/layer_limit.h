// SPDX-License-Identifier: Apache-2.0
// Many layers as few rows: those that take the most time stay, the rest become one row at the end.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace systole::report {

/// Takes rows of layers one by one, and never holds more than twice `most` of them.
class LayerLimit {
public:
    explicit LayerLimit(std::size_t most);
    ~LayerLimit();
    LayerLimit(LayerLimit&&) noexcept;
    LayerLimit& operator=(LayerLimit&&) noexcept;

    /// The next row, as result.json has it and checked.
    void add(nlohmann::ordered_json row);
    std::size_t count() const { return count_; }

    struct Rows {
        std::vector<nlohmann::ordered_json> rows;  ///< at most `most`, in the order of layers; sums last
        std::vector<std::size_t> row_of_layer;     ///< empty: none was summed
    };
    Rows finish();

private:
    struct Kept;
    void shed(std::size_t most);

    std::size_t most_;
    std::size_t count_ = 0;
    std::vector<Kept> kept_;
    std::vector<Kept> sum_;  // none or one
};

}  // namespace systole::report
