#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All of SCALE-Sim's golden rows through `op scalesim --csv`: every answer compared, and the time it took.

    tests/bench/scalesim.py PROGRAM      e.g. build/systole; exit code 1 if an answer differs
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
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    wrong = sum(run(sys.argv[1], name, kind) for name in ("calc_64kB", "tool_runs_raw") for kind in ("conv2d", "matmul"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
