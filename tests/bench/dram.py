#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how long `systole dram` takes a request, as whole processes: no test, gates nothing.

    tests/bench/dram.py [build/systole]

CPU nanoseconds a request: the least of several runs of two million requests less that of a run of a few, so that
starting the program does not count. Requests are made by pattern, or read from a trace that the pattern wrote (plain
and gzipped), on one pseudo-channel and on a stack of sixteen. Beside it the speed of three other simulators, measured
with requests already in memory on another, otherwise idle machine.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

RUNS, MANY, FEW = 3, 2_000_000, 1_000
# CPU ns a request: DRAMsim3 2981759, Ramulator 2.1 c5b1c3a, DRAMSys 5.5 2107966; medians of runs of 131,072 requests.
PEERS = {("1pc", "stream"): (2417, 4150, 2689), ("1pc", "random"): (6828, 11736, 8328),
         ("stack", "stream"): (3491, 4478, 4060), ("stack", "random"): (5800, 10418, 13271)}


def cpu_seconds(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime


def nanoseconds(command_of):
    many = min(cpu_seconds(command_of(MANY)) for _ in range(RUNS))
    few = min(cpu_seconds(command_of(FEW)) for _ in range(RUNS))
    return (many - few) / (MANY - FEW) * 1e9


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/systole"
    print(f"{'ns a request':24}{'pattern':>9}{'trace':>9}{'gzipped':>9}   DRAMsim3 Ramulator DRAMSys")
    with tempfile.TemporaryDirectory() as directory:
        for (scope, pattern), peers in PEERS.items():
            base = [program, "dram", f"hbm2_golden_{scope}"]
            made = [*base, "--pattern", pattern, "--requests"]

            def read(suffix):
                def command(requests):
                    trace = pathlib.Path(directory) / f"{scope}.{pattern}.{requests}{suffix}"
                    if not trace.exists():
                        subprocess.run([*made, str(requests), "--save-trace", str(trace)], check=True,
                                       stdout=subprocess.DEVNULL)
                    return [*base, str(trace)]
                return nanoseconds(command)

            figures = (nanoseconds(lambda requests: [*made, str(requests)]), read(""), read(".gz"))
            print(f"{scope + ' ' + pattern:24}" + "".join(f"{figure:9.0f}" for figure in figures)
                  + "   " + "".join(f"{peer:<9,}" for peer in peers), flush=True)


if __name__ == "__main__":
    main()
