# SPDX-License-Identifier: Apache-2.0
"""Products of fp16, fp8 and fp4, with and without scales of blocks, as measured (tests/golden/gpu_narrow), asked of the program."""

import csv
import pathlib

import gpu_gemm_rows

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "gpu_narrow"
CHIPS = ("b200", "h100")
# Behind others like it, with the clock that power has settled, as runs of seconds have it, in a stream.
PROTOCOL = ["run.repeat=3", "run.launch=stream"]
# Numbers and the block that shares a scale.
FORMATS = {"fp16": ("fp16", ""), "fp8": ("fp8", ""), "mxfp8": ("fp8", "32"), "mxfp4": ("fp4", "32"), "nvfp4": ("fp4", "16")}


def question(row):
    dtype, group = FORMATS[row["format"]]
    scales = "block" if group else ""
    return {"op": "matmul", "dtype": dtype, "dtype_out": "fp16", "scales": scales, "group": group, "m": row["m"], "n": row["n"], "k": row["k"]}


def products(program, chip, settings=()):
    """(row, TFLOP/s measured, TFLOP/s answered) of every product of a chip."""
    with open(GOLDEN / "rows.csv") as file:
        own = [row for row in csv.DictReader(file) if row["chip"] == chip]
    times = gpu_gemm_rows.ask_table(program, chip, list(map(question, own)), [*PROTOCOL, *settings])
    for row, us in zip(own, times):
        yield row, float(row["tflops"]), 2 * int(row["m"]) * int(row["n"]) * int(row["k"]) / us / 1e6
