#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measured attention of GPUs beside what the program answers: errors by regime, and the time it took.

    tests/bench/gpu_attention.py PROGRAM [--chip a100] [--phase prefill] [--rows N] [--set PATH=VALUE ...] [--list]

PROGRAM is for example build/systole. --rows takes the first N of a fixed random order; --list prints every row.
"""

import argparse
import pathlib
import random
import resource
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import gpu_attention_rows  # noqa: E402

TIMES = [(0, 20), (20, 100), (100, 1000), (1000, 1e9)]
LENGTHS = [(0, 64), (64, 256), (256, 1024), (1024, 1 << 40)]


def show(name, errors):
    mean, bias = gpu_attention_rows.summary(errors)
    print(f"{name:>24} {len(errors):6d} {100 * mean:8.1f} {100 * bias:8.1f}")


def within(found, place, bounds):
    return [error for row, time, error in found if bounds[0] < row[place] <= bounds[1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--chip", action="append", choices=gpu_attention_rows.CHIPS)
    parser.add_argument("--phase", action="append", choices=gpu_attention_rows.PHASES)
    parser.add_argument("--part", default="public", choices=["public", "apart"])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    for chip in asked.chip or gpu_attention_rows.CHIPS:
        for phase in asked.phase or gpu_attention_rows.PHASES:
            rows = gpu_attention_rows.read(chip, phase, asked.part)
            random.Random(1).shuffle(rows)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            found = []
            for row in rows[:asked.rows]:
                time, layers = gpu_attention_rows.ask(asked.program, chip, row, asked.set)
                found.append((row, layers, time / row[6] - 1))
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(f"{chip}, {phase}, {asked.part}: {seconds:.1f} CPU s")
            print(f"{'':>24} {'rows':>6} {'error %':>8} {'bias %':>8}")
            for low, high in LENGTHS:
                show(f"keys {low + 1} to {high}", within(found, 2, (low, high)))
            for low, high in TIMES:
                show(f"{low} to {high:g} us", within(found, 6, (low, high)))
            show("all", [error for row, time, error in found])
            if asked.list:
                for row, layers, error in sorted(found, key=lambda one: one[2]):
                    print("b{} q{} kv{} h{}/{} d{}: {:.1f} us".format(*row),
                          " + ".join(f"{layer:.1f}" for layer in layers), f"{100 * error:.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
