# SPDX-License-Identifier: Apache-2.0
"""Measured attention of GPUs (tests/golden/gpu_attention), and what the program answers to the same question."""

import csv
import gzip
import json
import pathlib
import subprocess
import tempfile

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "gpu_attention"
CHIPS = ["a100", "h100", "h200"]
PHASES = ["prefill", "decode"]
SMS = {"a100": 108, "h100": 132, "h200": 132}
# A graph with one call of the layer, replayed six times after ten.
PROTOCOL = ["run.launch=graph", "run.weight_copies=1", "run.repeat=2", "run.warm_turns=10", "run.timed_turns=6",
            "run.inputs_at=dram", "run.outputs_to=dram"]
# The call rotates queries and keys and writes keys and values into the cache with a kernel of its own, which
# reads all three and writes as much: asked for as an activation of as many elements. Before that, a prefill has
# a small kernel that makes offsets of lengths (invokeBuildDecoderInfo).
OFFSETS = "  - {{name: offsets, op: activation, function: relu, in: lengths, dtype: bf16}}\n"
VIEW = "  - {{name: values, op: reshape, in: k_cache, shape: [{batch}, {kv_len}, {kv_heads}, {dim}]}}\n"
TRACE = """trace: attention
inputs:
  lengths: {{shape: [{batch}, 2], dtype: bf16}}
  qkv: {{shape: [{batch}, {q_len}, {width}], dtype: bf16}}
  q: {{shape: [{batch}, {q_len}, {q_width}], dtype: bf16}}
  k_cache: {{shape: [{batch}, {kv_len}, {kv_width}], dtype: bf16}}
  v_cache: {{shape: [{batch}, {kv_len}, {kv_width}], dtype: bf16}}
layers:
{offsets}  - {{name: rotate, op: activation, function: relu, in: qkv}}
{view}  - {{name: attention, op: attention, in: [q, k_cache, {values}], heads: {heads}, kv_heads: {kv_heads}, causal: true}}
outputs: [{first}rotate, attention]
"""


def read(chip, phase, part):
    """Rows of integers batch, q_len, kv_len, heads, kv_heads, head_dim, with the measured us behind them."""
    with gzip.open(GOLDEN / f"{chip}_{phase}_{part}.csv.gz", "rt") as file:
        rows = list(csv.reader(file))[1:]
    return [tuple(int(value) for value in row[:6]) + (float(row[6]),) for row in rows]


def rotates_by_itself(chip, row):
    """Whether the library's kernel for a step of decoding is the one that turns queries and keys, too, and writes
    into the cache (MMHA: one head for each head of keys, more than 32, or fewer CTAs than a quarter of the SMs:
    kernelUtils.cpp, decoderXQAImplJIT.cpp): then there is no kernel before it."""
    batch, q_len, kv_len, heads, kv_heads = row[:5]
    group = heads // kv_heads
    few = kv_heads * batch * max(1, kv_len // 128) * 4 < SMS[chip]
    return q_len == 1 and q_len != kv_len and (group == 1 or group > 32 or few)


def trace_of(chip, row):
    batch, q_len, kv_len, heads, kv_heads, dim = row[:6]
    # The A100's rows were measured with a cache in which the values of a block lie where the keys of the next
    # one do (CacheType.SELFKONLY): once keys are fetched, values are in the L2. Here values are a view of keys.
    shared = chip == "a100"
    prefill = q_len == kv_len
    text = TRACE.format(batch=batch, q_len=q_len, kv_len=kv_len, heads=heads, kv_heads=kv_heads,
                        width=(heads + 2 * kv_heads) * dim, q_width=heads * dim, kv_width=kv_heads * dim,
                        offsets=OFFSETS.replace("{{", "{").replace("}}", "}") if prefill else "",
                        first="offsets, " if prefill else "", values="values" if shared else "v_cache",
                        view=VIEW.format(batch=batch, kv_len=kv_len, kv_heads=kv_heads, dim=dim) if shared else "")
    alone = rotates_by_itself(chip, row)
    unused = ["" if prefill else "lengths", "v_cache" if shared else "", "qkv" if alone else ""]
    if alone:
        text = text.replace("  - {name: rotate, op: activation, function: relu, in: qkv}\n", "")
        text = text.replace("rotate, ", "")
    return "".join(line for line in text.splitlines(keepends=True)
                   if not any(name and line.startswith(f"  {name}:") for name in unused))


def ask(program, chip, row, settings=()):
    """us of the whole call, and of each layer."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(trace_of(chip, row))
        file.flush()
        command = [str(program), "run", chip, file.name, "--format", "json"]
        for setting in [*PROTOCOL, *settings]:
            command += ["--set", setting]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{row}: {done.stderr}")
    device = json.loads(done.stdout)["devices"][0]
    return device["total"]["time_ns"] / 1e3, [layer["time_ns"] / 1e3 for layer in device["layers"]]


def summary(errors):
    """Mean absolute error and bias of relative errors."""
    count = max(1, len(errors))
    return sum(abs(error) for error in errors) / count, sum(errors) / count
