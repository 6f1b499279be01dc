// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/stablehlo/hlo_names.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "sim/workload/importers/network/network.h"

namespace systole {

std::string_view hlo_name(const MlirOperation& operation) {
    constexpr std::array<std::string_view, 5> kDialects = {"stablehlo.", "mhlo.", "chlo.", "func.", "sdy."};
    for (const std::string_view dialect : kDialects)
        if (operation.name.starts_with(dialect)) return operation.name.substr(dialect.size());
    return operation.name;
}

const MlirFunction* hlo_callee(const MlirModule& module, const MlirOperation& operation) {
    const MlirTokens& tokens = module.tokens();
    // A composite names itself in front, and what it is made of as an attribute.
    const auto key = mlir_key(tokens, operation, "decomposition");
    for (std::size_t at = key.value_or(operation.begin); at < operation.end; ++at)
        if (tokens[at].kind == MlirToken::Kind::Symbol) return module.find(tokens[at].text);
    return nullptr;
}

std::vector<std::string_view> hlo_loop_arguments(const MlirTokens& tokens, const MlirOperation& loop) {
    std::vector<std::string_view> names;
    const std::size_t end = loop.inner.empty() ? loop.end : loop.inner.front().first;
    std::size_t at = loop.begin;
    while (at < end && !tokens[at].is("(")) ++at;
    for (; at + 1 < end; ++at)
        if (tokens[at].kind == MlirToken::Kind::Value && tokens[at + 1].is("="))
            names.push_back(tokens[at].text);
    if (!names.empty() || loop.regions.size() != 2) return names;
    for (const MlirArgument& argument : loop.regions[1].arguments) names.push_back(argument.name);
    return names;
}

std::string trace_name_of(std::string_view value) {
    if (value.starts_with("%")) value.remove_prefix(1);
    std::string name(value);
    for (char& c : name)
        if (c == '#') c = '_';
    return !name.empty() && name.front() >= '0' && name.front() <= '9' ? "v" + name : name;
}

bool is_float(std::string_view element) {
    return element.starts_with("f") || element == "bf16" || element == "tf32";
}

std::optional<int> integer_bits(std::string_view element) {
    if (element.starts_with("u") || element.starts_with("s")) element.remove_prefix(1);
    if (!element.starts_with("i")) return std::nullopt;
    element.remove_prefix(1);
    int bits = 0;
    const auto [end, error] = std::from_chars(element.data(), element.data() + element.size(), bits);
    if (error != std::errc() || end != element.data() + element.size() || bits < 1 || bits > 64)
        return std::nullopt;
    return bits;
}

std::optional<DType> hlo_dtype(std::string_view element) {
    if (element.starts_with("f8")) return DType::Fp8;
    if (element.starts_with("f4")) return DType::Fp4;
    if (is_float(element)) return Network::kFloat;
    const auto bits = integer_bits(element);
    if (!bits) return std::nullopt;
    if (*bits == 1 || *bits == 8) return DType::Int8;
    if (*bits <= 4) return DType::Int4;
    return *bits <= 16 ? DType::Int16 : DType::Int32;
}

}  // namespace systole
