#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Products measured on MI300X and MI325X (tests/golden/gpu_cdna3) beside what the program answers.

    tests/bench/gpu_cdna3.py PROGRAM [--set PATH=VALUE ...]

PROGRAM is for example build/systole. What was run for long is asked with weights that the caches have lost, and a clock that
power has settled (run.repeat=3), kernel behind kernel in a stream (run.launch=stream); short runs likewise.
"""

import argparse
import csv
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import gpu_gemm_rows  # noqa: E402

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "gpu_cdna3"
PROTOCOL = ["run.repeat=3", "run.launch=stream"]
# AMD's typical attained TFLOP/s of an MI325X.
TYPICAL = {"fp16": 606, "bf16": 616, "fp8": 1143}


def table(rows):
    return [{"op": "matmul", "dtype": r["dtype"], "dtype_out": r["dtype_out"], "m": r["m"], "n": r["n"], "k": r["k"]} for r in rows]


def operations(row):
    return 2 * int(row["m"]) * int(row["n"]) * int(row["k"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--set", action="append", default=[])
    asked = parser.parse_args()
    with open(GOLDEN / "rows.csv") as file:
        rows = list(csv.DictReader(file))
    with open(GOLDEN / "taf.csv") as file:
        shapes = list(csv.DictReader(file))
    errors = {}
    print(f"{'chip':>8} {'set':>6} {'m':>7} {'n':>6} {'k':>6} {'in':>5} {'out':>5} {'measured':>9} {'here':>9}   TFLOP/s, time")
    for chip in ("mi300x", "mi325x"):
        own = [row for row in rows if row["chip"] == chip]
        for row, us in zip(own, gpu_gemm_rows.ask_table(asked.program, chip, table(own), PROTOCOL + asked.set)):
            here, measured = operations(row) / us / 1e6, float(row["tflops"])
            error = measured / here - 1
            errors.setdefault(row["set"], []).append(error)
            print(f"{chip:>8} {row['set']:>6} {row['m']:>7} {row['n']:>6} {row['k']:>6} {row['dtype']:>5} {row['dtype_out']:>5} "
                  f"{measured:9.1f} {here:9.1f}   {100 * error:+.1f} %")
    for dtype, measured in TYPICAL.items():
        ten = [dict(shape, dtype=dtype, dtype_out="fp16" if dtype == "fp8" else dtype) for shape in shapes]
        us = gpu_gemm_rows.ask_table(asked.program, "mi325x", table(ten), PROTOCOL + asked.set)
        here = sum(map(operations, ten)) / sum(us) / 1e6
        errors.setdefault("taf", []).append(measured / here - 1)
        print(f"{'mi325x':>8} {'taf':>6} {'ten shapes':>21} {dtype:>5} {ten[0]['dtype_out']:>5} {measured:9.1f} {here:9.1f}   "
              f"{100 * (measured / here - 1):+.1f} %")
    for name, found in errors.items():
        print(f"{name}: {len(found)} rows, mean absolute error {100 * sum(map(abs, found)) / len(found):.1f} %, "
              f"bias {100 * sum(found) / len(found):+.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
