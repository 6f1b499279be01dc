// SPDX-License-Identifier: Apache-2.0
#include "sim/account/serving_rates.h"

#include <fmt/format.h>

#include "sim/base/text.h"

namespace systole {

ServingRates serving_rates(const ServingStep& step, Ticks time) {
    ServingRates rates;
    rates.step_seconds = static_cast<double>(time.value()) * 1e-12;
    rates.token_seconds = rates.step_seconds / static_cast<double>(step.new_tokens);
    if (rates.step_seconds > 0)
        rates.tokens_per_s =
            static_cast<double>(step.tokens()) * static_cast<double>(step.data_parallel) / rates.step_seconds;
    rates.tokens_per_s_per_chip = rates.tokens_per_s / static_cast<double>(step.chips());
    return rates;
}

std::string serving_sentence(const ServingStep& step, Ticks time) {
    using Phase = ServingStep::Phase;
    const ServingRates rates = serving_rates(step, time);
    const std::string chips =
        step.chips() == 1 ? "one chip" : fmt::format("{} chips", with_thousands(step.chips()));
    std::string text =
        step.phase == Phase::Prefill
            ? fmt::format("Prefill of {} x {} tokens on {}: {} to the first token", step.batch,
                          with_thousands(step.context), chips, format_time(time))
        : step.phase == Phase::Decode
            ? fmt::format(
                  "Decode of {} sequence{}, {} tokens each with the new one, on {}: {} for each output token",
                  step.batch, step.batch == 1 ? "" : "s", with_thousands(step.context), chips,
                  format_time(Ticks(time.value() / step.new_tokens)))
            : fmt::format("Training on {} x {} tokens on {}: {} a step", step.batch * step.data_parallel,
                          with_thousands(step.context), chips, format_time(time));
    text += fmt::format("; {:.1f} tokens/s", rates.tokens_per_s);
    if (step.chips() > 1) text += fmt::format(", {:.1f} for each chip", rates.tokens_per_s_per_chip);
    return text + ".";
}

}  // namespace systole
