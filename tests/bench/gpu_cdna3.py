#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Products measured on MI300X and MI325X (tests/golden/gpu_cdna3) beside what the program answers.

    tests/bench/gpu_cdna3.py PROGRAM [--set PATH=VALUE ...]

PROGRAM is for example build/systole.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import gpu_cdna3_rows  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--set", action="append", default=[])
    asked = parser.parse_args()
    errors = {}
    print(f"{'chip':>8} {'set':>6} {'m':>7} {'n':>6} {'k':>6} {'in':>5} {'out':>5} {'measured':>9} {'here':>9}   TFLOP/s, time")
    for row, measured, here in gpu_cdna3_rows.products(asked.program, asked.set):
        error = measured / here - 1
        errors.setdefault(row["set"], []).append(error)
        print(f"{row['chip']:>8} {row['set']:>6} {row['m']:>7} {row['n']:>6} {row['k']:>6} {row['dtype']:>5} {row['dtype_out']:>5} "
              f"{measured:9.1f} {here:9.1f}   {100 * error:+.1f} %")
    for dtype, measured, here in gpu_cdna3_rows.typical(asked.program, asked.set):
        errors.setdefault("taf", []).append(measured / here - 1)
        print(f"{'mi325x':>8} {'taf':>6} {'ten shapes':>21} {dtype:>11} {measured:9.1f} {here:9.1f}   {100 * (measured / here - 1):+.1f} %")
    for name, found in errors.items():
        print(f"{name}: {len(found)} rows, mean absolute error {100 * sum(map(abs, found)) / len(found):.1f} %, "
              f"bias {100 * sum(found) / len(found):+.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
