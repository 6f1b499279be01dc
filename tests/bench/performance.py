#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast the program is: one table of fixed cases, each beside its limit and the last release's figure. Gates nothing.

    tests/bench/performance.py [--program build/systole] [--benches build/test/tests] [--runs 5] [--only WORD]
    tests/bench/performance.py --check      exit code 1 where a limit is missed
    tests/bench/performance.py --update     writes the tables of docs/performance.md
    tests/bench/performance.py --release 1.0      notes the figures as that release's, in tests/bench/performance.csv

Seconds are medians of several runs of whole processes: by the wall, and of processors (user and system), which other
processes on the machine disturb less; limits are held against the latter, as a run has one thread. Cycles, layers and
bursts a second are what the result has of them, turns that were not simulated included, by processor seconds. Allocations
are calls of malloc, calloc and realloc. Memories: nanoseconds of processors a request, less what starting takes.
--benches: where bench_dram_speed and the library that counts are built (`cmake --build ... --target bench_performance`);
without them the table has no such rows and columns.
"""

import argparse
import csv
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import measure
import sweep

RECORD = measure.HOME / "tests/bench/performance.csv"
PAGE = measure.HOME / "docs/performance.md"
DECODE = ("--context", "8192")
EXPERIMENT = """\
device: tpu_v4
trace: ./network.yaml
axes:
  mxu.rows: [32, 48, 64, 96, 128]
  mxu.cols: [32, 64, 96, 128, 256]
  mxu.count: [1, 2, 4, 8]
  core.clock: [700 MHz, 1000 MHz]
  workload.batch: [1, 2, 3, 4, 6]
