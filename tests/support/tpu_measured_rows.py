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
import tempfile

ROWS = pathlib.Path(__file__).resolve().parent.parent / "golden" / "tpu_measured" / "rows.csv.gz"
WITHIN = 0.10  # of the measured time, what a row that gates may be off by

# The protocols, one for each way a time was taken: everything lies in HBM before and after. A trace begins on the device;
# a call from Python takes HOST_CALL_US more, which is calibrated, too: a product of 1024³ on v5e, whose work is 21 us, took
# 119 to 127 us.
HOST_CALL_US = 100
FROM_HBM = ("run.inputs_at=dram", "run.outputs_to=dram", "run.launch=graph")
PROTOCOLS = {"trace": (*FROM_HBM, "sequencer.launch_latency=0 us"),
             "host": (*FROM_HBM, f"sequencer.launch_latency={HOST_CALL_US} us")}

COPY_ROW = 1024  # elements: a copy is a slice of whole rows, of so many bf16
LONG_MACS, LONG_BYTES = 8192**3, 1 << 28  # what takes minutes to simulate is asked for expressly
SLAB = 2048  # rows of a block of M on v7; larger products are one of these after the other, all alike


@dataclasses.dataclass(frozen=True)
class Row:
    device: str
    op: str
    kernel: str
    shape: tuple  # m, n, k of a product; bytes of a copy
    measured_us: float
    timed: str
    gates: bool
    fitted: str
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
        return m * n * k > LONG_MACS or (m * n * k == LONG_MACS and not self.gates)

    def questions(self):
        """To systole, words each. Rows of one shape ask the same: stored weights lie as the arrays like them, so that a
        transposed operand costs nothing, and a ReLU is done while results leave the accumulators. A product that takes
        minutes is asked for in two sizes of M, which together say what each further block of rows takes."""
        settings = [word for setting in PROTOCOLS[self.timed] for word in ("--set", setting)]
        if self.op == "copy":
            rows_copied = self.shape[0] // (2 * COPY_ROW)
            return [("op", self.device, "slice", f"rows={rows_copied}", f"cols={COPY_ROW}", f"size={COPY_ROW}",
                     "dtype=bf16", *settings)]
        m, n, k = self.shape
        return [("op", self.device, "matmul", f"m={rows_asked}", f"n={n}", f"k={k}", "dtype=bf16", *settings)
                for rows_asked in ((SLAB, 2 * SLAB) if m * n * k > LONG_MACS else (m,))]

    def whole(self, said):
        """The answer to the row, of those to its questions."""
        if len(said) == 1:
            return said[0]
        each = said[1]["time_ns"] - said[0]["time_ns"]
        return {**said[1], "time_ns": said[0]["time_ns"] + (self.shape[0] // SLAB - 1) * each}


def rows():
    result = []
    with gzip.open(ROWS, "rt") as file:
        for row in csv.DictReader(io.StringIO(file.read())):
            shape = (row["bytes"],) if row["op"] == "copy" else (row["m"], row["n"], row["k"])
            result.append(Row(row["device"], row["op"], row["kernel"], tuple(map(int, shape)), float(row["time_us"]),
                              row["timed"], row["gate"] == "yes", row["fitted"], row["source"]))
    return result


def calibrated(program, device):
    """What was fitted to measurements in this device: paths, and values as text."""
    shown = subprocess.run([program, "show", "device", device, "--format", "json"], capture_output=True, text=True, check=True)
    return {value["path"]: value["value"] for value in json.loads(shown.stdout)["values"] if value["origin"] == "calibrated"}


def answer(program, arguments):
    """The run's totals, its clock, and how the clocks of the memory's buses were spent."""
    done = subprocess.run([program, *arguments, "--format", "json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr}")
    device = json.loads(done.stdout)["devices"][0]
    return {**device["total"], "clock_hz": device["clock_hz"], "memory_bus": device["memory_bus"]}


def answers(program, asked):
    """Of each row its answer; rows that ask the same share it."""
    questions = list(dict.fromkeys(question for row in asked for question in row.questions()))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = dict(zip(questions, pool.map(lambda question: answer(program, question), questions)))
    return {row.name: row.whole([said[question] for question in row.questions()]) for row in asked}


STEP_ELEMENTS = 128  # of the blocks that are the measurement
STEP_SLABS = (512, 1024)  # rows of M of which such a kernel is simulated: two blocks of rows say what each takes
STEP_MAPPING = """\
mapping: a kernel in blocks of 128
layers:
  matmul: {rows: 128, columns: 128, depth: 128, outer: m}
"""


def steps(row):
    """Grid steps of a kernel in blocks of 128 x 128 x 128, and nanoseconds for each."""
    count = row.shape[0] * row.shape[1] * row.shape[2] // STEP_ELEMENTS**3
    return count, 1000 * (row.measured_us - HOST_CALL_US) / count


def blocks_of_128_us(program, n):
    """Simulated time of n³ in the kernel's own blocks, one after the other on one array, without what a step costs beside
    its work."""
    settings = [word for setting in PROTOCOLS["host"] for word in ("--set", setting)]
    with tempfile.TemporaryDirectory() as folder:
        mapping = pathlib.Path(folder) / "mapping.yaml"
        mapping.write_text(STEP_MAPPING)
        few, more = (answer(program, ["op", "tpu_v5e", "matmul", f"m={m}", f"n={n}", f"k={n}", "dtype=bf16", *settings,
                                      "--mapping", str(mapping)])["time_ns"] / 1000 for m in STEP_SLABS)
    return few + (n - STEP_SLABS[0]) / (STEP_SLABS[1] - STEP_SLABS[0]) * (more - few)


def tpu_v4_fit_us(m, n, k):
    """What a linear fit to times of a whole TPU v4 says of a product, in microseconds: linear_models.py of
    scalesim-project/SCALE-Sim-validation (d6b88ca), on the cycles of one weight-stationary 128 x 128 array."""
    def cycles(rows, columns):
        return (3 * 128 + rows - 2) * -(-columns // 128) * -(-k // 128)

    slope, start = 0.00020227, 29.721747
    if max(m, n, k) < 128:
        slope, start = 0.002762, 0.059902
    elif max(m, n, k) < 1024:
        slope, start = 0.00036, 0.780070
    return slope * min(cycles(m, n), cycles(n, m)) + start


TPU_V4_SIZES = (64, 256, 512, 1024, 4096)
ON_CHIP = 1024  # the largest of them whose activations fit the scratchpad


def tpu_v4_arguments(device, m, n, k):
    """Of systole: a product on one TensorCore, or on both. Activations lie in the scratchpads, if they can; weights
    cannot, so their memory takes no time."""
    place = "onchip" if n <= ON_CHIP else "dram"
    return ["op", device, "matmul", f"m={m}", f"n={n}", f"k={k}", "dtype=bf16", "--set", f"run.inputs_at={place}",
            "--set", f"run.outputs_to={place}", "--set", "memory.preset=ideal"]
