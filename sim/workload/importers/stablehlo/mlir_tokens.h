// SPDX-License-Identifier: Apache-2.0
// Words of MLIR's text form (https://mlir.llvm.org/docs/LangRef): as many as an operation's frame needs. What
// stands inside types and constants stays one token, however long it is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.h"

namespace systole {

struct MlirToken {
    enum class Kind {
        Word,      ///< func.func, stablehlo.add, dims, -12, 1.0e-5, 0xFF80
        Value,     ///< %0, %arg1, %3#1
        Symbol,    ///< @main, @"a name"; without '@' and quotes
        Block,     ///< ^bb0
        Alias,     ///< #loc1, #stablehlo.gather, !token
        String,    ///< without its quotes
        Type,      ///< tensor<...>, vector<...>, tuple<...>, whole
        Constant,  ///< dense<...>, sparse<...>, dense_resource<...>, whole
        Mark       ///< one of ( ) [ ] { } < > , : = ? * | / + or ->
    };
    Kind kind = Kind::Mark;
    std::string_view text;

    bool is(std::string_view mark) const { return kind == Kind::Mark && text == mark; }
    bool is_word(std::string_view word) const { return kind == Kind::Word && text == word; }
};

/// A file and its tokens, which point into it.
class MlirTokens {
public:
    /// Throws UserError, with its place, for a byte that begins no token, and for brackets and strings
    /// without an end. `text` must outlive the tokens.
    MlirTokens(std::string_view text, std::string file);

    std::size_t size() const { return tokens_.size(); }
    const MlirToken& operator[](std::size_t at) const { return tokens_[at]; }
    /// Of the token `at`, or of the end of the file.
    SourceMark mark(std::size_t at) const;

private:
    SourceMark mark_at(std::size_t offset) const;
    std::size_t read(std::size_t at);
    std::size_t read_name(std::size_t at, MlirToken::Kind kind);
    std::size_t read_word(std::size_t at);
    std::size_t end_of_name(std::size_t from) const;
    std::size_t end_of_brackets(std::size_t open) const;
    std::size_t end_of_string(std::size_t open) const;
    void add(MlirToken::Kind kind, std::size_t begin, std::size_t end);

    std::string_view text_;
    std::string file_;
    std::vector<MlirToken> tokens_;
    std::vector<std::size_t> lines_;  ///< where each begins
};

}  // namespace systole
