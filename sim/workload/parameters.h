// SPDX-License-Identifier: Apache-2.0
// The parameters of a trace: integers and dtypes by name, with their defaults from the file and their values
// from the command line. Turns texts of the file into numbers and dtypes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/mistakes.h"
#include "sim/base/trace_parameter.h"
#include "sim/workload/dtype.h"
#include "sim/workload/trace.h"

namespace systole {

/// The largest dimension, count or key of a trace: sums and products of two of them stay within 64 bits.
constexpr std::int64_t kMaxInteger = 2'147'483'647;

class Parameters {
public:
    Parameters() = default;
    /// Reads `params:` (null: none), each value an integer, an expression of the parameters before it, or a
    /// dtype. An override must name a declared parameter and be of its kind.
    Parameters(const config::YamlNode* params, const std::vector<TraceOverride>& overrides,
               Mistakes& mistakes);

    /// The value of an integer or expression, low … kMaxInteger; otherwise a mistake at `node` about `what`.
    std::optional<std::int64_t> integer(const config::YamlNode& node, std::string_view what, std::int64_t low,
                                        Mistakes& mistakes) const;
    /// The dtype that `node` names, itself or through a parameter; otherwise a mistake.
    std::optional<DType> dtype(const config::YamlNode& node, std::string_view what, Mistakes& mistakes) const;

    /// All that are declared, in the order of the file.
    const std::vector<TraceParameter>& declared() const { return declared_; }

    /// Whether the name is taken.
    bool has(const std::string& name) const;
    /// A name that lives while a block is read: the number of its turn.
    void bind(const std::string& name, std::int64_t value) { integers_[name] = value; }
    void unbind(const std::string& name) { integers_.erase(name); }

private:
    void declare(const config::YamlEntry& entry, const TraceOverride* override, Mistakes& mistakes);
    std::vector<std::string> names() const;

    std::map<std::string, std::int64_t> integers_;
    std::map<std::string, DType> dtypes_;
    std::vector<TraceParameter> declared_;
};

/// Whether `name` may name a parameter, a layer or a tensor: a letter or '_', then letters, digits, '_', up
/// to 100 characters ('.' joins the names of blocks).
bool is_name(std::string_view name);

}  // namespace systole