objectives: [time_ns, {min: mxu.rows * mxu.cols * mxu.count}]
"""
POINTS = 5 * 5 * 4 * 2 * 5
COUNT = """\
import json, sys
result = json.load(open(sys.argv[1]))["devices"][0]
bursts = sum(stat["value"] for stat in result["stats"] if stat["name"] in ("read_bursts", "write_bursts"))
print(json.dumps([result["total"]["cycles"], len(result["layers"]), bursts]))
"""  # cycles, layers and bursts of a result, in a process of its own (measure.once)
LIMITED = ("descriptors of 32 KiB, one", "descriptors of 32 KiB, one, writes")  # to 2 ns


@dataclasses.dataclass
class Case:
    """A run of the program; `trace`: words of `systole trace llm` whose answer stands for {trace}."""
    name: str
    words: tuple
    seconds: float = None  # the limit
    megabytes: float = None
    trace: tuple = None


def product(device, size, seconds=None):
    dtype = "fp16" if device == "v100" else "bf16"
    return Case(f"{size}^3 on {device}", ("op", device, "matmul", f"m={size}", f"n={size}", f"k={size}", f"dtype={dtype}"), seconds)


def share(device, chips, *settings):
    set_so = "".join(f", {setting}" for setting in settings)
    return Case(f"Llama 3 70B, a decode step, one of {chips} {device}{set_so}",
                ("run", device, "{trace}", *(word for setting in settings for word in ("--set", setting))), 2,
                trace=("llama3_70b", *DECODE, "--tensor-parallel", str(chips)))


CASES = [
    Case("ResNet-50 on tpu_v4", ("run", "tpu_v4", "resnet50"), 0.1, 100),
    Case("ResNet-50 on h100", ("run", "h100", "resnet50")),
    Case("BERT-base on tpu_v4", ("run", "tpu_v4", "bert_base")),
    Case("BERT-base on h100", ("run", "h100", "bert_base")),
    *(Case(f"GPT-3 layer, prefill of 2,048, one of 8 {device}", ("run", device, "{trace}", "--set", "workload.layers=1"),
           trace=("gpt3_175b", "--phase", "prefill", "--context", "2048",
                  "--tensor-parallel", "8")) for device in ("tpu_v4", "h100")),
    Case("Llama 3 8B, a prefill of 8,192, on h100", ("run", "h100", "{trace}"),
         trace=("llama3_8b", "--phase", "prefill", "--context", "8192")),
    *(Case(f"Llama 3 70B, a decode step, on {device}", ("run", device, "llama3_70b"), 2) for device in
      ("h200", "b200", "gb200", "mi300x", "mi325x")),
    share("tpu_v4_chip", 8), share("tpu_v5e", 16), share("tpu_v5p_chip", 4), share("tpu_v5p_chip", 4, "run.reuse=rough"),
    share("tpu_v6e", 8), share("tpu_v7", 4),
    product("tpu_v4", 4096), product("h100", 4096, 0.3),
    *(product(device, 4096) for device in ("v100", "a100", "b200", "mi300x")),
    product("h100", 8192),
]


@dataclasses.dataclass
class Row:
    name: str
    run: measure.Run
    allocations: int = None
    cycles: float = 0
    layers: int = 0
    bursts: int = 0


def measure_case(case, asked, directory):
    trace = ""
    if case.trace:
        trace = str(pathlib.Path(directory) / "step.yaml")
        subprocess.run([asked.program, "trace", "llm", *case.trace, "-o", trace], check=True, capture_output=True)
    command = [asked.program, *(word.format(trace=trace) for word in case.words), "--format", "json"]
    runs, answer = [], pathlib.Path(directory) / "answer.json"
    for _ in range(asked.runs):
        with answer.open("wb") as output:
            runs.append(measure.once(command, output))
    library = asked.benches / measure.LIBRARY
    counted = subprocess.run([sys.executable, "-c", COUNT, answer], check=True, capture_output=True).stdout
    return Row(case.name, measure.median(runs), measure.allocations(command, library) if library.exists() else None,
               *json.loads(counted))


def sweep_row(asked, directory):
    """A sweep of so many points of a network of ten layers (sweep.py), as many at once as there are processors."""
    (pathlib.Path(directory) / "network.yaml").write_text(sweep.NETWORK)
    (pathlib.Path(directory) / "experiment.yaml").write_text(EXPERIMENT)
    run = measure.once([asked.program, "sweep", "experiment.yaml", "-o", "out", "-j", str(os.cpu_count())], cwd=directory)
    done = len((pathlib.Path(directory) / "out/points.csv").read_text().splitlines()) - 1
    if done != POINTS:
        sys.exit(f"the sweep has {done} points, not {POINTS}")
    return Row(f"sweep of {POINTS:,} points, ten layers each", run)


def per_request(asked, memory, pattern, many=1_000_000, few=1_000):
    def cpu(requests):
        words = [asked.program, "dram", memory, "--pattern", pattern, "--requests", str(requests)]
        return min(measure.once(words).cpu for _ in range(3))
    return (cpu(many) - cpu(few)) / (many - few) * 1e9


def memory_rows(asked):
    """(what, ns, limit)"""
    rows = [(f"`systole dram {memory} --pattern {pattern}`", per_request(asked, memory, pattern), None)
            for memory in ("hbm2_golden_1pc", "hbm2_golden_stack") for pattern in ("stream", "random")]
    bench = next((path for path in (asked.benches / "bench_dram_speed", asked.benches / "tests/bench_dram_speed") if path.exists()), None)
    if bench:
        runs = [subprocess.run([bench], check=True, capture_output=True, text=True).stdout for _ in range(3)]
        found = [re.findall(r"^(.*?)\s+([0-9.]+) ns a burst", text, re.M) for text in runs]
        for same in zip(*found):
            what = same[0][0]
            rows.append((f"channel alone: {what}", min(float(ns) for _, ns in same), 2 if what in LIMITED else None))
    return rows


def thousands(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def limit_of(case):
    words = ([f"{case.seconds:g} s"] if case.seconds else []) + ([f"{case.megabytes:g} MB"] if case.megabytes else [])
    return ", ".join(words)


def missed(case, row):
    return bool(case.seconds and row.run.cpu > case.seconds or case.megabytes and row.run.megabytes > case.megabytes)


def release_of(records, name):
    record = records.get(name)
    return f"{float(record['cpu_s']):.2f} s, {float(record['megabytes']):.0f} MB" if record else ""


def line_of(case, row, records):
    def rate(count):
        return thousands(count / row.run.cpu) if count else ""
    cells = [row.name, f"{row.run.wall:.2f}", f"{row.run.cpu:.2f}", rate(row.cycles), rate(row.layers), rate(row.bursts),
             f"{row.run.megabytes:.0f}", f"{row.allocations:,}" if row.allocations else "", limit_of(case) if case else "",
             "**missed**" if case and missed(case, row) else "", release_of(records, row.name)]
    return "| " + " | ".join(cells) + " |"


def head_of(release):
    return [f"| case | s | CPU s | cycles / s | layers / s | bursts / s | peak MB | allocations | limit | | {release or 'last release'} |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---|---|---|"]


def read_record():
    """(release, its rows by name)"""
    if not RECORD.exists():
        return "", {}
    rows = list(csv.DictReader(RECORD.read_text().splitlines()))
    return (rows[0]["release"], {row["case"]: row for row in rows}) if rows else ("", {})


def write_record(release, rows):
    """Of that release alone; rows that were measured for it before stay."""
    before, kept = read_record()
    new = {row.name for row in rows}
    kept = [record for name, record in kept.items() if before == release and name not in new]
    with RECORD.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["release", "case", "cpu_s", "megabytes", "allocations"])
        writer.writerows(record.values() for record in kept)
        for row in rows:
            writer.writerow([release, row.name, f"{row.run.cpu:.3f}", f"{row.run.megabytes:.1f}", row.allocations or ""])


def memory_table(rows):
    return ["| memory | ns a burst | limit | |", "|---|---:|---|---|",
            *(f"| {what} | {ns:.1f} | {f'{limit} ns' if limit else ''} | {'**missed**' if limit and ns > limit else ''} |" for what, ns, limit in rows)]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/systole", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--benches", default="build/test/tests", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="", metavar="WORD", help="cases whose name has it, no memories, no sweep")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--release", metavar="NAME")
    return parser.parse_args()


def main():
    asked = arguments()
    release, records = read_record()
    table, rows, memories, fault = head_of(release), [], [], False
    print("\n".join(table))
    with tempfile.TemporaryDirectory() as directory:
        for case in (case for case in CASES if asked.only in case.name):
            rows.append(measure_case(case, asked, directory))
            fault = fault or missed(case, rows[-1])
            table.append(line_of(case, rows[-1], records))
            print(table[-1], flush=True)
            if asked.release:
                write_record(asked.release, rows)
        if not asked.only:
            rows.append(sweep_row(asked, directory))
            table.append(line_of(None, rows[-1], records))
            print(table[-1] + "\n", flush=True)
            memories = memory_rows(asked)
            print("\n".join(memory_table(memories)))
            fault = fault or any(limit and ns > limit for _, ns, limit in memories)
    if asked.release:
        write_record(asked.release, rows)
    if asked.update:
        measure.replace_block(PAGE, "runs", [f"Taken on {measure.machine()}.", "", *table])
        measure.replace_block(PAGE, "memories", memory_table(memories))
    return 1 if asked.check and fault else 0


if __name__ == "__main__":
    sys.exit(main())
