#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how long a waveform of every register of a 16 x 16 array over 5,000 cycles takes (limit: 2 s), as a whole
process, and how large it is: no test, gates nothing.

    tests/bench/wave.py [build/systole]
"""

import os
import pathlib
import sys
import tempfile

from scaling import RUNS, measure


def main():
    systole = sys.argv[1] if len(sys.argv) > 1 else "build/systole"
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / "wave.vcd"
        command = [systole, "wave", "teaching_4x4", "matmul", "m=1024", "n=64", "k=512", "dtype=int8", "--set",
                   "mxu.rows=16", "--set", "mxu.cols=16", "--cycles", "0:5000", "-o", str(file)]
        with open(os.devnull, "w") as quiet:
            os.dup2(quiet.fileno(), 2)
        seconds = min(measure(command)[0] for _ in range(RUNS))
        signals = sum(line.startswith("$var") for line in file.read_text().splitlines())
        print(f"{signals} signals of a 16 x 16 array over 5,000 cycles: {seconds:.2f} CPU s (limit 2), "
              f"{file.stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
