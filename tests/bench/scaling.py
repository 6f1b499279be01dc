#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the time of a run grows with its work, as whole processes: no test, gates nothing.

    tests/bench/scaling.py [--program build/systole] [--only WORD] [--update]

- Operators at 1, 4, 16 and 64 times the work on both kinds of device: processor seconds, and simulated cycles. Wanted
  where the pattern of a layer repeats: 64 times the work in at most 4 times the time.
- Long products on systolic devices, with all steps simulated and with those that it takes to know the rest.
- Seconds per (tile + DRAM row touched) at 4096^3 over 2048^3 (limit 1.5): cost grows with tiles and rows.
- Seconds with the array clock at a quarter, and so four times the memory's clocks, over seconds without (limit 1.10): cost does not
  grow with cycles. With the clock doubled the product is memory-bound and cut otherwise, so that this is another run, not more cycles.
--update writes the table of docs/performance.md. Every figure is the least of several runs in turn, so that a busy machine
disturbs the ratios little.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import measure as processes

RUNS = 3
WORK = (1, 4, 16, 64)
PAGE = processes.HOME / "docs/performance.md"
WANTED = 4


def product(m=1, n=1, k=1):
    return ("matmul", f"m={1024 * m}", f"n={1024 * n}", f"k={1024 * k}", "dtype=bf16")


def root(work):
    return round(work ** 0.5)


CURVES = {
    "product of 1024 x 1024 x 1024, M grows": lambda work: product(m=work),
    "… N grows": lambda work: product(n=work),
    "… K grows": lambda work: product(k=work),
    "… M, N and K grow by turns": lambda work: product(*{1: (1, 1, 1), 4: (2, 2, 1), 16: (4, 2, 2), 64: (4, 4, 4)}[work]),
    "convolution of 56 x 56 x 64, 3 x 3, batch grows": lambda work: (
        "conv2d", f"n={work}", "h=56", "w=56", "c=64", "k=64", "r=3", "s=3", "pad=1", "dtype=bf16"),
    "attention of 32 heads, a prompt of 512 grows": lambda work: (
        "attention", f"q_len={512 * root(work)}", f"kv_len={512 * root(work)}", "heads=32", "head_dim=128", "dtype=bf16"),
    "… causal, a prompt of 512 grows": lambda work: (
        "attention", f"q_len={512 * root(work)}", f"kv_len={512 * root(work)}", "heads=32", "head_dim=128", "causal=true", "dtype=bf16"),
    "… one token, a cache of 2,048 grows": lambda work: (
        "attention", "q_len=1", f"kv_len={2048 * work}", "heads=32", "head_dim=128", "cache=true", "dtype=bf16"),
    "sum of two tensors of 1 Mi elements, these grow": lambda work: ("elementwise", "kind=add", f"elements={work << 20}", "dtype=bf16"),
}


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


def total_of(output, key):
    return json.loads(output)["devices"][0]["total"][key]


def mapping_of(output):
    return json.loads(output)["devices"][0]["layers"][0]["mapping"]


def tiles_and_rows(output):
    stats = json.loads(output)["devices"][0]["stats"]
    return sum(stat["value"] for stat in stats if stat["name"] in ("passes", "activates"))


def curve(program, device, name, words_of):
    """A line of the table: seconds at each work, cycles and seconds of the last over the first."""
    found = compare([[program, "op", device, *words_of(work), "--format", "json", "--set", "placement.trials=1"]
                     if device.startswith("tpu") else [program, "op", device, *words_of(work), "--format", "json"] for work in WORK])
    cycles = total_of(found[-1][2], "cycles") / total_of(found[0][2], "cycles")
    times = found[-1][0] / found[0][0]
    return (f"| {name} | {device} | " + " | ".join(f"{seconds:.2f}" for seconds, _, _ in found)
            + f" | {found[-1][1]:.0f} | {cycles:.1f} | {times:.1f} | {'' if times <= WANTED else '**missed**'} |")


def table(program, only):
    lines = ["| operator | device | work 1 | 4 | 16 | 64 | peak MB | cycles, 64 over 1 | CPU s, 64 over 1 | |",
             "|---|---|---:|---:|---:|---:|---:|---:|---:|---|"]
    print("\n".join(lines))
    for name, words_of in CURVES.items():
        for device in ("tpu_v4", "h100"):
            if only in f"{name} {device}":
                lines.append(curve(program, device, name, words_of))
                print(lines[-1], flush=True)
    return lines


LONG = (("tpu_v4", 65536, 1024, 1024), ("tpu_v4", 1048576, 1024, 1024), ("tpu_v4", 65536, 4096, 4096), ("tpu_v4", 32768, 8192, 8192),
        ("tpu_v4", 16384, 16384, 16384), ("tpu_v2", 207360, 2048, 512))


def steps(program, only):
    """Lines of the table of long products."""
    lines = ["| product | device | million cycles | all steps, CPU s | some | over each other | off by |", "|---|---|---:|---:|---:|---:|---:|"]
    print("\n".join(lines))
    for device, m, n, k in LONG:
        name = f"{m} x {n} x {k}"
        if only not in f"{name} {device}":
            continue
        asked = [program, "op", device, "matmul", f"m={m}", f"n={n}", f"k={k}", "dtype=bf16", "--format", "json", "--set", "placement.trials=1"]
        whole, some = compare([[*asked, "--set", f"run.reuse={reuse}"] for reuse in ("off", "on")])
        cycles, known = total_of(whole[2], "cycles"), total_of(some[2], "cycles")
        lines.append(f"| {name} | {device} | {cycles / 1e6:.1f} | {whole[0]:.2f} | {some[0]:.2f} | {whole[0] / some[0]:.1f} "
                     f"| {100 * (known / cycles - 1):+.3f} % |")
        print(lines[-1], flush=True)
    return lines


def ratios(program):
    def cube(n, *more):
        return [program, "op", "tpu_v4", "matmul", f"m={n}", f"n={n}", f"k={n}", "dtype=bf16", "--format", "json", "--set",
                "placement.trials=1", *more]

    small, large, slow, fast = compare([cube(2048), cube(4096), cube(4096, "--set", "core.clock=262.5 MHz"),
                                        cube(4096, "--set", "core.clock=2100 MHz")])
    per = [result[0] / tiles_and_rows(result[2]) for result in (small, large)]
    return [f"- tpu_v4, CPU ns per (tile + DRAM row): 2048^3 {per[0] * 1e9:.0f}, 4096^3 {per[1] * 1e9:.0f}; ratio {per[1] / per[0]:.2f} (limit 1.5)",
            f"- tpu_v4, 4096^3 with its clock at a quarter over without: {slow[0] / large[0]:.2f} (limit 1.10), for "
            f"{total_of(slow[2], 'time_ns') / total_of(large[2], 'time_ns'):.1f} times the memory's clocks",
            f"- with its clock doubled, and so cut otherwise and memory-bound: {fast[0] / large[0]:.2f}, {mapping_of(fast[2])}, not "
            f"{mapping_of(large[2])}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/systole")
    parser.add_argument("--only", default="", metavar="WORD", help="curves whose name or device has it")
    parser.add_argument("--update", action="store_true")
    asked = parser.parse_args()
    lines = table(asked.program, asked.only)
    lines += ["", *ratios(asked.program)]
    print("\n".join(lines[-3:]))
    long = steps(asked.program, asked.only)
    if asked.update:
        processes.replace_block(PAGE, "curve", lines)
        processes.replace_block(PAGE, "steps", long)


if __name__ == "__main__":
    main()
