#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Products of fp16, fp8 and fp4, with and without scales of blocks, as measured (tests/golden/gpu_narrow) beside what the program answers.

    tests/bench/gpu_narrow.py PROGRAM [--chip b200] [--set PATH=VALUE ...]

PROGRAM is for example build/systole. Each is asked behind others like it (run.repeat=3), with the clock that power has settled, as runs of seconds have it, in a stream (run.launch=stream).
"""

import argparse
import csv
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import gpu_gemm_rows  # noqa: E402

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "gpu_narrow"
PROTOCOL = ["run.repeat=3", "run.launch=stream"]
# Numbers and the block that shares a scale.
FORMATS = {"fp16": ("fp16", ""), "fp8": ("fp8", ""), "mxfp8": ("fp8", "32"), "mxfp4": ("fp4", "32"), "nvfp4": ("fp4", "16")}


def question(row):
    dtype, group = FORMATS[row["format"]]
    scales = "block" if group else ""
    return {"op": "matmul", "dtype": dtype, "dtype_out": "fp16", "scales": scales, "group": group, "m": row["m"], "n": row["n"], "k": row["k"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--chip", action="append", choices=["b200", "h100"])
    parser.add_argument("--set", action="append", default=[])
    asked = parser.parse_args()
    with open(GOLDEN / "rows.csv") as file:
        rows = list(csv.DictReader(file))
    errors = {}
    print(f"{'chip':>5} {'library':>8} {'format':>6} {'m':>5} {'n':>5} {'k':>6} {'measured':>9} {'here':>9}   TFLOP/s, time")
    for chip in asked.chip or ["b200", "h100"]:
        own = [row for row in rows if row["chip"] == chip]
        times = gpu_gemm_rows.ask_table(asked.program, chip, list(map(question, own)), PROTOCOL + asked.set)
        for row, us in zip(own, times):
            here = 2 * int(row["m"]) * int(row["n"]) * int(row["k"]) / us / 1e6
            error = float(row["tflops"]) / here - 1
            errors.setdefault((chip, row["library"], row["format"]), []).append(error)
            print(f"{chip:>5} {row['library']:>8} {row['format']:>6} {row['m']:>5} {row['n']:>5} {row['k']:>6} "
                  f"{float(row['tflops']):9.0f} {here:9.0f}   {100 * error:+.1f} %")
    for (chip, library, name), found in errors.items():
        print(f"{chip}, {library}, {name}: {len(found)} rows, mean absolute error {100 * sum(map(abs, found)) / len(found):.1f} %, "
              f"bias {100 * sum(found) / len(found):+.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
