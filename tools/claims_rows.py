# SPDX-License-Identifier: Apache-2.0
"""Rows of merged sweeps, and what claims compute of them."""

import csv
import statistics

HOLDS, IN_PART, NOT, UNKNOWN = "holds", "holds in part", "does not hold", "not measured"


def read(folder):
    with open(folder / "points.csv", newline="") as file:
        return [dict(row, trace=row["trace"].removeprefix("./traces/").removesuffix(".yaml")) for row in csv.DictReader(file)]


def is_tpu(device):
    return device.startswith("tpu")


def number(row, key):
    """A figure of a point; None where it has none."""
    return float(row[key]) if row and row["status"] == "done" and row.get(key) else None


def one(rows, **values):
    """The point with these values, or None."""
    found = [row for row in rows if all(row.get(key.replace("__", ".")) == value for key, value in values.items())]
    return found[0] if found else None


def in_order(rows, key):
    return list(dict.fromkeys(row[key] for row in rows))


def table(rows, figure):
    """{trace: {device: figure of the point}}, in the experiment's order."""
    found = {}
    for trace in in_order(rows, "trace"):
        for device in in_order(rows, "device"):
            row = one(rows, device=device, trace=trace)
            if row:
                found.setdefault(trace, {})[device] = figure(row)
    return found


def known(values):
    return [value for value in values if value is not None]


def mean(values):
    """The geometric mean of those that are known; None of none."""
    values = known(values)
    return statistics.geometric_mean(values) if values else None


def graded(holds, in_part):
    return HOLDS if holds else IN_PART if in_part else NOT


def missing(rows):
    """Points that neither ran nor were refused."""
    return [row for row in rows if row["status"] not in ("done", "refused")]


def said_of_refusals(rows):
    """'h100 refuses train: why', once for each."""
    seen = {}
    for row in rows:
        if row["status"] == "refused":
            why = row["error"].split("error: ")[-1]
            seen.setdefault((row["trace"], why), []).append(row["device"])
    return [f"{', '.join(dict.fromkeys(devices))} refused `{trace}`: {why}" for (trace, why), devices in seen.items()]
