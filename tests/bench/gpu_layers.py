#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measured layers of language models (vLLM's, tests/golden/gpu_layers) beside what the program answers.

    tests/bench/gpu_layers.py PROGRAM [--chip a100] [--op emb] [--rows N] [--set PATH=VALUE ...] [--list]

PROGRAM is for example build/systole.
"""

import argparse
import pathlib
import resource
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import gpu_layer_rows as measured  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--chip", action="append", choices=measured.CHIPS)
    parser.add_argument("--op", action="append", choices=measured.OPS)
    parser.add_argument("--rows", type=int, help="the first N of each operator")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    print(f"{'chip':>6} {'operator':>26} {'rows':>5} {'error %':>8} {'bias %':>8} {'CPU s':>6}")
    for chip in asked.chip or measured.CHIPS:
        all_rows = measured.read(chip)
        for op in asked.op or measured.OPS:
            rows = [row for row in all_rows if row[0] == op][:asked.rows]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            answers = measured.ask(asked.program, chip, rows, asked.set)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            errors = [answer / row[4] - 1 for row, answer in zip(rows, answers)]
            print(f"{chip:>6} {op:>26} {len(rows):5d} {100 * sum(map(abs, errors)) / len(errors):8.1f} "
                  f"{100 * sum(errors) / len(errors):8.1f} {seconds:6.1f}", flush=True)
            if asked.list:
                for row, answer, error in zip(rows, answers, errors):
                    print(f"{row[1]:>40} {row[2]:5d} tokens, {row[3]} chips: {row[4]:9.1f} us, answered {answer:9.1f} us {100 * error:7.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
