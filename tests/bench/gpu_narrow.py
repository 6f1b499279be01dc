#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Products of fp16, fp8 and fp4, with and without scales of blocks, as measured (tests/golden/gpu_narrow) beside what the program answers.

    tests/bench/gpu_narrow.py PROGRAM [--chip b200] [--set PATH=VALUE ...]

PROGRAM is for example build/systole.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import gpu_narrow_rows  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--chip", action="append", choices=gpu_narrow_rows.CHIPS)
    parser.add_argument("--set", action="append", default=[])
    asked = parser.parse_args()
    errors = {}
    print(f"{'chip':>5} {'library':>8} {'format':>6} {'m':>5} {'n':>5} {'k':>6} {'measured':>9} {'here':>9}   TFLOP/s, time")
    for chip in asked.chip or gpu_narrow_rows.CHIPS:
        for row, measured, here in gpu_narrow_rows.products(asked.program, chip, asked.set):
            error = measured / here - 1
            errors.setdefault((chip, row["library"], row["format"]), []).append(error)
            print(f"{chip:>5} {row['library']:>8} {row['format']:>6} {row['m']:>5} {row['n']:>5} {row['k']:>6} "
                  f"{measured:9.0f} {here:9.0f}   {100 * error:+.1f} %")
    for (chip, library, name), found in errors.items():
        print(f"{chip}, {library}, {name}: {len(found)} rows, mean absolute error {100 * sum(map(abs, found)) / len(found):.1f} %, "
              f"bias {100 * sum(found) / len(found):+.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
