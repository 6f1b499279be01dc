#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measured collectives (tests/golden/gpu_collectives) beside what the program answers: by the library's own model, and with the
bandwidths that were measured at a few sizes.

    tests/bench/gpu_collectives.py PROGRAM [--name a100] [--part public] [--set PATH=VALUE ...] [--list]

PROGRAM is for example build/systole.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import gpu_collective_rows as measured  # noqa: E402


def show(name, what, rows, by_library, answers):
    if not rows:
        return
    cells = [100 * value for found in (by_library, answers) for value in measured.mean_error(rows, found)]
    print(f"{name:>16} {what:>28} {len(rows):4d} " + " ".join(f"{cell:7.1f}" for cell in cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--name", action="append", choices=measured.SETS)
    parser.add_argument("--part", default="public", choices=("public", "calibration"))
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    print(f"{'':>16} {'':>28} rows   by the library      with table\n{'':>51} error %  bias % error %  bias %")
    for name in asked.name or measured.SETS:
        try:
            rows = measured.read(name, asked.part)
        except FileNotFoundError:
            continue
        by_library = measured.ask(asked.program, name, rows, [*measured.BY_LIBRARY, *asked.set])
        answers = measured.ask(asked.program, name, rows, asked.set)

        def part(what, keep):
            chosen = [i for i, row in enumerate(rows) if keep(row)]
            show(name, what, [rows[i] for i in chosen], [by_library[i] for i in chosen], [answers[i] for i in chosen])

        for large in (False, True):
            size = ">= 1 MiB" if large else "< 1 MiB"
            of_size = lambda row: (row[3] >= measured.LARGE) == large  # noqa: E731
            part(f"all, {size}", of_size)
            for kind in sorted({row[0] for row in rows}):
                part(f"{kind}, {size}", lambda row: of_size(row) and row[0] == kind)
            for chips in sorted({row[2] for row in rows}):
                part(f"{chips} chips, {size}", lambda row: of_size(row) and row[2] == chips)
        if asked.list:
            for row, answer in zip(rows, answers):
                print(f"{row[0]:>16} {row[1]:>5} {row[2]} chips {row[3]:>11}: {row[4]:10.1f} us, answered {answer:10.1f} {100 * (answer / row[4] - 1):7.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
