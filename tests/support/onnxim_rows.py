# SPDX-License-Identifier: Apache-2.0
"""What ONNXim answers for products of matrices (tests/golden/onnxim), the rules of its source in closed form, and what
Systole answers to the same on the machine described alike (configs/devices/onnxim_tpuv4.yaml)."""

import concurrent.futures
import csv
import dataclasses
import gzip
import io
import json
import math
import os
import pathlib
import subprocess
import tempfile

ROWS = pathlib.Path(__file__).resolve().parent.parent / "golden" / "onnxim" / "rows.csv.gz"
DEVICE, MEMORY = "onnxim_tpuv4", "hbm2_onnxim"

# The protocol: a product on its own, from memory to memory, nothing launches it.
PROTOCOL = ("run.inputs_at=dram", "run.outputs_to=dram", "run.launch=none")
# Four cores share the memory alone; here four arrays have a scratchpad together, in which they never meet.
FOUR_CORES = ("mxu.count=4", "scratchpad.capacity=144 MiB", "scratchpad.activation_ports=4",
              "scratchpad.dma_port_width=2048 B", "placement.input_buffer=64 MiB", "placement.weight_buffer=64 MiB",
              "placement.output_buffer=16 MiB", "dma.in_flight=64 MiB")
# Both pseudo-channels of a channel in each 1 KiB, where ONNXim's map has them 8 KiB apart.
SPREAD = "memory.address_map=ch co4 bg2 ba2 ro15"
WAITS = 0.01  # of the time, what arrays may wait for memory on the way

ARRAY = 128  # rows and columns
ELEMENT = 2  # bytes
LINK = 512  # bytes that leave or reach a core in a cycle
CLOCKS_A_CYCLE = 1.2  # of the memory's command clock
# src/Mapping.cc: tiles that half of a half of the scratchpad, and half of the accumulators, hold.
TILES_OF_SCRATCHPAD = (32 << 20) // (ARRAY * ELEMENT * 2) // 2 // ARRAY
TILES_OF_ACCUMULATORS = (4 << 20) // (ARRAY * 4 * 2) // ARRAY


