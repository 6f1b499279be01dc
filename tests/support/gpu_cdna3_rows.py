# SPDX-License-Identifier: Apache-2.0
"""Products measured on MI300X and MI325X (tests/golden/gpu_cdna3), asked of the program."""

import csv
import pathlib

import gpu_gemm_rows

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "gpu_cdna3"
CHIPS = ("mi300x", "mi325x")
# What was run for long is asked with weights that the caches have lost, and a clock that power has settled, kernel behind kernel in
# a stream; short runs likewise.
PROTOCOL = ["run.repeat=3", "run.launch=stream"]
# AMD's typical attained TFLOP/s of an MI325X.
TYPICAL = {"fp16": 606, "bf16": 616, "fp8": 1143}


def read(name):
    with open(GOLDEN / f"{name}.csv") as file:
        return list(csv.DictReader(file))


def operations(row):
    return 2 * int(row["m"]) * int(row["n"]) * int(row["k"])


def ask(program, chip, rows, settings=()):
    """Microseconds that the program answers, row by row."""
    table = [{"op": "matmul", "dtype": r["dtype"], "dtype_out": r["dtype_out"], "m": r["m"], "n": r["n"], "k": r["k"]} for r in rows]
    return gpu_gemm_rows.ask_table(program, chip, table, [*PROTOCOL, *settings])


def products(program, settings=()):
    """(row, TFLOP/s measured, TFLOP/s answered) of every single product."""
    for chip in CHIPS:
        own = [row for row in read("rows") if row["chip"] == chip]
        for row, us in zip(own, ask(program, chip, own, settings)):
            yield row, float(row["tflops"]), operations(row) / us / 1e6


def typical(program, settings=()):
    """(format, TFLOP/s measured, TFLOP/s answered) of ten shapes together on an MI325X."""
    for dtype, measured in TYPICAL.items():
        ten = [dict(shape, dtype=dtype, dtype_out="fp16" if dtype == "fp8" else dtype) for shape in read("taf")]
        yield dtype, measured, sum(map(operations, ten)) / sum(ask(program, "mi325x", ten, settings)) / 1e6
