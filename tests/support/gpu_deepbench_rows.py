# SPDX-License-Identifier: Apache-2.0
"""DeepBench's measured products and convolutions of a V100 (tests/golden/gpu_deepbench), asked as they were timed."""

import csv
import gzip
import pathlib

import gpu_gemm_rows

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "gpu_deepbench"
OPS = ("gemm", "conv")
# Calls of a loop on the same operands, by the host's clock: one behind the other in a stream.
PROTOCOL = ["run.launch=stream", "run.repeat=2"]


def read(op, part="public", chip="v100"):
    """The columns of every row, as text, and its microseconds."""
    with gzip.open(GOLDEN / f"{chip}_{op}_{part}.csv.gz", "rt") as file:
        return [({k: v for k, v in row.items() if k != "latency_us"}, float(row["latency_us"]))
                for row in csv.DictReader(file)]


def columns(op, row):
    """As `systole op --csv` names them. Columns of a result that lie one behind the other are rows of its transpose."""
    if op == "gemm":
        return {"op": "matmul", "dtype": row["dtype"], "m": row["n"], "n": row["m"], "k": row["k"]}
    if row["pad_h"] != row["pad_w"] or row["stride_v"] != row["stride_h"]:
        raise ValueError(f"a convolution that is not alike in both directions: {row}")
    return {"op": "conv2d", "dtype": row["dtype"], **{k: row[k] for k in ("n", "h", "w", "c", "k", "r", "s")},
            "stride": row["stride_v"], "pad": row["pad_h"]}


def group(op, row):
    """By what errors are told: the format, and of convolutions the algorithm."""
    return row["dtype"] if op == "gemm" else f"{row['dtype']} {row['algo'].lower()}"


def ask(program, op, rows, settings=(), chip="v100"):
    """Microseconds that the program answers, row by row."""
    return gpu_gemm_rows.ask_table(program, chip, [columns(op, row) for row, _ in rows], [*PROTOCOL, *settings])
