// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/stablehlo/mlir_reader.h"

#include <fmt/format.h>

#include <charconv>

#include "sim/base/error.h"

namespace systole {
namespace {

using Kind = MlirToken::Kind;

constexpr int kDeepestRegion = 64;  // regions within regions
constexpr int kMostResults = 4096;  // of one operation: "%0:4096"

bool opens(const MlirToken& token) {
    return token.is("(") || token.is("[") || token.is("{") || token.is("<");
}

bool closes(const MlirToken& token) {
    return token.is(")") || token.is("]") || token.is("}") || token.is(">");
}

/// Operations that are written without the name of their dialect.
bool is_bare_operation(const MlirToken& token) {
    return token.is_word("return") || token.is_word("call");
}

bool has_dialect(const MlirToken& token) {
    return token.text.find('.') != std::string_view::npos && token.text.front() > '9';
}

}  // namespace

const MlirToken& MlirReader::ahead(std::size_t by) const {
    static const MlirToken kNone{};
    return at_ + by < tokens_.size() ? tokens_[at_ + by] : kNone;
}

bool MlirReader::take(std::string_view mark) {
    if (!here().is(mark)) return false;
    ++at_;
    return true;
}

void MlirReader::fail(const std::string& what) const {
    throw UserError(tokens_.mark(at_), what);
}

void MlirReader::expect(std::string_view mark, const char* where) {
    if (take(mark)) return;
    if (done()) fail(fmt::format("the file ends {}, where '{}' was expected: is it cut off?", where, mark));
    fail(fmt::format("expected '{}' {}, not '{}'", mark, where, excerpt(here().text)));
}

/// From an opening bracket to behind the one that closes it.
void MlirReader::skip_brackets() {
    const std::size_t begin = at_;
    std::size_t depth = 0;
    do {
        if (done()) {
            at_ = begin;
            fail(fmt::format("this '{}' is never closed", here().text));
        }
        if (opens(here())) ++depth;
        if (closes(here())) --depth;
        ++at_;
    } while (depth != 0);
}

void MlirReader::read_module(std::string_view& name, std::vector<MlirFunction>& functions) {
    while (!done()) {
        const MlirToken& token = here();
        if (token.is_word("module") || token.is_word("builtin.module")) {
            ++at_;
            if (here().kind == Kind::Symbol) {
                name = here().text;
                ++at_;
            }
            if (here().is_word("attributes")) {
                ++at_;
                skip_brackets();
            }
            expect("{", "behind 'module'");
        } else if (token.is_word("func.func") || token.is_word("func")) {
            functions.push_back(read_function());
        } else if (token.kind == Kind::String && token.text == "builtin.module") {
            fail(
                "this module is in the generic form of MLIR; print it in the pretty one (without "
                "--mlir-print-op-generic)");
        } else if (opens(token)) {
            skip_brackets();
        } else {
            // Aliases, meshes, and what else stands beside functions.
            ++at_;
        }
    }
    if (functions.empty()) {
        at_ = 0;
        fail("expected a module with functions ('func.func public @main(…)'), as JAX and torch-xla print it");
    }
}

MlirFunction MlirReader::read_function() {
    MlirFunction function;
    function.begin = at_++;
    while (here().is_word("public") || here().is_word("private")) ++at_;
    if (here().kind != Kind::Symbol) fail("expected a function's name, such as @main");
    function.name = here().text;
    ++at_;
    expect("(", "behind a function's name");
    function.arguments = read_arguments();
    expect(")", "behind a function's arguments");
    if (take("->")) {
        if (here().is("("))
            skip_brackets();
        else
            ++at_;
    }
    if (here().is_word("attributes")) {
        ++at_;
        skip_brackets();
    }
    if (here().is("{")) function.operations = read_region(0).operations;  // else only declared
    return function;
}

/// "%arg0: tensor<2xf32> {a = 1} loc(…), %arg1: …" up to the bracket that closes.
std::vector<MlirArgument> MlirReader::read_arguments() {
    std::vector<MlirArgument> arguments;
    while (here().kind == Kind::Value) {
        MlirArgument argument{here().text, {}};
        ++at_;
        expect(":", "behind an argument's name");
        argument.type = here().text;
        arguments.push_back(argument);
        ++at_;
        if (here().is("<")) skip_brackets();  // !quant.uniform<…>
        if (here().is("{")) skip_brackets();
        if (here().is_word("loc")) {
            ++at_;
            skip_brackets();
        }
        if (!take(",")) break;
    }
    return arguments;
}

bool MlirReader::starts_line(std::size_t at) const {
    if (at == 0) return true;
    const char* previous = tokens_[at - 1].text.data() + tokens_[at - 1].text.size();
    for (const char* c = previous; c < tokens_[at].text.data(); ++c)
        if (*c == '\n') return true;
    return false;
}

/// "%0 =", "%0:2 =", "%a, %b =".
bool MlirReader::at_results() const {
    // Behind a comma a list goes on: of operands, one of which is met at a time, it would be read from each.
    if (at_ > 0 && tokens_[at_ - 1].is(",")) return false;
    std::size_t by = 0;
    while (ahead(by).kind == Kind::Value) {
        ++by;
        if (ahead(by).is(":") && ahead(by + 1).kind == Kind::Word) by += 2;
        if (ahead(by).is("=")) return true;
        if (!ahead(by).is(",")) return false;
        ++by;
    }
    return false;
}

bool MlirReader::at_operation() const {
    if (at_results()) return true;
    const MlirToken& token = here();
    if (!starts_line(at_)) return false;
    if (token.kind == Kind::Word) return is_bare_operation(token) || has_dialect(token);
    return token.kind == Kind::String && has_dialect(token) && ahead(1).is("(");
}

/// Whether the '{' here opens a region, not attributes.
bool MlirReader::at_region() const {
    const MlirToken& first = ahead(1);
    if (first.kind == Kind::Value || first.kind == Kind::Block) return true;
    if (first.kind == Kind::String) return ahead(2).is("(");
    if (first.kind != Kind::Word) return false;
    return is_bare_operation(first) ||
           (has_dialect(first) && !ahead(2).is("=") && !ahead(2).is(",") && !ahead(2).is("}"));
}

MlirRegion MlirReader::read_region(int depth) {
    if (depth > kDeepestRegion) fail(fmt::format("regions are nested deeper than {}", kDeepestRegion));
    MlirRegion region;
    expect("{", "before a region");
    if (here().kind == Kind::Block) {
        ++at_;
        if (take("(")) {
            region.arguments = read_arguments();
            expect(")", "behind a block's arguments");
        }
        expect(":", "behind a block's name");
    }
    while (!here().is("}")) {
        if (done()) fail("the file ends within a region: is it cut off?");
        if (here().kind == Kind::Block) fail("a region of several blocks is no StableHLO");
        region.operations.push_back(read_operation(depth));
    }
    ++at_;
    return region;
}

void MlirReader::read_results(MlirOperation& operation) {
    if (!at_results()) return;
    while (!take("=")) {
        const std::string name(here().text);
        ++at_;
        int count = 1;
        if (take(":")) {
            const std::string_view digits = here().text;
            const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
            if (error != std::errc() || end != digits.data() + digits.size() || count < 1 ||
                count > kMostResults)
                fail(fmt::format("expected a number of results from 1 to {}", kMostResults));
            ++at_;
            for (int i = 0; i < count; ++i) operation.results.push_back(fmt::format("{}#{}", name, i));
        } else {
            operation.results.push_back(name);
        }
        take(",");
    }
}

MlirOperation MlirReader::read_operation(int depth) {
    MlirOperation operation;
    operation.begin = at_;
    read_results(operation);
    const bool named = here().kind == Kind::Word || here().kind == Kind::String;
    if (!named || here().text.empty() || here().text.front() <= '9')
        fail(fmt::format("expected an operation, not '{}'", excerpt(here().text)));
    operation.name = here().text;
    const std::size_t first = ++at_;
    std::size_t brackets = 0, colon = 0;
    while (!done()) {
        if (brackets == 0 &&
            (here().is("}") || here().kind == Kind::Block || (at_ != first && at_operation())))
            break;
        if (here().is("{") && at_region()) {
            const std::size_t begin = at_;
            operation.regions.push_back(read_region(depth + 1));
            operation.inner.emplace_back(begin, at_);
            continue;
        }
        if (brackets == 0 && colon == 0 && here().is(":")) colon = at_;
        if (here().kind == Kind::Value) {
            // "%iterArg = %arg0" and "%arg1: tensor<f32>" name arguments of regions.
            if (!ahead(1).is("=") && !(brackets > 0 && ahead(1).is(":")))
                operation.operands.push_back(here().text);
        }
        if (opens(here())) ++brackets;
        if (closes(here())) --brackets;
        ++at_;
    }
    operation.end = at_;
    if (colon != 0) read_types(operation, colon);
    return operation;
}

/// Behind "->" if there is one: "(tensor<2xf32>) -> tensor<2xf32>", else all: "tensor<2xf32>, tensor<2xf32>".
void MlirReader::read_types(MlirOperation& operation, std::size_t colon) const {
    std::size_t brackets = 0;
    for (std::size_t at = colon + 1; at < operation.end; ++at) {
        const MlirToken& token = tokens_[at];
        if (token.is("->")) {
            operation.types.clear();
            continue;
        }
        // Attributes, locations and regions stand behind the types.
        if (brackets == 0 && (token.kind == Kind::Word || token.is("{"))) return;
        if (opens(token)) ++brackets;
        if (closes(token)) --brackets;
        if (token.kind == Kind::Type || token.kind == Kind::Alias) operation.types.push_back(token.text);
    }
}

}  // namespace systole
