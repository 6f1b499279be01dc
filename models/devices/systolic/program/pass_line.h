// SPDX-License-Identifier: Apache-2.0
// The line of a program text that describes a pass:
// `mxu0 layer=0 left=0:0 top=1:4096 m=8 k=4 n=4 accumulator=0 mode=set tile=next dtype=int8 ...
// after=load:2`. Knows what each dataflow lets a pass be, and where tiles come from on this machine.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/devices/systolic/program/pass_shape.h"
#include "models/devices/systolic/program/program_line.h"
#include "models/devices/systolic/spec/spec.h"

namespace systole::systolic {

/// `second_dtype=` of a layer or a pass; nothing where it is `dtype`.
std::optional<DType> read_second_dtype(ProgramLine& line, DType dtype);

class PassReader {
public:
    explicit PassReader(const SystolicSpec& spec)
        : spec_(spec), units_(static_cast<std::size_t>(spec.cores * spec.mxu.count)) {}

    /// Reads the keys of a pass of that matrix unit in a dataflow; its edges may name `streams`. Mistakes are
    /// recorded in the line.
    MatrixPass read(ProgramLine& line, UnitIndex mxu, Dataflow dataflow,
                    const std::vector<AddressStream>& streams);
    /// A tile goes into the weight FIFO that this unit fills.
    void tile_loaded(UnitIndex weights) { ++of(weights).loaded; }
    /// Reports FIFOs whose tiles are not all used, each once.
    void finish(const std::function<void(std::string)>& fail) const;

private:
    /// One matrix unit so far.
    struct Unit {
        std::int64_t loaded = 0, used = 0;               ///< tiles of its FIFO
        std::optional<PassShape> tile;                   ///< in the array
        Dataflow dataflow = Dataflow::WeightStationary;  ///< of the pass before
    };

    Unit& of(UnitIndex unit) {
        return units_[static_cast<std::size_t>(core_of(unit) * spec_.mxu.count + mxu_of(unit))];
    }
    EdgeRead read_edge(ProgramLine& line, const char* key, const std::vector<AddressStream>& streams) const;
    void read_window(ProgramLine& line, const std::string& key, EdgeRead& edge,
                     const AddressStream& pattern) const;
    MacRate rate_of(const MatrixPass& pass) const;
    void read_extents(ProgramLine& line, Dataflow dataflow, MatrixPass& pass) const;
    void read_folds(ProgramLine& line, Dataflow dataflow, MatrixPass& pass) const;
    void check_edges(ProgramLine& line, Dataflow dataflow, const MatrixPass& pass) const;
    void check_tile(ProgramLine& line, Dataflow dataflow, const MatrixPass& pass, Unit& unit) const;
    std::int64_t scratchpad() const { return spec_.scratchpad.capacity.value(); }

    const SystolicSpec& spec_;
    std::vector<Unit> units_;  // matrix units, core by core
};

}  // namespace systole::systolic
