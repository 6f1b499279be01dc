// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/importers/huggingface_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/workload/importers/decoder_config.h"
#include "sim/workload/importers/encoder_config.h"
#include "sim/workload/importers/whisper.h"

namespace systole {
namespace {

std::string step_trace(ModelConfig& config) {
    Decoder d = read_decoder(config);
    config.keys().throw_if_any();
    d.about = {fmt::format("Imported from a config.json of Hugging Face, model_type {}.", config.type()),
               "One step: q_len new tokens of each of batch sequences, behind which kv_len tokens are in the "
               "KV cache.",
               "The factor 1/sqrt(head_dim) is in the weights of the queries;",
               "only the last token's head is computed."};
    if (d.latents)
        config.note("kv_lora_rank",
                    "queries meet the cache of latents itself, as decode steps do; a prefill would rather "
                    "expand it (systole trace llm)");
    if (d.experts) {
        d.about.emplace_back(
            "Routing is data: tokens choose evenly, `met` experts of all, `rows_each` tokens each.");
        config.note("model_type",
                    "tokens choose evenly among experts: as many are met as can be (workload.met)");
    }
    return decoder_trace(d, usual_step(d));
}

const std::vector<std::string>& known_types() {
    static const std::vector<std::string> types = [] {
        std::vector<std::string> all = decoder_types();
        for (const char* const more : {"bert", "vit", "whisper"}) all.emplace_back(more);
        std::ranges::sort(all);
        return all;
    }();
    return types;
}

}  // namespace

Imported import_huggingface_config(std::string_view text, const std::string& file) {
    ModelConfig config(text, file, known_types());
    config.refuse_other_computations();
    config.tell_formats("they are of workload.dtype, bf16");
    Imported imported;
    imported.trace = config.is("bert")      ? bert_trace(config)
                     : config.is("gpt2")    ? gpt2_trace(config)
                     : config.is("vit")     ? vit_trace(config)
                     : config.is("whisper") ? whisper_trace(config)
                                            : step_trace(config);
    config.keys().throw_if_any();
    imported.notes = config.take_notes();
    return imported;
}

}  // namespace systole
