# SPDX-License-Identifier: Apache-2.0
"""What three DRAM simulators answer on one set-up (tests/golden/dram), and what Systole answers to the same."""

import csv
import dataclasses
import gzip
import io
import json
import pathlib
import subprocess

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "golden" / "dram"
TOOLS = ("dramsim3", "ramulator2", "dramsys")
PAIR = ("ramulator2", "dramsys")  # whose controllers decide as ours does


def table(name):
    path = FOLDER / name
    text = gzip.open(path, "rt").read() if path.suffix == ".gz" else path.read_text()
    return list(csv.DictReader(io.StringIO(text)))


GENERATED = {row["trace"]: row for row in table("patterns.csv")}  # made by rule instead of stored


@dataclasses.dataclass(frozen=True)
class Row:
    """A trace on a set-up, with the cycles, mean read latency, activates and refreshes of each tool."""

    scope: str
    mapping: str
    order: str
    refresh: str
    pattern: str
    window: int
    excluded: str
    tools: dict

    @property
    def name(self):
        return f"{self.scope} {self.mapping} {self.order} {self.refresh} {self.pattern}"

    def cycles_of(self, tools):
        return [self.tools[tool]["cycles"] for tool in tools if tool != self.excluded]

    def traffic(self):
        trace = f"{self.scope}.{self.pattern}"
        if trace in GENERATED:
            return GENERATED[trace]["arguments"].split()
        return [str(FOLDER / "traces" / f"{trace}.trace.gz")]

    def arguments(self):
        """Of systole."""
        arguments = ["dram", f"hbm2_golden_{self.scope}", *self.traffic(), "--order", self.order,
                     "--set", f"address_map={self.mapping}"]
        if self.refresh == "noref":
            arguments += ["--set", "refresh=off"]
        if self.window:
            arguments += ["--window", str(self.window)]
        return arguments


def rows():
    def number(text):
        return float(text) if "." in text else int(text)

    result = []
    for row in table("rows.csv"):
        tools = {tool: {key: number(row[f"{tool}_{key}"]) for key in ("cycles", "lat_avg", "acts", "refs")}
                 for tool in TOOLS}
        result.append(Row(row["scope"], row["mapping"], row["order"], row["refresh"], row["pattern"],
                          int(row["window"]), row["excluded"], tools))
    return result


def answer(program, arguments):
    """The JSON of a run."""
    done = subprocess.run([program, *arguments, "--format", "json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr}")
    return json.loads(done.stdout)


@dataclasses.dataclass(frozen=True)
class Expectation:
    """Cycles between `low` and `high`, because of `rule`."""

    low: float
    high: float
    rule: str

    def holds(self, cycles):
        return self.low <= cycles <= self.high


def is_strided_or_random(pattern):
    return pattern.startswith(("d_stride", "e_rand_read", "i_rand"))


def is_mixed(pattern):
    return pattern.startswith("c_rrw") or pattern == "e_rand_rw33"


def expectation(row):
    """How close is close enough, from how far the tools are from each other."""
    every, pair = row.cycles_of(TOOLS), row.cycles_of(PAIR)
    if row.scope == "stack":
        return Expectation(0.98 * min(every), 1.02 * max(every), "range ±2 %")
    if is_mixed(row.pattern):
        return Expectation(min(every), max(every), "range of three")
    if row.pattern.startswith("g_lat"):
        return Expectation(min(pair) - 1, max(pair) + 1, "pair ±1 clock")
    middle, share = sum(pair) / len(pair), 0.035 if is_strided_or_random(row.pattern) else 0.01
    return Expectation((1 - share) * middle, (1 + share) * middle, f"pair ±{100 * share:g} %")
