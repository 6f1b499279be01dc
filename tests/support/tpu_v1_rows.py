# SPDX-License-Identifier: Apache-2.0
"""What the counters of a TPU v1 said (tests/golden/tpu_v1), and what Systole's accounts say of the same networks."""

import csv
import json
import pathlib
import subprocess

COUNTERS = pathlib.Path(__file__).resolve().parent.parent / "golden" / "tpu_v1" / "counters.csv"
SHARES = ("active", "weight_stall", "weight_shift", "non_matrix")  # sum to 100 %


def measured():
    """Of each network its counters: percent of the cycles, and tops."""
    rows = list(csv.DictReader(COUNTERS.open()))
    return {row["network"]: {key: float(value) for key, value in row.items() if key != "network"} for row in rows}


def simulated(program, network, *options):
    """The same of Systole. Array active: useful and padded slots; weight stall: waiting for the weight memory; weight
    shift: ramp; everything else is non-matrix."""
    words = [program, "run", "tpu_v1", f"tpu_v1_{network}", "--format", "json", *options]
    result = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    total = result["devices"][0]["total"]
    share = {name: 100 * fraction for name, fraction in total["classes"].items()}
    counters = {"useful": share["useful"], "unused": share["padding"], "weight_stall": share["memory"],
                "weight_shift": share["ramp"], "active": share["useful"] + share["padding"]}
    counters["non_matrix"] = 100 - sum(counters[name] for name in SHARES[:3])
    counters["tops"] = 2 * total["macs"] / total["time_ns"] / 1000
    return counters
