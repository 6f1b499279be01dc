# SPDX-License-Identifier: Apache-2.0
"""What the counters of a TPU v1 said (tests/golden/tpu_v1), and what Systole's accounts say of the same networks."""

import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "tpu_v1"
SHARES = ("active", "weight_stall", "weight_shift", "non_matrix")  # sum to 100 %
GATED = ("mlp0", "mlp1", "lstm0", "cnn0")  # networks whose shapes are known well enough to be held to the counters
POINTS, USEFUL_WITHIN = 5, 0.10  # what the four shares, and the useful share of itself, may be off by


def measured():
    """Of each network its counters: percent of the cycles, and tops."""
    rows = list(csv.DictReader((GOLDEN / "counters.csv").read_text().splitlines()))
    return {row["network"]: {key: float(value) for key, value in row.items() if key != "network"} for row in rows}


def run(program, network, *settings):
    """The result of a network on the device, with some settings; None where the machine or the run is refused."""
    words = [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run([program, "run", "tpu_v1", f"tpu_v1_{network}", "--format", "json", *words],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 2):
        raise RuntimeError(f"{network} {settings}: {done.stderr}")
    return None if done.returncode else json.loads(done.stdout)["devices"][0]


def counters_of(result):
    """What the hardware's counters would say. Array active: useful and padded slots; weight stall: waiting for the weight
    memory; weight shift: ramp; everything else is non-matrix. RAW and input stalls overlap all others: results of the
    layer before, and the host's data, outstanding while no vector streams."""
    total = result["total"]
    share = {name: 100 * fraction for name, fraction in total["classes"].items()}
    counters = {"useful": share["useful"], "unused": share["padding"], "weight_stall": share["memory"],
                "weight_shift": share["ramp"], "active": share["useful"] + share["padding"]}
    counters["non_matrix"] = 100 - sum(counters[name] for name in SHARES[:3])
    counters["tops"] = 2 * total["macs"] / total["time_ns"] / 1000
    array = {stat["name"]: stat["value"] for stat in result["stats"] if stat["path"].endswith(".mxu0")}
    ps = 1000 * total["time_ns"]
    counters["raw"] = 100 * (array["pending_vector"] + array["pending_dependency"]) / ps
    counters["input"] = 100 * array["pending_host"] / ps
    moved = sum(cell["bytes"] for cell in total["bytes"]["moved"] if "host" in (cell["from"], cell["to"]))
    counters["host"] = 100 * moved / PCIE_BYTES_A_NS / total["time_ns"]
    ends = [place["address"] + place["bytes"] for place in result["tensors"] if place["space"] == "scratchpad"]
    counters["buffer_mib"] = max(ends) / 2**20
    return counters


PCIE_BYTES_A_NS = 14 * 2**30 / 1e9  # figure 1 of the paper: 14 GiB/s


def simulated(program, network, *settings):
    """The counters of a network, or None where it cannot be run so."""
    result = run(program, network, *settings)
    return result and counters_of(result)


def all_simulated(program, settings_list):
    """By settings (a tuple) and network: its counters and time in ns, or None. Some at a time."""
    asked = [(settings, network) for settings in settings_list for network in measured()]

    def answer(key):
        result = run(program, key[1], *key[0])
        return result and {**counters_of(result), "time_ns": result["total"]["time_ns"]}

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(asked, pool.map(answer, asked)))


def worst(ours, counters):
    """The largest difference of the four shares, in points."""
    return max(abs(ours[key] - counters[key]) for key in SHARES)
