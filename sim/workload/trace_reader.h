// SPDX-License-Identifier: Apache-2.0
// Walks a trace document: parameters, inputs, layers and repeated blocks, outputs. What a single operator's
// keys mean is op_reader's business; what becomes of tensors, GraphBuilder's.
#pragma once

#include <optional>
#include <vector>

#include "sim/workload/graph_builder.h"
#include "sim/workload/keys.h"
#include "sim/workload/op_reader.h"
#include "sim/workload/scope.h"

namespace systole {

/// Every turn of a repeated block counted, and what training appends.
constexpr std::int64_t kMaxLayers = 1'000'000;

/// The network of a trace; of one that is trained (Graph::training), without what training appends.
class TraceReader {
public:
    TraceReader(const config::YamlNode& document, const std::vector<TraceOverride>& overrides);

    /// The whole graph; throws every mistake found. Call it once.
    Graph read();

private:
    /// What the trace is a batch of, unless `serving` says it.
    void take_batch(const BatchOf& batch, const SourceMark& where);
    /// As many replicas as `serving` says, where a trace has both.
    void take_training(const Training& how);
    void read_inputs(const config::YamlNode* inputs, Scope& scope);
    void read_outputs(const config::YamlNode* outputs, const Scope& scope);
    void read_items(const config::YamlNode& layers, Scope& scope);
    void read_item(const config::YamlNode& item, Scope& scope);
    /// Ends the reading of a trace with too many layers.
    void give_up(const SourceMark& where);
    void read_block(const config::YamlNode& item, Scope& scope);
    /// All turns of a block; answers what leaves the last one.
    Named read_turns(const config::YamlNode& layers, std::int64_t turns, const std::string& name,
                     const std::string& index, Scope& scope);
    void read_layer(const config::YamlNode& item, Scope& scope);
    /// The tensors of `in`, or of the layer before; empty after a mistake.
    std::vector<TensorId> read_operands(Keys& keys, const OpSyntax& syntax, const Scope& scope);
    /// What a name in the file stands for; `subject` begins the message if nothing.
    std::optional<Named> resolve(const config::YamlNode& name, const std::string& subject,
                                 const Scope& scope);
    std::optional<TensorId> add(const LayerMeaning& meaning, LayerPlan plan);
    /// Makes a name known, unless it is taken.
    void declare(const std::string& name, Named named, const SourceMark& where, Scope& scope);

    const config::YamlNode* document_;
    Mistakes mistakes_;
    Parameters parameters_;
    GraphBuilder builder_;
    std::int64_t items_ = 0;  // layers and blocks read so far, every turn counted
};

}  // namespace systole
