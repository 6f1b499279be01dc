# SPDX-License-Identifier: Apache-2.0
"""Measured collectives of GPUs (tests/golden/gpu_collectives), asked of the program."""

import csv
import gzip
import pathlib

import gpu_gemm_rows

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "gpu_collectives"
# The device that each set is asked of.
SETS = {"a100": "a100", "h200": "h200", "vidur_a100_dgx": "a100", "vidur_h100_dgx": "h100", "vidur_a100_pcie": "a100_pcie",
        "vidur_h100_pcie": "h100_pcie", "llmcompass_a100": "a100"}
LARGE = 1 << 20  # bytes from which on errors are promised
BY_LIBRARY = ["collectives.measured.use=off"]


def read(name, part="public"):
    """(kind, dtype, chips, bytes, microseconds) of every row."""
    with gzip.open(GOLDEN / f"{name}_{part}.csv.gz", "rt") as file:
        return [(r["kind"], r["dtype"], int(r["chips"]), int(r["bytes"]), float(r["latency_us"])) for r in csv.DictReader(file)]


def columns(kind, dtype, chips, size, _):
    """Bytes are of the message: of gathers, all chips' parts; the operator's elements are those of one chip's tensor."""
    elements = size // (1 if dtype == "int8" else 2)
    return {"op": "collective", "dtype": dtype, "kind": kind, "elements": elements // chips if kind == "all_gather" else elements,
            "chips": chips}


def ask(program, name, rows, settings=()):
    """Microseconds that the program answers, row by row."""
    return gpu_gemm_rows.ask_table(program, SETS[name], [columns(*row) for row in rows], settings)


def mean_error(rows, answers):
    """Mean absolute error and bias, as shares."""
    errors = [answer / row[4] - 1 for row, answer in zip(rows, answers)]
    return sum(map(abs, errors)) / len(errors), sum(errors) / len(errors)
