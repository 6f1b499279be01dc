// SPDX-License-Identifier: Apache-2.0
// A config.json under reading: its keys, what it is called, and the notes that come of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/workload/importers/imported.h"
#include "sim/workload/importers/json_object.h"

namespace systole {

/// A step that nobody describes has as many tokens behind it as the model was made for, but no more than
/// this.
constexpr std::int64_t kLongestContext = 8192;

class ModelConfig {
public:
    /// Reads `model_type`. Throws UserError for what is no JSON, and for types that are not among `known`.
    ModelConfig(std::string_view text, const std::string& file, const std::vector<std::string>& known);

    JsonObject& keys() { return keys_; }
    const std::string& type() const { return type_; }
    bool is(std::string_view type) const { return type_ == type; }
    /// The model's name, or else its type.
    std::string name();
    /// The function at `key` as a trace says it; the several approximations of GELU cost the same here.
    std::string activation(const char* key, const std::string& fallback);
    void note(const char* key, std::string text);
    /// That the head has the embedding's weights, which a trace stores once more.
    void note_tied(const char* key, std::int64_t parameters);
    /// Keys that make another network of it: throws UserError.
    void refuse_other_computations();
    /// Formats that the model has, and the trace has not; `weights` says what these are there.
    void tell_formats(std::string_view weights);
    std::vector<ImportNote> take_notes() { return std::move(notes_); }

private:
    void refuse_type(const std::vector<std::string>& known);

    JsonObject keys_;
    const std::string file_;
    std::string type_;
    std::vector<ImportNote> notes_;
};

}  // namespace systole
