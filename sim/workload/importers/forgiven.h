// SPDX-License-Identifier: Apache-2.0
// What was forgiven in the rows of a table: one note for all rows of which the same is true.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/workload/importers/imported.h"

namespace systole {

class Forgiven {
public:
    explicit Forgiven(std::string file) : file_(std::move(file)) {}

    /// `layer`: of the first row, told in front.
    void add(int line, const std::string& what, const std::string& layer = "");
    /// In the order of their first rows.
    std::vector<ImportNote> notes() const;

private:
    struct Kind {
        std::string what, layer;
        int line = 0, rows = 0;
    };
    std::string file_;
    std::vector<Kind> kinds_;
};

}  // namespace systole
