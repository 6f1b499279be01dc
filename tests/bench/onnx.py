#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time and memory of an import: 10,000 nodes (at most 2 s and 300 MB), and a model with 100 MB of weights inside.

    tests/bench/onnx.py [build/systole]      needs python3-onnx
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

HOME = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HOME / "build" / "systole").resolve()
NETWORKS = HOME / "tests" / "support" / "onnx_networks.py"


def measure(name, size):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["/usr/bin/python3", str(NETWORKS), name, f"{folder}/model.onnx", size], check=True)
        start = time.perf_counter()
        process = subprocess.Popen([str(PROGRAM), "import", f"{folder}/model.onnx", "-o", f"{folder}/out.yaml"],
                                   stderr=subprocess.PIPE, text=True)
        told = process.stderr.read().splitlines()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    assert status == 0, told
    print(f"{name} {size}: {seconds:.2f} s, {usage.ru_maxrss / 1024:.0f} MiB at most; {told[-2].split('note: ')[-1]}")


if __name__ == "__main__":
    measure("chain", "10000")
    measure("heavy", "100")
