// SPDX-License-Identifier: Apache-2.0
// The links to other chips as two TLM-2.0 targets, one for each engine: writes leave for other chips, reads
// bring what these have sent. A ring runs both ways round, half of the data each, so the links to both
// neighbours count as one of twice the bandwidth. All chips run the same program in step: what comes in is
// served at the rate at which another sends it. What only passes through a chip comes in and goes out.
#pragma once

#include <systemc>
#include <vector>

#include "models/link/host_link.h"
#include "models/link/link_spec.h"
#include "sim/account/run_result.h"
#include "sim/kernel/served_target.h"

namespace systole {

class ChipLink : public sc_core::sc_module {
public:
    /// Reads are answered when their last byte is in the chip, writes when it is in the neighbour.
    ServedTarget in{"in", [this](Ticks at, const auto& payload) { return serve(at, payload); }};
    ServedTarget out{"out", [this](Ticks at, const auto& payload) { return serve(at, payload); }};

    ChipLink(sc_core::sc_module_name name, const ChipLinkSpec& spec);

    Bytes bytes_in() const { return timing_in_.sent(); }
    Bytes bytes_out() const { return timing_out_.sent(); }
    std::vector<Stat> stats() const;

private:
    Ticks serve(Ticks at, const tlm::tlm_generic_payload& payload);

    LinkTiming timing_in_, timing_out_;
};

}  // namespace systole
