#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how long the simulator takes, as whole processes: no test, gates nothing.

    tests/bench/scaling.py [build/systole]

- ResNet-50 and BERT-base on tpu_v4: seconds and peak memory (limits: 1 s and 200 MB for ResNet-50).
- Seconds per (tile + DRAM row touched) at 4096^3 over 2048^3 (limit 1.5): cost grows with tiles and rows.
- Llama 3 with reuse of its layers: a decode step of 70B (batch 16, 8,192 tokens behind it) on a tpu_v7 with enough
  memory, and a prefill of 2,048 tokens of 8B (limits: 5 s and 300 MB each).
- Seconds with the array clock doubled over seconds without (limit 1.10): cost does not grow with cycles.
Every figure is the least of several runs in turn, so that a busy machine disturbs the ratios little.
"""

import json
import os
import subprocess
import sys
import tempfile

RUNS = 5
PREFILL = ("llama3_8b", "--set", "workload.q_len=2048", "--set", "workload.kv_len=2048")
DECODE = ("llama3_70b", "--set", "workload.batch=16", "--set", "memory.rows=65536")
LLAMA = (("llama3_70b decode on tpu_v7", ("tpu_v7", *DECODE)),
         ("llama3_8b prefill on tpu_v5e", ("tpu_v5e", *PREFILL)), ("llama3_8b prefill on tpu_v7", ("tpu_v7", *PREFILL)))


def measure(command):
    """User + system seconds and peak MB of one run, and what it printed."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"{' '.join(command)} failed")
        output.seek(0)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output.read()


def compare(commands):
    """The least seconds and the peak memory of each command, run in turn, and the last output."""
    best = [(float("inf"), 0.0, b"")] * len(commands)
    for _ in range(RUNS):
        for i, command in enumerate(commands):
            seconds, memory, output = measure(command)
            best[i] = (min(best[i][0], seconds), max(best[i][1], memory), output)
    return best


def tiles_and_rows(output):
    stats = json.loads(output)["devices"][0]["stats"]
    total = {"passes": 0, "activates": 0}
    for stat in stats:
        if stat["name"] in total:
            total[stat["name"]] += stat["value"]
    return total["passes"] + total["activates"]


def main():
    systole = sys.argv[1] if len(sys.argv) > 1 else "build/systole"
    def run(trace): return [systole, "run", "tpu_v4", trace, "--format", "json"]
    def cube(n, *more):
        return [systole, "op", "tpu_v4", "matmul", f"m={n}", f"n={n}", f"k={n}", "dtype=bf16", "--format", "json", "--set",
                "placement.trials=1", *more]

    print(f"{'case':<34}{'CPU s':>9}{'peak MB':>9}")
    for name in ("resnet50", "bert_base"):
        seconds, memory, _ = compare([run(name)])[0]
        print(f"{name + ' on tpu_v4':<34}{seconds:>9.3f}{memory:>9.1f}")
    for name, arguments in LLAMA:
        seconds, memory, _ = compare([[systole, "run", *arguments, "--format", "json"]])[0]
        print(f"{name:<34}{seconds:>9.3f}{memory:>9.1f}")
    small, large, fast = compare([cube(2048), cube(4096), cube(4096, "--set", "core.clock=2100 MHz")])
    for name, result in (("matmul 2048^3", small), ("matmul 4096^3", large), ("4096^3, clock doubled", fast)):
        print(f"{name + ' on tpu_v4':<34}{result[0]:>9.3f}{result[1]:>9.1f}")
    per = [result[0] / tiles_and_rows(result[2]) for result in (small, large)]
    print(f"\nns per (tile + DRAM row): 2048^3 {per[0] * 1e9:.0f}, 4096^3 {per[1] * 1e9:.0f}; "
          f"ratio {per[1] / per[0]:.2f} (limit 1.5)")
    print(f"clock doubled / as it is: ratio {fast[0] / large[0]:.2f} (limit 0.90 to 1.10)")


if __name__ == "__main__":
    main()
