#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All of SCALE-Sim's golden rows through `op scalesim --csv`: every answer compared, and the time it took.

    tests/bench/scalesim.py PROGRAM [--both]

PROGRAM is for example build/systole. Layers are asked as convolutions, runs of the tool as products of matrices; with
--both everything is asked both ways. Exit code 1 if an answer differs.
"""

import pathlib
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import scalesim_rows  # noqa: E402


def ask(program, array, dataflow, rows, kind):
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write(scalesim_rows.questions(rows, kind))
        file.flush()
        words = [program, "op", "scalesim", "--csv", file.name, *scalesim_rows.settings(array, dataflow)]
        done = subprocess.run(words, capture_output=True, text=True)
    return scalesim_rows.differences(rows, done.stdout) + done.stderr.splitlines()


def run(program, name, kind):
    wrong, asked = [], 0
    begin, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    for (array, dataflow), rows in scalesim_rows.by_machine(scalesim_rows.read(name)).items():
        wrong += ask(program, array, dataflow, rows, kind)
        asked += len(rows)
    seconds, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    print(f"{name:14} as {kind}: {asked} rows, {len(wrong)} differ, {seconds:.1f} s ({processor:.1f} s of one core)")
    for line in wrong[:5]:
        print(" ", line)
    return len(wrong)


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--both"]):
        sys.exit(__doc__)
    tables = [("calc_64kB", "conv2d"), ("tool_runs_raw", "matmul")]
    if sys.argv[2:]:
        tables += [("calc_64kB", "matmul"), ("tool_runs_raw", "conv2d")]
    return 1 if sum(run(sys.argv[1], name, kind) for name, kind in tables) else 0


if __name__ == "__main__":
    sys.exit(main())