def ceil_div(a, b):
    return -(-a // b)


@dataclasses.dataclass(frozen=True)
class Row:
    run: str
    cores: int
    channels: int
    m: int
    k: int
    n: int
    cycles: int
    dram_rd: int  # None: not recorded
    dram_wr: int
    row_misses: int
    row_conflicts: int
    apart: bool

    @property
    def name(self):
        cores = f", {self.cores} cores" if self.cores > 1 else ""
        channels = f", {self.channels} channels" if self.channels != 16 else ""
        return f"{self.m} x {self.k} x {self.n}{cores}{channels}"

    def question(self):
        """To systole."""
        settings = list(PROTOCOL)
        if self.cores == 4:
            settings += FOUR_CORES
        if self.channels != 16:
            settings.append(f"memory.channels={self.channels}")
        return ("op", DEVICE, "matmul", f"m={self.m}", f"k={self.k}", f"n={self.n}", "dtype=bf16",
                *(word for setting in settings for word in ("--set", setting)))

    @property
    def passes(self):
        """Of the busiest array: a tile of weights is preloaded for each 128 rows that meet it."""
        return ceil_div(ceil_div(self.m, ARRAY) * ceil_div(self.k, ARRAY) * ceil_div(self.n, ARRAY), self.cores)

    @property
    def steady(self):
        """Cycles that no machine with these arrays and these passes can save: a tile takes its rows to be shifted in."""
        return self.passes * ARRAY


def rows():
    def number(text):
        return int(text) if text else None

    with gzip.open(ROWS, "rt") as file:
        return [Row(row["run"], *(number(row[key]) for key in ("cores", "channels", "m", "k", "n", "cycles", "dram_rd",
                                                              "dram_wr", "row_misses", "row_conflicts")),
                    row["apart"] == "yes") for row in csv.DictReader(io.StringIO(file.read()))]


def tile(row):
    """Rows, columns and depth of a tile: gemm_mapping of src/Mapping.cc."""
    across = math.isqrt(TILES_OF_ACCUMULATORS)
    parts = [min(ceil_div(size, ARRAY), ceil_div(size, most * ARRAY))
             for size, most in ((row.m, across), (row.n, across), (row.k, TILES_OF_SCRATCHPAD // across))]
    if parts[0] * parts[1] < row.cores and row.m != row.n:
        parts[0 if row.m > row.n else 1] *= ceil_div(row.cores, parts[0] * parts[1])
    sizes = [ceil_div(ceil_div(size, ARRAY) * ARRAY, part) for size, part in zip((row.m, row.n, row.k), parts)]
    rows_, columns, depth = (max(ARRAY, size // ARRAY * ARRAY) for size in sizes)
    return rows_, columns, depth


def moved(row):
    """Bytes read and written: every tile reads both of its operands (src/operations/GemmWS.cc)."""
    height, width, _ = tile(row)
    across, down = ceil_div(row.n, width), ceil_div(row.m, height)
    return ELEMENT * row.k * (row.m * across + row.n * down), ELEMENT * row.m * row.n


def first_slab(row):
    """Cycles until ONNXim has what its first pass waits for: in all of a tile's depth, a tile's columns of weights and as
    many rows of inputs (src/operations/GemmWS.cc: one instruction each)."""
    height, width, depth = tile(row)
    return ceil_div(ELEMENT * min(depth, row.k) * (min(ARRAY, row.n, width) + min(ARRAY, row.m, height)), LINK)


def start_and_end(row):
    """Cycles of ONNXim in which its array waits for the first operands, its first preload, its last results."""
    first_preload = 2 * ARRAY - 1  # src/SystolicWS.cc: the pipeline is empty
    last_rows = max((row.m - 1) % ARRAY + 1, 4)
    drain = 2 * ARRAY - 2 + last_rows - ARRAY  # beyond the 128 cycles of the last pass
    stored = ELEMENT * min(ARRAY, row.m) * min(ARRAY, row.n)
    return first_slab(row) + first_preload + drain + ceil_div(stored, LINK)


def by_arrays(row):
    """Cycles of ONNXim where nothing holds its arrays up once they have begun, by its source; without latencies."""
    return row.steady + start_and_end(row)


def pieces_in_half_of_the_buses(row):
    """Whether all that a tile reads lies in one of the two pseudo-channels of each channel: rows are read in pieces that
    fill one row of a pseudo-channel in all channels (16 bursts each: 8 KiB), and the next begin 16 KiB further."""
    row_of_all_channels = 16 * row.channels * 32
    return ELEMENT * tile(row)[2] <= row_of_all_channels and ELEMENT * row.k % (2 * row_of_all_channels) == 0


def by_half_of_the_buses(row):
    """Cycles of ONNXim where tiles along K wait for half of the memory's bandwidth: all reads, then the last tile's work."""
    half = 32 * row.channels * CLOCKS_A_CYCLE / 2
    work = ceil_div(row.passes, ceil_div(row.k, tile(row)[2])) * ARRAY
    return moved(row)[0] / half + work + start_and_end(row) - first_slab(row)


def by_commands(row):
    """Cycles that the recorded requests keep a channel's commands busy, of which ONNXim's memory gives one a clock: a
    column for each request, and an activation and a precharge for each row that was opened. None: not recorded."""
    if row.row_misses is None:
        return None
    requests = (row.dram_rd + row.dram_wr) // 32
    return (requests + 2 * (row.row_misses + row.row_conflicts)) / row.channels / CLOCKS_A_CYCLE


def bound_by_memory(row):
    """Whether ONNXim is held up by its memory rather than its arrays: by half of its buses, by its commands where they
    were recorded, else by what its tiles read at its peak less an eighth for rows (16 bursts each) and refresh."""
    if pieces_in_half_of_the_buses(row):
        return True
    if (commands := by_commands(row)) is not None:
        return commands > 0.75 * row.cycles
    peak = 32 * row.channels * CLOCKS_A_CYCLE * (1 - 421 / 4680) / (1 + 2 / 16)
    return sum(moved(row)) / peak > by_arrays(row)


def by_rules(row):
    return by_half_of_the_buses(row) if pieces_in_half_of_the_buses(row) else by_arrays(row)


def allowed(row):
    """What our answer may be off by where ONNXim's arrays hold it up: a machine that waits for one step of K and not for a
    slab, and whose first tile is shifted in once, begins that much earlier; arrays may wait for memory on the way."""
    return first_slab(row) + ARRAY - 1 + WAITS * row.cycles


def inside(row, cycles):
    """Whether our answer is where it should be."""
    if bound_by_memory(row):
        return row.steady <= cycles <= row.cycles
    return abs(cycles - row.cycles) <= allowed(row)


def answer(program, question):
    done = subprocess.run([program, *question, "--format", "json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(question)}: {done.stderr}")
    return json.loads(done.stdout)


def mapped(program, row, mapping):
    """The totals of a row with a mapping by hand."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "mapping.yaml"
        file.write_text(mapping)
        return answer(program, (*row.question(), "--mapping", str(file)))["devices"][0]["total"]


def answers(program, asked, settings=()):
    """Of each row the totals of Systole's run, on a machine with some settings changed."""
    words = [word for setting in settings for word in ("--set", setting)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = pool.map(lambda row: answer(program, (*row.question(), *words))["devices"][0]["total"], asked)
        return dict(zip(asked, said))
