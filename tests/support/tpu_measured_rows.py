# SPDX-License-Identifier: Apache-2.0
"""What others measured on TPU v5e, v6e and v7x (tests/golden/tpu_measured), and what Systole answers to the same."""

import concurrent.futures
import csv
import dataclasses
import gzip
import io
import json
import os
import pathlib
import subprocess

ROWS = pathlib.Path(__file__).resolve().parent.parent / "golden" / "tpu_measured" / "rows.csv.gz"
WITHIN = 0.10  # of the measured time, what a row that gates may be off by

# The protocols, one for each way a time was taken: everything lies in HBM before and after.
DEVICE_TRACE = ("run.inputs_at=dram", "run.outputs_to=dram", "run.launch=none")
PROTOCOLS = {"trace": DEVICE_TRACE, "host": ("run.inputs_at=dram", "run.outputs_to=dram", "run.launch=graph")}

COPY_ROW = 1024  # elements: a copy is a slice of whole rows, of so many bf16
LONG_MACS, LONG_BYTES = 8192**3, 1 << 28  # what takes minutes to simulate is asked for expressly


@dataclasses.dataclass(frozen=True)
class Row:
    device: str
    op: str
    kernel: str
    shape: tuple  # m, n, k of a product; bytes of a copy
    measured_us: float
    timed: str
    gates: bool
    source: str

    @property
    def size(self):
        if self.op == "copy":
            return f"{self.shape[0] >> 20} MiB"
        return " x ".join(map(str, self.shape)) if len(set(self.shape)) > 1 else f"{self.shape[0]}³"

    @property
    def name(self):
        return f"{self.device} {self.op} {self.size} {self.kernel} {self.timed}"

    @property
    def mapped(self):
        """Whether our mapper may cut the product as it likes, as XLA does. Blocks of 512 x 1024 x 1024 are large enough
        that how they are cut is of no matter; those of 128 are the measurement."""
        return not self.kernel.startswith("128 blocks")

    @property
    def long(self):
        if self.op == "copy":
            return self.shape[0] > LONG_BYTES
        m, n, k = self.shape
        return m * n * k > LONG_MACS

    def arguments(self):
        """Of systole. Rows of one shape are one question: stored weights lie as the arrays like them, so that a
        transposed operand costs nothing, and a ReLU is done while results leave the accumulators."""
        if self.op == "copy":
            work = ["slice", f"rows={self.shape[0] // (2 * COPY_ROW)}", f"cols={COPY_ROW}", f"size={COPY_ROW}"]
        else:
            work = ["matmul", *(f"{key}={value}" for key, value in zip("mnk", self.shape))]
        settings = [word for setting in PROTOCOLS[self.timed] for word in ("--set", setting)]
        return ["op", self.device, *work, "dtype=bf16", *settings]


def rows():
    result = []
    with gzip.open(ROWS, "rt") as file:
        for row in csv.DictReader(io.StringIO(file.read())):
            shape = (row["bytes"],) if row["op"] == "copy" else (row["m"], row["n"], row["k"])
            result.append(Row(row["device"], row["op"], row["kernel"], tuple(map(int, shape)), float(row["time_us"]),
                              row["timed"], row["gate"] == "yes", row["source"]))
    return result


def answer(program, arguments):
    """The run's totals, and how the clocks of the memory's buses were spent."""
    done = subprocess.run([program, *arguments, "--format", "json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr}")
    device = json.loads(done.stdout)["devices"][0]
    return {**device["total"], "memory_bus": device["memory_bus"]}


def answers(program, asked):
    """Of each row its answer; rows that ask the same share it."""
    questions = list(dict.fromkeys(tuple(row.arguments()) for row in asked))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = dict(zip(questions, pool.map(lambda question: answer(program, question), questions)))
    return {row.name: said[tuple(row.arguments())] for row in asked}
