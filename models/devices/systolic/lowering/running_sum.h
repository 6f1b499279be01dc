// SPDX-License-Identifier: Apache-2.0
// A result that several commands of the vector unit add to, one after the other: in fp32 in a tile of its own
// until the last of them writes it as what it is.
#pragma once

#include <cstdint>

#include "models/devices/systolic/lowering/workspace.h"

namespace systole::systolic {

class RunningSum {
public:
    RunningSum(Workspace& workspace, const Layer& layer) : workspace_(workspace), layer_(layer) {}

    static constexpr std::int64_t kSumBytes = 4;
    /// The most bytes that sums may take.
    static std::int64_t room(const Workspace& workspace);

    /// Which of the commands of a result it is.
    struct Turn {
        bool first = true, last = true;
    };
    /// Issues one, which reads what `work` names so far. `result`: all of it in the output.
    Token add(VectorWork work, Tokens after, Turn turn, const TensorBox& result);

private:
    static BufferRing& ring(const Workspace& workspace) {
        return workspace.outputs.capacity() > 0 ? workspace.outputs : workspace.weights;
    }
    bool in_place() const { return workspace_.flow.resident(layer_.output); }
    void open(std::int64_t bytes, Tokens& after);
    void read_sums(std::int64_t bytes, VectorWork& work) const;
    void name_target(Turn turn, const TensorBox& result, std::int64_t sums, VectorWork& work) const;

    Workspace& workspace_;
    const Layer& layer_;
    BufferTile* tile_ = nullptr;  ///< held while commands are to come
};

}  // namespace systole::systolic
