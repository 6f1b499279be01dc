# SPDX-License-Identifier: Apache-2.0
"""The requests that ONNXim makes of its memory for a product, in its order, played against the same memory here: what it
is held up by where its memory is what holds it up."""

import json
import pathlib
import subprocess
import tempfile

import onnxim_rows

BURST = 32  # bytes of a request
FORM = ("--order", "fifo", "--sends-per-clock", "14")  # a core sends 16 in a cycle of its own, 13.3 in a clock
# src/Hashing.cc: the bits of a request's number whose parity is a bit of its channel.
CHANNEL = ((11, 10, 9, 8, 6, 4, 3, 0), (12, 8, 7, 6, 5, 3, 1, 0), (9, 8, 7, 6, 4, 2, 1), (10, 9, 8, 7, 5, 3, 2))


def place(address):
    """Where ONNXim's memory keeps an address, as an address of `hbm2_onnxim`: channel, pseudo-channel (its lowest bit),
    column and what lies above stay themselves."""
    number = address // BURST
    channel = sum((sum(number >> bit for bit in bits) & 1) << i for i, bits in enumerate(CHANNEL))
    local = number >> 4
    column, pseudo_channel, above = local & 15, local >> 4 & 1, local >> 5
    return pseudo_channel << 5 | (channel & 7) << 6 | column << 9 | (channel >> 3) << 13 | above << 14


def piece(base, row_bytes, rows, begin, end):
    """Requests of the bytes [begin, end) of some rows of a matrix."""
    for row in rows:
        first = base + row * row_bytes + begin
        yield from range(first // BURST * BURST, first + end - begin, BURST)


def tiles(row):
    """(reads, writes) of each tile: src/operations/GemmWS.cc. Weights are [n,k]; a tensor begins 256 B behind the last."""
    size = onnxim_rows.ELEMENT
    height, width, depth = onnxim_rows.tile(row)
    inputs = row.n * row.k * size + 256
    outputs = inputs + row.m * row.k * size + 256

    def blocks(begin, end):
        return [range(at, min(at + onnxim_rows.ARRAY, end)) for at in range(begin, end, onnxim_rows.ARRAY)]

    for m in range(0, row.m, height):
        for n in range(0, row.n, width):
            of_m, of_n = blocks(m, min(m + height, row.m)), blocks(n, min(n + width, row.n))
            for k in range(0, row.k, depth):
                ends = k * size, min(k + depth, row.k) * size
                reads = list(piece(0, row.k * size, of_n[0], *ends))
                for part in of_m:
                    reads += piece(inputs, row.k * size, part, *ends)
                for part in of_n[1:]:
                    reads += piece(0, row.k * size, part, *ends)
                last = k + depth >= row.k
                yield reads, [at for columns in of_n for part in of_m if last
                              for at in piece(outputs, row.n * size, part, columns[0] * size, (columns[-1] + 1) * size)]


def requests(row):
    """In ONNXim's order: a tile's reads, then the writes of the one before, whose place the next but one waits for."""
    before = []
    for reads, writes in tiles(row):
        yield from (("R", at) for at in reads)
        yield from (("W", at) for at in before)
        before = writes
    yield from (("W", at) for at in before)


def play(program, row):
    """The answer of `systole dram` to a row's requests, sent as fast as a core can."""
    rate = onnxim_rows.LINK / BURST / onnxim_rows.CLOCKS_A_CYCLE
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "requests.trace"
        trace.write_text("".join(f"{int(i / rate)} {kind} {place(at):x}\n" for i, (kind, at) in enumerate(requests(row))))
        done = subprocess.run([program, "dram", onnxim_rows.MEMORY, str(trace), *FORM, "--format", "json"],
                              capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)
