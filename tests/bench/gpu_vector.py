#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measured products, softmax, layer norm and GELU of an A100 (or MI210) beside what the program answers.

    tests/bench/gpu_vector.py PROGRAM [--chip mi210] [--op softmax] [--dtype fp32] [--set PATH=VALUE ...] [--list]

PROGRAM is for example build/systole. Answers have LLMCompass's constant for the host's launch added (tests/golden/gpu_vector);
"of the rest" is the error of what is left when it is taken from the measured time instead, where that is more than 10 us.
"""

import argparse
import pathlib
import resource
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import gpu_vector_rows as measured  # noqa: E402

LEAST_REST_US = 10


def percent(errors):
    return f"{100 * sum(map(abs, errors)) / len(errors):8.1f} {100 * sum(errors) / len(errors):8.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--chip", choices=measured.HOST_OF_CHIP, default="a100")
    parser.add_argument("--op", action="append", choices=measured.OPS)
    parser.add_argument("--dtype", default="fp16", help="an MI210 may have been timed in fp32 (tests/golden/gpu_vector); without it fp16")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    asked = parser.parse_args()
    print(f"{'':>10} {'rows':>5} {'error %':>8} {'bias %':>8}   of the rest: {'rows':>5} {'error %':>8} {'bias %':>8} {'CPU s':>6}")
    for op in asked.op or measured.OPS:
        host = measured.HOST_OF_CHIP[asked.chip][op]
        rows = measured.read(op, asked.chip)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        answers = measured.ask(asked.program, op, rows, asked.set, asked.chip, asked.dtype)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        errors = measured.errors(op, rows, answers, asked.chip)
        rest = [answer / (time - host) - 1 for (_, time), answer in zip(rows, answers)
                if time - host > LEAST_REST_US]
        print(f"{op:>10} {len(rows):5d} {percent(errors)}                {len(rest):5d} {percent(rest)} {seconds:6.1f}")
        if asked.list:
            for (shape, time), answer, error in zip(rows, answers, errors):
                print(f"{' x '.join(map(str, shape.values())):>16} {time - host:9.2f} us and the host's, "
                      f"answered {answer:9.2f} us {100 * error:7.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
