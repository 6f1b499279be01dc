// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/model_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace systole {

ModelConfig::ModelConfig(std::string_view text, const std::string& file,
                         const std::vector<std::string>& known)
    : keys_(text, file), file_(file), type_(keys_.text("model_type", "")) {
    if (std::ranges::find(known, type_) == known.end()) refuse_type(known);
    keys_.throw_if_any();
}

void ModelConfig::refuse_type(const std::vector<std::string>& known) {
    // Another number behind a name is another architecture, and not a slip.
    const bool slip = !keys_.states("text_config") && type_.find_first_of("0123456789_") == std::string::npos;
    keys_.fail("model_type",
               type_.empty() ? "'model_type' is missing; is this a config.json of a model?"
                             : fmt::format("'{}' is not known here; known are: {}{}", excerpt(type_),
                                           fmt::join(known, ", "), slip ? did_you_mean(type_, known) : ""));
}

std::string ModelConfig::name() {
    const std::string called = keys_.text("_name_or_path", "");
    return called.empty() || called.ends_with('/') ? type_ : called.substr(called.rfind('/') + 1);
}

std::string ModelConfig::activation(const char* key, const std::string& fallback) {
    static const std::map<std::string, std::string, std::less<>> known{
        {"silu", "silu"},     {"swish", "silu"},     {"gelu", "gelu"},
        {"gelu_new", "gelu"}, {"gelu_fast", "gelu"}, {"gelu_pytorch_tanh", "gelu"},
        {"relu", "relu"}};
    const std::string wanted = keys_.text(key, fallback);
    const auto found = known.find(wanted);
    if (found != known.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& [name, ours] : known) names.push_back(name);
    keys_.fail(key, fmt::format("'{}' is '{}'; expected one of: {}{}", key, excerpt(wanted),
                                fmt::join(names, ", "), did_you_mean(wanted, names)));
    return "silu";
}

void ModelConfig::note(const char* key, std::string text) {
    notes_.push_back({{file_, keys_.line_of(key), 0}, std::move(text)});
}

void ModelConfig::note_tied(const char* key, std::int64_t parameters) {
    note(key,
         fmt::format("the head has the embedding's weights; a trace stores them once more ({} parameters)",
                     parameters));
}

void ModelConfig::refuse_other_computations() {
    for (const char* const key : {"is_decoder", "add_cross_attention"})
        if (keys_.flag(key, false)) keys_.fail(key, fmt::format("'{}': such a network is not taken", key));
    if (keys_.text("position_embedding_type", "absolute") != "absolute")
        keys_.fail("position_embedding_type", "only absolute positions are taken");
    keys_.throw_if_any();
}

void ModelConfig::tell_formats(std::string_view weights) {
    if (keys_.has("quantization_config"))
        note("quantization_config", fmt::format("how weights are quantized is not taken over: {}", weights));
    const char* const key = keys_.has("dtype") ? "dtype" : "torch_dtype";
    if (!keys_.has(key)) return;
    const std::string dtype = keys_.text(key, "bfloat16");
    if (dtype != "bfloat16")
        note(key, fmt::format("stored as {}; here workload.dtype is bf16", excerpt(dtype)));
}

}  // namespace systole
