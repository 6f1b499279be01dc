#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the PE grid against systolic arrays in Verilog: `rtl_cases` makes the cases and writes what the grid
did, Icarus Verilog runs the same cases on the arrays of this folder, and both must have seen the same events,
each in the same cycle, and none besides.

Exits 0 if they agree, 1 if not, 77 if Icarus Verilog is missing.
"""

import argparse
import collections
import pathlib
import shutil
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
SHOWN = 12  # differences of one case


def output(command):
    """What a program prints; its complaint, if it fails or has one, ends the comparison."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode != 0 or done.stderr:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}exit code {done.returncode}")
    return done.stdout


def run_verilog(name, bench, parameters, directory):
    program = directory / f"{name}.vvp"
    overrides = [f"-P{bench}.{parameter}" for parameter in parameters]
    sources = sorted(FOLDER.glob("*.v"))
    output(["iverilog", "-g2005", "-Wall", f"-I{FOLDER}", "-s", bench, *overrides, "-o", program, *sources])
    return output(["vvp", "-n", program, f"+case={directory / name}.case"])


def differences(grid, verilog):
    """Lines that only one of the two has, the earliest first."""
    grid, verilog = collections.Counter(grid.splitlines()), collections.Counter(verilog.splitlines())
    found = [(line, "the grid") for line in (grid - verilog).elements()]
    found += [(line, "Verilog") for line in (verilog - grid).elements()]
    found.sort(key=lambda pair: (pair[0].startswith("accumulator"), int(pair[0].split()[1]), pair))
    return [f"  only {who} has: {line}" for line, who in found]


def too_early(grid, verilog):
    """Nothing if the last of the grid's starts is Verilog's too, or if Verilog then met a young accumulator."""
    grid, verilog = grid.splitlines(), verilog.splitlines()
    starts = [line for line in verilog if line.startswith("start ")]
    if starts[:len(grid)] == grid or any(line.startswith("young ") for line in verilog):
        return []
    return [f"  the grid could have started a cycle earlier than: {grid[-1]}"]


def compare(line, directory):
    """One case, as announced by rtl_cases; the number of lines that agree, or None."""
    kind, name, bench, *parameters = line.split()
    expected = (directory / f"{name}.expected").read_text()
    judge = {"same": differences, "early": too_early}[kind]
    found = judge(expected, run_verilog(name, bench, parameters, directory))
    if not found:
        return len(expected.splitlines())
    print(f"{name}: {len(found)} differences ({' '.join(parameters)})", *found[:SHOWN], sep="\n")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("rtl_cases", help="the program that makes the cases")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIRECTORY", help="leave all files there")
    arguments = parser.parse_args()
    if shutil.which("iverilog") is None:
        print("skipped: Icarus Verilog is not installed (Debian package iverilog)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as temporary:
        directory = arguments.keep or pathlib.Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        cases = output([arguments.rtl_cases, directory]).splitlines()
        agreed = [compare(line, directory) for line in cases]
    if not cases or None in agreed:
        print(f"{agreed.count(None)} of {len(cases)} cases differ")
        return 1
    print(f"{len(cases)} cases agree in {sum(agreed)} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
