#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a sweep costs beyond its simulations, and how fast ten thousand points are.

    tests/bench/sweep.py PROGRAM [--points 10000] [--jobs 2]

PROGRAM is for example build/systole. The network has ten layers, the machines are variants of tpu_v4. Prints: the time and the memory
of a plan of 102,400 points; the time of --points points; with one job, the time of a point beyond what its simulation took (which its
result holds: building the machine and running the network, as they would be in one process); and of resuming what is finished.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

NETWORK = """\
trace: ten_layers
params: {batch: 1, dtype: bf16}
inputs:
  image: {shape: [batch, 56, 56, 3], dtype: dtype}
layers:
  - {name: conv0, op: conv2d, in: image, filters: 64, kernel: 3, pad: 1, stride: 2, activation: relu}
  - {name: conv1, op: conv2d, filters: 64, kernel: 3, pad: 1, activation: relu}
  - {name: conv2, op: conv2d, filters: 128, kernel: 3, pad: 1, stride: 2, activation: relu}
  - {name: conv3, op: conv2d, filters: 128, kernel: 3, pad: 1, activation: relu}
  - {name: conv4, op: conv2d, filters: 256, kernel: 3, pad: 1, stride: 2, activation: relu}
  - {name: conv5, op: conv2d, filters: 256, kernel: 3, pad: 1, activation: relu}
  - {name: conv6, op: conv2d, filters: 512, kernel: 3, pad: 1, stride: 2, activation: relu}
  - {name: conv7, op: conv2d, filters: 512, kernel: 3, pad: 1, activation: relu}
  - {name: pool, op: pool, kind: average, window: 4}
  - {name: classes, op: matmul, n: 1000}
outputs: [classes]
"""
EXPERIMENT = """\
device: tpu_v4
trace: ./network.yaml
axes:
  mxu.rows: [32, 64, 128, 256]
  mxu.cols: [32, 64, 128, 256]
  mxu.count: [1, 2, 4, 8]
  core.clock: {{linear: [700 MHz, 1500 MHz, {clocks}]}}
  workload.batch: {{log2: [1, 8]}}
  scratchpad.capacity: [16 MiB, 20 MiB, 24 MiB, 32 MiB, 48 MiB]
objectives: [time_ns, {{min: mxu.rows * mxu.cols * mxu.count}}]
"""
OTHER_AXES = 4 * 4 * 4 * 4 * 5


def timed(program, *words):
    """Seconds by the wall, seconds of processors, and the most KiB that one process had."""
    begin = time.monotonic()
    process = subprocess.Popen([program, "sweep", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, words
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    program = str(pathlib.Path(asked.program).resolve())
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        pathlib.Path("network.yaml").write_text(NETWORK)

        def experiment(file, clocks):
            pathlib.Path(file).write_text(EXPERIMENT.format(clocks=clocks))

        experiment("plan.yaml", 80)
        wall, _, memory = timed(program, "plan.yaml", "-o", "plan", "--plan")
        print(f"plan of {80 * OTHER_AXES:,} points: {wall:.2f} s, {memory / 1024:.0f} MiB")

        # Clocks come in between, so that a short sweep has every kind of machine.
        clocks = max(2, round(asked.points / OTHER_AXES))
        points = clocks * OTHER_AXES
        experiment("many.yaml", clocks)
        wall, cpu, memory = timed(program, "many.yaml", "-o", "many", "-j", str(asked.jobs))
        print(f"{points:,} points, {asked.jobs} at once: {wall:.1f} s, {1000 * cpu / points:.1f} CPU ms a point")
        wall, _, _ = timed(program, "resume", "many")
        print(f"resuming them, finished: {wall:.2f} s")

        experiment("few.yaml", 2)
        text = pathlib.Path("few.yaml").read_text().replace("32 MiB, 48 MiB", "32 MiB").replace("[32, 64, 128, 256]", "[64, 128]")
        pathlib.Path("few.yaml").write_text(text)
        timed(program, "few.yaml", "-o", "few", "--plan")
        wall, _, _ = timed(program, "resume", "few", "-j", "1")
        own = [json.loads(file.read_text())["wall_s"] for file in pathlib.Path("few/points").rglob("*.json")]
        print(f"{len(own)} points, one at once: {1000 * wall / len(own):.2f} ms a point, of which simulation "
              f"{1000 * sum(own) / len(own):.2f}; beyond it {1000 * (wall - sum(own)) / len(own):.2f} ms")
        os.chdir("/")


if __name__ == "__main__":
    main()
