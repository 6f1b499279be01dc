// SPDX-License-Identifier: Apache-2.0
// Finds functions, operations and regions among the tokens of an MLIR file. An operation ends where the next
// one begins: no form of any dialect needs to be known for that.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/importers/stablehlo/mlir_module.h"

namespace systole {

class MlirReader {
public:
    explicit MlirReader(const MlirTokens& tokens) : tokens_(tokens) {}

    void read_module(std::string_view& name, std::vector<MlirFunction>& functions);

private:
    const MlirToken& here() const { return ahead(0); }
    const MlirToken& ahead(std::size_t by) const;
    bool done() const { return at_ >= tokens_.size(); }
    bool take(std::string_view mark);
    void expect(std::string_view mark, const char* where);
    [[noreturn]] void fail(const std::string& what) const;

    MlirFunction read_function();
    std::vector<MlirArgument> read_arguments();
    MlirRegion read_region(int depth);
    MlirOperation read_operation(int depth);
    void read_results(MlirOperation& operation);
    void read_types(MlirOperation& operation, std::size_t colon) const;
    void skip_brackets();
    bool at_results() const;
    bool at_operation() const;
    bool at_region() const;
    bool starts_line(std::size_t at) const;

    const MlirTokens& tokens_;
    std::size_t at_ = 0;
};

}  // namespace systole
