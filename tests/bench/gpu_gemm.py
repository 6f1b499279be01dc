#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measured products of GPUs beside what the program answers: errors by regime, and the time it took.

    tests/bench/gpu_gemm.py PROGRAM [--chip a100] [--part public] [--rows N] [--set PATH=VALUE ...] [--list] [--unbeaten]

PROGRAM is for example build/systole. --rows takes the first N of a fixed random order; --list prints every row; --unbeaten leaves rows
out that take longer than a larger product does, by more than noise (other kernels of the library would serve them better).
"""

import argparse
import pathlib
import random
import resource
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import gpu_gemm_rows  # noqa: E402


def show(name, found):
    rows, mean, bias, weighted = gpu_gemm_rows.summary(found)
    print(f"{name:>16} {rows:6d} {100 * mean:8.1f} {100 * bias:8.1f} {100 * weighted:14.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--chip", action="append", choices=gpu_gemm_rows.CHIPS)
    parser.add_argument("--part", default="public", choices=["calibration", "public", "apart"])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--unbeaten", action="store_true")
    asked = parser.parse_args()
    for chip in asked.chip or gpu_gemm_rows.CHIPS:
        rows = gpu_gemm_rows.read(chip, asked.part)
        if asked.unbeaten:
            rows = gpu_gemm_rows.unbeaten(chip, rows)
        random.Random(1).shuffle(rows)
        rows = rows[:asked.rows]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = gpu_gemm_rows.errors(rows, gpu_gemm_rows.ask(asked.program, chip, rows, asked.set))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{chip}, {asked.part}: {seconds:.1f} CPU s")
        print(f"{'measured, us':>16} {'rows':>6} {'error %':>8} {'bias %':>8} {'time-weighted %':>14}")
        for (low, high), part in gpu_gemm_rows.by_regime(found):
            show(f"{low} to {high}", part)
        show("all", found)
        if asked.list:
            for row, (time, error) in sorted(zip(rows, found), key=lambda both: both[1][1]):
                print(f"{row[0]:6d} {row[1]:6d} {row[2]:6d} {time:10.2f} us {100 * error:7.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
