#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DeepBench's measured products and convolutions of a V100 beside what the program answers.

    tests/bench/gpu_deepbench.py PROGRAM [--op gemm] [--part calibration] [--set PATH=VALUE ...] [--list]

PROGRAM is for example build/systole. Errors by format and algorithm, mean absolute and with sign (tests/golden/gpu_deepbench).
"""

import argparse
import pathlib
import resource
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import gpu_deepbench_rows as measured  # noqa: E402


def summary(name, errors):
    mean, bias = 100 * sum(map(abs, errors)) / len(errors), 100 * sum(errors) / len(errors)
    return f"{name:>36} {len(errors):5d} {mean:8.1f} {bias:8.1f} {100 * max(errors, key=abs):8.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--op", action="append", choices=measured.OPS)
    parser.add_argument("--part", choices=("public", "calibration"), default="public")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    print(f"{'':>36} {'rows':>5} {'error %':>8} {'bias %':>8} {'worst %':>8}")
    for op in asked.op or measured.OPS:
        rows = measured.read(op, asked.part)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        answers = measured.ask(asked.program, op, rows, asked.set)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        errors = [answer / time - 1 for (_, time), answer in zip(rows, answers)]
        groups = [measured.group(op, row) for row, _ in rows]
        for name in sorted(set(groups)):
            print(summary(f"{op} {name}", [e for e, g in zip(errors, groups) if g == name]))
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(summary(f"{op}, all", errors), f" {seconds:.1f} CPU s")
        if asked.list:
            for (row, time), answer, error in zip(rows, answers, errors):
                print(f"{' '.join(row.values()):>64} {time:9.1f} us, answered {answer:9.1f} us {100 * error:7.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
