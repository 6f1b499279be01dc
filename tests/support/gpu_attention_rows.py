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
# The library's kernels, and what RopeParams has without being told (attention_backend/interface.py): a table of so
# many positions; cosines and sines of longer sequences are computed.
LIBRARY = ["kernels.layers=tensorrt_llm", "kernels.table_positions=1024"]
# A prefill has a small kernel first that makes offsets of lengths (invokeBuildDecoderInfo): asked for as an activation.
OFFSETS = "  - {name: offsets, op: activation, function: relu, in: lengths, dtype: bf16}\n"
TRACE = """trace: attention
inputs:
  lengths: {{shape: [{batch}, 2], dtype: bf16}}
{inputs}layers:
{offsets}{parts}  - {{name: turned, op: rotary, in: q, axis: 1, weight_dtype: fp32}}
  - {{name: turned_keys, op: rotary, in: k, axis: 1, weight_dtype: fp32}}
  - {{name: keys, op: kv_cache, in: turned_keys, heads: {kv_heads}, length: {kv_len}}}
  - {{name: values, op: kv_cache, in: v, heads: {kv_heads}, length: {kv_len}}}
{view}  - {{name: attention, op: attention, in: [turned, {keys}, {values}], heads: {heads}, kv_heads: {kv_heads}, causal: true}}
outputs: [{first}keys, values, attention]
"""
# Queries, keys and values as one matrix, which layers of the trace take apart; or three, where attention reads values
# that no cache has (an input that is read in place is a tensor of its own here).
PACKED = "  qkv: {{shape: [{batch}, {q_len}, {width}], dtype: bf16}}\n"
PARTS = """  - {{name: queries, op: slice, in: qkv, axis: 2, begin: 0, size: {q_width}}}
  - {{name: new_keys, op: slice, in: qkv, axis: 2, begin: {q_width}, size: {kv_width}}}
  - {{name: v, op: slice, in: qkv, axis: 2, begin: {value_begin}, size: {kv_width}}}
  - {{name: q, op: reshape, in: queries, shape: [{batch}, {q_len}, {heads}, {dim}]}}
  - {{name: k, op: reshape, in: new_keys, shape: [{batch}, {q_len}, {kv_heads}, {dim}]}}
"""
APART = """  q: {{shape: [{batch}, {q_len}, {heads}, {dim}], dtype: bf16}}
  k: {{shape: [{batch}, {q_len}, {kv_heads}, {dim}], dtype: bf16}}
  v: {{shape: [{batch}, {q_len}, {kv_width}], dtype: bf16}}
"""
# Attention alone, whose kernel turns queries and keys and writes into the cache by itself.
ALONE = """trace: attention
inputs:
  q: {{shape: [{batch}, {q_len}, {q_width}], dtype: bf16}}
  keys: {{shape: [{batch}, {kv_len}, {kv_width}], dtype: bf16}}
  values: {{shape: [{batch}, {kv_len}, {kv_width}], dtype: bf16}}
layers:
{view}  - {{name: attention, op: attention, in: [q, keys, {values}], heads: {heads}, kv_heads: {kv_heads}, causal: true}}
outputs: [attention]
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
    prefill, alone = q_len == kv_len, rotates_by_itself(chip, row)
    # TensorRT-LLM 1.0's prefills (the A100's) read keys and values where they lie beside queries; later ones of
    # Hopper are made to read the cache (attention_backend/trtllm.py, use_paged_context_fmha).
    packed = prefill and chip == "a100"
    # The A100's rows were measured with a cache in which the values of a block lie where the keys of the next
    # one do (CacheType.SELFKONLY): once keys are fetched, values are in the L2. Here values are a view of keys.
    shared = not prefill and chip == "a100"
    shape = [batch, kv_len, kv_heads, dim] if alone else [batch, kv_heads, kv_len, dim]
    in_place = f"  - {{name: keys_in_place, op: reshape, in: turned_keys, shape: [{batch}, {kv_len}, {kv_heads * dim}]}}\n"
    view = f"  - {{name: same, op: reshape, in: keys, shape: {shape}}}\n" if shared else in_place if packed else ""
    sizes = dict(batch=batch, q_len=q_len, kv_len=kv_len, heads=heads, kv_heads=kv_heads, dim=dim,
                 q_width=heads * dim, kv_width=kv_heads * dim, width=(heads + 2 * kv_heads) * dim,
                 value_begin=(heads + kv_heads) * dim)
    text = (ALONE if alone else TRACE).format(
        **sizes, inputs=(APART if packed else PACKED).format(**sizes),
        parts="" if packed else PARTS.format(**sizes), offsets=OFFSETS if prefill else "", view=view,
        first="offsets, " if prefill else "", keys="keys_in_place" if packed else "keys",
        values="v" if packed else "same" if shared else "values")
    unused = ["" if prefill else "lengths", "values" if alone and shared else ""]
    return "".join(line for line in text.splitlines(keepends=True)
                   if not any(name and line.startswith(f"  {name}:") for name in unused))


def ask(program, chip, row, settings=()):
    """us of the whole call, and of each layer."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(trace_of(chip, row))
        file.flush()
        command = [str(program), "run", chip, file.name, "--format", "json"]
        for setting in [*PROTOCOL, *LIBRARY, *settings]:
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
