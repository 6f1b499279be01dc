# SPDX-License-Identifier: Apache-2.0
"""The first TPU with something changed: each assumption by a fifth, and the what-ifs of its paper."""

import csv
import json
import math
import re
import subprocess

import tpu_v1_rows

# Settings of the what-ifs. Inputs and outputs lie in the unified buffer: the paper's figures leave the host out.
ON_CHIP = ("run.inputs_at=onchip", "run.outputs_to=onchip")
# Section 7 asks for GDDR5 as on the K80, which moves the ridge from 1350 to 250 operations a byte: 34 GB/s x 1350 / 250 =
# 183.6 GB/s. Here eight channels of 16 bits at 8 x 1434 MHz; the nearest standard that there is a table for is GDDR6.
GDDR5 = ("memory.preset=gddr6_14000", "memory.channels=8", "memory.clock=1434 MHz")
# An array of 512 x 512 takes paths for 512 elements.
WIDE = tuple(f"scratchpad.{path}=512 B" for path in ("bank_width", "weight_port_width", "dma_port_width")) + (
    "vector.lanes=512", "vector.read_width=512 B", "vector.write_width=512 B")
WHAT_IFS = {
    "bandwidth x 4": ("memory.channels=8",),
    "clock x 4": ("core.clock=2800 MHz",),
    "array 512 x 512": ("mxu.rows=512", "mxu.cols=512", *WIDE),
    "GDDR5": GDDR5,
    "GDDR5 and 1050 MHz": (*GDDR5, "core.clock=1050 MHz"),
}
# Table 1's shares, each on the first of its two networks (tests/golden/tpu_v1/README.md).
WEIGHTS = {"mlp0": 61, "lstm0": 29, "cnn0": 5}
WITHIN = 0.20  # of the paper's figure
SHAPES = {"mlp0": ("width", 2000), "mlp1": ("width", 1118), "lstm0": ("width", 1472), "lstm1": ("width", 959),
          "cnn0": ("channels", 250), "cnn1": ("channels", 131)}


def published():
    """(what_if, networks, speedup or None where it is only said to be a little less than 1, words)."""
    return [(row["what_if"], row["networks"], None if row["speedup"] == "less" else float(row["speedup"]), row["words"])
            for row in csv.DictReader((tpu_v1_rows.GOLDEN / "what_ifs.csv").read_text().splitlines())]


def means(of):
    """Speedups of the six networks, and of the groups that the paper names."""
    both = {kind: math.sqrt(of[kind + "0"] * of[kind + "1"]) for kind in ("mlp", "lstm", "cnn")}
    geometric = math.prod(of.values()) ** (1 / len(of))
    weighted = sum(weight * of[network] for network, weight in WEIGHTS.items()) / sum(WEIGHTS.values())
    return {**of, **both, "gm": geometric, "wm": weighted}


def what_ifs(program):
    """By what-if: how much faster each network and group becomes."""
    settings = {name: (*ON_CHIP, *extra) for name, extra in WHAT_IFS.items()}
    answers = tpu_v1_rows.all_simulated(program, [ON_CHIP, *settings.values()])
    networks = tpu_v1_rows.measured()
    return {name: means({network: answers[ON_CHIP, network]["time_ns"] / answers[changed, network]["time_ns"]
                         for network in networks}) for name, changed in settings.items()}


def directed(speedup, ours):
    """Whether ours goes the way of the paper's figure: slower, the same within 20 %, or faster."""
    if speedup is None:
        return ours < 1
    return abs(ours - 1) <= WITHIN if speedup == 1 else (ours > 1) == (speedup > 1)


def agrees(speedup, ours):
    """Whether ours has the direction of the paper's figure and is within 20 % of it."""
    return directed(speedup, ours) and abs(ours / (speedup or 1) - 1) <= WITHIN


def assumptions(program):
    """The assumed values of the device, its memory and its host link, with their ranges."""
    shown = subprocess.run([program, "show", "device", "tpu_v1", "--format", "json"], check=True, capture_output=True,
                           text=True).stdout
    return [value for value in json.loads(shown)["values"] if value["origin"] == "assumed"]


def changed(value):
    """A fifth less and a fifth more of a value, at least one unit of a whole number; of a name, the other ends of its
    range. None where there is nothing to change."""
    number = re.fullmatch(r"(\d+(?:\.\d+)?)( \S+)?", value["value"])
    if not number:
        ends = [end for end in value["range"].split("..") if end and end != value["value"]]
        return [None, ends[-1]] if ends and not re.match(r"\d", ends[-1]) else None
    amount, unit = number[1], number[2] or ""
    if "." in amount:
        return [f"{float(amount) * factor:g}{unit}" for factor in (0.8, 1.2)]
    whole = int(amount)
    if whole and unit and whole < 10 and not unit.endswith("B"):
        return [f"{whole * factor:g}{unit}" for factor in (0.8, 1.2)]
    if unit in (" KiB", " MiB"):
        unit, whole = (" KiB", whole * 1024) if unit == " MiB" else (" B", whole * 1024)
    less, more = min(whole - 1, round(whole * 0.8)), max(whole + 1, round(whole * 1.2))
    return [f"{less}{unit}" if less >= 0 else None, f"{more}{unit}"]


def sensitivity(program):
    """(what, value, {network: [change with less, with more]}), the changes being the largest of the four shares in
    points, None where the machine cannot be built so. The shapes of the networks come first."""
    networks = tpu_v1_rows.measured()
    asked = [(value["path"], value["value"], changed(value)) for value in assumptions(program)]
    asked = [(path, value, pair) for path, value, pair in asked if pair]
    keys = [(f"{path}={new}",) for path, _, pair in asked for new in pair if new]
    answers = tpu_v1_rows.all_simulated(program, [(), *keys])
    base = {network: answers[(), network] for network in networks}

    def difference(network, answer):
        return answer and max(abs(answer[key] - base[network][key]) for key in tpu_v1_rows.SHARES)

    rows = [("size of the layers", "", {
        network: [difference(network, tpu_v1_rows.simulated(program, network, f"workload.{what}={round(size * factor)}"))
                  for factor in (0.8, 1.2)] for network, (what, size) in SHAPES.items()})]
    rows += [(path, value, {network: [new and difference(network, answers[(f"{path}={new}",), network]) for new in pair]
                            for network in networks}) for path, value, pair in asked]
    return rows
