# SPDX-License-Identifier: Apache-2.0
"""Which files are timing classes, for tools/mutate."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent

SYSTOLIC = "models/devices/systolic/machine/"
SIMT = "models/devices/simt/"

# Room → its files that decide when something happens, or who owns a slot or a byte. Readers of configurations, names, reports and
# drawings are left out, and so is what decides on a plan before the clock starts.
TIMING = {
    "account": [f"sim/account/{name}.cpp" for name in (
        "byte_ledger", "causal_log", "energy_ledger", "invariants", "repeated_turn", "roofline", "slot_account", "staged_place",
        "turn_agreement")],
    "scratchpad": ["models/memory/scratchpad/*"],
    "link": ["models/link/dma_engine.cpp", "models/link/host_link.cpp", "models/link/pcie_*", "models/link/windowed_lane.cpp"],
    "mxu": ["models/devices/systolic/mxu/*"],
    "systolic machine": [f"{SYSTOLIC}{name}.cpp" for name in (
        "edge_ports", "matrix_account", "matrix_pending", "matrix_start", "matrix_tiles", "matrix_unit", "pattern_loads",
        "pending", "sequencer", "transfer_unit", "vector_unit")],
    "SIMT memory": [f"{SIMT}memory/*"] + [f"{SIMT}machine/{name}.cpp" for name in ("caches", "die_network", "l2", "mmu")],
    "SM": [f"{SIMT}sm/*"] + [f"{SIMT}kernels/{name}.cpp" for name in ("turn", "steady_steps", "stream_k", "fit")],
    "SIMT machine": [f"{SIMT}machine/{name}.cpp" for name in (
        "activity", "clock_control", "cta_deal", "cta_portions", "held_clock", "power_cap", "sm_activity", "sm_group",
        "sm_group_tiles", "sm_history")],
    "memory": ["models/memory/standards/*", "models/memory/addresses/address_map.cpp", "models/memory/controller/*",
               "models/memory/alike_channels.cpp", "models/memory/splitter.cpp", "models/memory/dram.cpp"],
}


def timing_files():
    """Each timing class's source, and its room."""
    return {str(path.relative_to(ROOT)): room for room, patterns in TIMING.items() for pattern in patterns
            for path in sorted(ROOT.glob(pattern)) if path.suffix == ".cpp"}
