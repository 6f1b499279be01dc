// SPDX-License-Identifier: Apache-2.0
// systole trace: makes the trace of a step of a language model.
#include <fmt/format.h>

#include "sim/account/output_files.h"
#include "sim/app/commands.h"
#include "sim/app/files.h"
#include "sim/app/library.h"
#include "sim/app/shared_options.h"
#include "sim/app/terminal.h"
#include "sim/base/error.h"
#include "sim/config/yaml.h"
#include "sim/workload/generators/llm_trace.h"
#include "sim/workload/importers/huggingface_config.h"
#include "sim/workload/operators.h"
#include "sim/workload/parameters.h"
#include "sim/workload/trace.h"
#include "sim/workload/training_reader.h"

namespace systole::app {
namespace {

/// A whole number from 1 to `most`.
std::int64_t count(const Arguments& arguments, const std::string& name, std::int64_t fallback,
                   std::int64_t most = kMaxInteger) {
    const auto text = arguments.option(name);
    if (!text) return fallback;
    const auto parsed = config::parse_integer(*text, 1, most);
    if (!parsed.value) arguments.misused(fmt::format("--{}: {}", name, parsed.problem));
    return *parsed.value;
}

void read_training(const Arguments& arguments, LlmRequest& request) {
    const bool trains = request.step.phase == ServingStep::Phase::Train;
    for (const char* const option : {"weights", "activations", "kv", "routing"})
        if (trains && arguments.has(option))
            arguments.misused(fmt::format("--{} is for serving, not for --phase train", option));
    for (const char* const option : {"data-parallel", "optimizer", "gradients", "recompute"})
        if (!trains && arguments.has(option))
            arguments.misused(fmt::format("--{} is for --phase train", option));
    request.step.data_parallel = count(arguments, "data-parallel", 1, kMostChips);
    // What most training has, first.
    request.optimizer = arguments.choice("optimizer", {"adam", "momentum", "sgd"});
    request.gradients = arguments.choice("gradients", {"bf16", "fp32"});
    request.recompute = arguments.choice("recompute", recompute_names());
}

LlmRequest read_request(const Arguments& arguments) {
    LlmRequest request;
    // Decode first: what most of serving is.
    const std::string phase = arguments.choice("phase", {"decode", "prefill", "train"});
    for (std::size_t i = 0; i < phase_names().size(); ++i)
        if (phase_names()[i] == phase) request.step.phase = static_cast<ServingStep::Phase>(i);
    const bool decode = request.step.phase == ServingStep::Phase::Decode;
    request.step.batch = count(arguments, "batch", 1);
    request.step.context = count(arguments, "context", 4096);
    request.any_context = !arguments.has("context");
    request.new_tokens = count(arguments, "new-tokens", 1);
    if (request.step.phase == ServingStep::Phase::Train && arguments.has("new-tokens"))
        arguments.misused("--new-tokens is for --phase decode: training makes none");
    if (!decode && arguments.has("new-tokens"))
        arguments.misused("--new-tokens is for --phase decode: a prefill makes the first one");
    request.step.tensor_parallel = count(arguments, "tensor-parallel", 1, kMostChips);
    read_training(arguments, request);
    request.weights = arguments.choice("weights", weight_formats());
    if (arguments.has("activations"))
        request.activations = arguments.choice("activations", activation_formats());
    request.cache = arguments.choice("kv", cache_formats());
    const std::string routing = arguments.choice("routing", routing_names());
    for (std::size_t i = 0; i < routing_names().size(); ++i)
        if (routing_names()[i] == routing) request.routing = static_cast<Routing>(i);
    request.asks_routing = arguments.has("routing");
    return request;
}

/// Sizes that no trace may have are a mistake of the request: the places of the text that was made say
/// nothing.
void expect_sizes(const Imported& made, const std::string& file) {
    try {
        build_trace(config::parse_yaml(made.trace, file), {});
    } catch (const UserError& error) {
        std::vector<Diagnostic> mistakes = error.diagnostics();
        for (Diagnostic& mistake : mistakes) mistake.where = {file, 0, 0};
        throw UserError(std::move(mistakes));
    }
}

int trace(const Arguments& arguments) {
    if (arguments.at(0) != "llm")
        arguments.misused(
            fmt::format("'{}' is not llm, the only kind of trace that is made", excerpt(arguments.at(0))));
    const LlmRequest request = read_request(arguments);
    const auto output = arguments.option("output");
    const std::filesystem::path file = Library::find().resolve(Shelf::Models, arguments.at(1));
    if (output && are_one_file(*output, file)) arguments.misused("--output is CONFIG itself");
    if (output) require_writable_file(*output);
    const Imported made = llm_trace(read_text(file.string(), kLargestConfig), file.string(), request);
    expect_sizes(made, file.string());
    if (output)
        write_file(*output, made.trace);
    else
        print(made.trace);
    for (const ImportNote& each : made.notes) complain(to_string(each));
    if (output) note(fmt::format("wrote {}", *output));
    return 0;
}

}  // namespace

Command trace_command() {
    Command command;
    command.name = "trace";
    command.summary =
        "Make the trace of a step of a language model: a prefill, a decode step, or one of training.";
    command.arguments = {"llm", "CONFIG"};
    command.about =
        "CONFIG is a shipped model ('systole list models'), or the config.json of a decoder on Hugging Face. "
        "The\n"
        "trace is that of one chip, and says which step it is: 'systole run' then tells the time to the "
        "first\n"
        "token, for each one, or for the step, and tokens a second. Routing of experts is data, and how many "
        "are met is "
        "taken.\n";
    add_option(
        command.options, "phase", "PHASE",
        "decode (default): a token more of each sequence; prefill: whole prompts;\ntrain: up to the new "
        "weights");
    add_option(command.options, "batch", "N", "sequences, of a replica (default 1)");
    add_option(command.options, "context", "N",
               "tokens that a new one sees, with itself; of a prefill, the prompt; in training, of a "
               "sequence (default 4096, or as many "
               "as the model has positions)");
    add_option(command.options, "new-tokens", "N",
               "decode: of N tokens behind each other, the one in the middle (default 1)");
    add_option(
        command.options, "weights", "FORMAT",
        "bf16 (default), fp8, int8 (scales of columns), int4 (of groups of 128); mxfp8,\nmxfp4, nvfp4 (of "
        "blocks of 32, 32, 16, of activations, too)");
    add_option(command.options, "activations", "FORMAT",
               "what products with fp8 or int8 weights read: bf16 (default); as-weights:\nquantized ahead of "
               "them");
    add_option(command.options, "kv", "FORMAT", "of the cache: bf16 (default), fp8, int8");
    add_option(command.options, "tensor-parallel", "N", "chips that share every layer (default 1)");
    add_option(command.options, "data-parallel", "N",
               "train: replicas, which sum their gradients (default 1)");
    add_option(command.options, "optimizer", "KIND", "train: adam (default), momentum, sgd");
    add_option(command.options, "gradients", "DTYPE", "train: of weights: bf16 (default), fp32");
    add_option(
        command.options, "recompute", "WHAT",
        "train: none (default); blocks: only what enters a layer is kept, and the rest computed again");
    add_option(command.options, "routing", "RULE",
               "even (default): all experts are met that can be; expected: as many as by\nchance; worst: all "
               "tokens choose the same ones");
    add_option(command.options, "output,o", "FILE", "write there instead of to the standard output");
    command.examples = {
        {"systole trace llm llama3_8b -o step.yaml",
         "one token behind 4,095; then: systole run tpu_v5p step.yaml"},
        {"systole trace llm llama3_70b --batch 16 --context 8192 --weights int8 --tensor-parallel 4",
         "one chip's share of a decode step"},
        {"systole trace llm llama3_70b --phase prefill --context 2048 --tensor-parallel 4",
         "up to the first token of a prompt"},
        {"systole trace llm llama3_8b --batch 64 --weights nvfp4", "four bits on both sides, for a b200"},
        {"systole trace llm mixtral_8x7b --batch 64 --routing expected --kv int8",
         "experts, and a narrow cache"},
        {"systole trace llm llama3_8b --phase train --batch 4 --data-parallel 64 --tensor-parallel 8",
         "one chip's share of a step of training"},
        {"systole trace llm DeepSeek-V2-Lite/config.json --batch 8", "a model from elsewhere"}};
    command.run = trace;
    return command;
}

}  // namespace systole::app
