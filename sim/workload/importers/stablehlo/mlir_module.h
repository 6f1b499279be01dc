// SPDX-License-Identifier: Apache-2.0
// Functions of an MLIR module, from its text: names, operands, attributes, regions and types of operations of
// whatever dialect, in the pretty forms of StableHLO and in the generic one. What they mean is not known
// here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/workload/importers/stablehlo/mlir_tokens.h"

namespace systole {

/// tensor<2x?xf32>: extents, -1 where unknown, and the element's name. No tensor: the whole text as element.
struct MlirType {
    std::vector<std::int64_t> shape;
    std::string_view element;
    bool tensor = false;
};

MlirType mlir_type(std::string_view text);

struct MlirOperation;

/// A value and its type, as arguments of functions and regions have them.
struct MlirArgument {
    std::string_view name;
    std::string_view type;
};

struct MlirRegion {
    std::vector<MlirArgument> arguments;  ///< of its first block
    std::vector<MlirOperation> operations;
};

struct MlirOperation {
    std::string_view name;                   ///< "stablehlo.add", "call"
    std::vector<std::string_view> operands;  ///< "%3", "%3#1"
    std::vector<std::string> results;        ///< "%0"; "%0#0", "%0#1" of "%0:2"
    std::vector<std::string_view> types;     ///< of the results, as far as they are written
    std::vector<MlirRegion> regions;
    std::size_t begin = 0, end = 0;                          ///< its tokens, those of regions between them
    std::vector<std::pair<std::size_t, std::size_t>> inner;  ///< tokens of regions
};

struct MlirFunction {
    std::string_view name;
    std::vector<MlirArgument> arguments;
    std::vector<MlirOperation> operations;
    std::size_t begin = 0;
};

class MlirModule {
public:
    /// Throws UserError, with its place, for what cannot be read. Regions may be 64 deep.
    explicit MlirModule(const MlirTokens& tokens);

    std::string_view name() const { return name_; }
    const std::vector<MlirFunction>& functions() const { return functions_; }
    const MlirFunction* find(std::string_view name) const;
    const MlirTokens& tokens() const { return tokens_; }

private:
    friend class MlirReader;
    const MlirTokens& tokens_;
    std::string_view name_;
    std::vector<MlirFunction> functions_;
    std::map<std::string_view, std::size_t> places_;  // of functions, by their names
};

/// Lists of whole numbers behind a key: of "contracting_dims = [1] x [0]" [1] and [0], of "dims = [0, 2]",
/// "dim = 0", "array<i64: 0, 2>" and "dense<[0, 2]> : tensor<2xi64>" one, of "pad = [[1, 2], [3, 4]]" its
/// rows one after the other. Nothing if the operation has no such key outside its regions.
std::optional<std::vector<std::vector<std::int64_t>>> mlir_numbers(const MlirTokens& tokens,
                                                                   const MlirOperation& operation,
                                                                   std::string_view key);
/// The token behind "key =".
std::optional<std::size_t> mlir_key(const MlirTokens& tokens, const MlirOperation& operation,
                                    std::string_view key);
/// Whole numbers of a constant: "dense<[[0, 2], [1, 3]]>", "dense<5>" (one), and in hexadecimal digits of
/// `bits` each, lowest byte first. Nothing if it holds anything else, or more than `most`.
std::optional<std::vector<std::int64_t>> mlir_constant(std::string_view text, int bits, std::size_t most);

}  // namespace systole
