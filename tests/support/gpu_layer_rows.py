# SPDX-License-Identifier: Apache-2.0
"""Measured layers of language models on GPUs (tests/golden/gpu_layers), asked of the program as they were timed."""

import concurrent.futures
import csv
import gzip
import json
import os
import pathlib
import subprocess
import tempfile

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "gpu_layers"
CHIPS = ["a100", "h100"]
# vidur's A100 is concluded to be the PCIe card of Azure's NC96ads_A100_v4 (tests/golden/gpu_layers/README.md).
PRESETS = {"a100": "a100_pcie", "h100": "h100"}
OPS = ("emb", "input_layernorm", "attn_pre_proj", "attn_rope", "attn_post_proj", "add", "post_attention_layernorm", "mlp_up_proj",
       "mlp_act", "mlp_down_proj")
# Kernels' own times within the second of two blocks, behind others' weights: caches have what the layers before have just read and
# written, and the clock is that which 20 such blocks leave. Profilers count a kernel from its start on the chip.
PROTOCOL = ["run.launch=none", "calibrated.replay_gap=0 ns", "kernels.layers=vllm", "run.inputs_at=dram", "run.outputs_to=dram",
            "run.repeat=2", "run.timed_turns=20"]
# hidden size, feed-forward size, heads of queries, heads of keys, words: the models' config.json. A head has 128 elements.
MODELS = {"llama-2-7b-hf": (4096, 11008, 32, 32, 32000), "llama-2-70b-hf": (8192, 28672, 64, 8, 32000),
          "qwen-72b": (8192, 24576, 64, 64, 152064), "internlm-20b": (5120, 13824, 40, 40, 103168)}
HEAD = 128
# Layers that one kernel does are told as the first of them.
TOLD_AS = {"mlp_act": "silu"}


def read(chip, part="public"):
    """(op, model, tokens, chips that share it, microseconds) of every row."""
    with gzip.open(GOLDEN / f"{chip}_{part}.csv.gz", "rt") as file:
        return [(r["op"], r["model"], int(r["tokens"]), int(r["tensor_parallel"]), float(r["latency_us"])) for r in csv.DictReader(file)]


def layers(model, tokens, chips):
    """The block that vidur times (profiling/mlp/mlp_impl.py), whose layers have the names of OPS; others stand for what it does besides. Queries
    and keys are turned by one kernel, where copies of them lie; the result of attention are random numbers there, another copy here; the halves of
    the gated feed-forward are taken apart by copies."""
    hidden, inner, heads, kv_heads, words = MODELS[model]
    # As many of the tokens' words as the chip has are looked up; others are set to zero, and read row 0.
    heads, kv_heads, inner, words = max(1, heads // chips), max(1, kv_heads // chips), inner // chips, words // chips
    return [f"{{name: emb, op: embedding, vocabulary: {words}, width: {hidden}, spread: random, dtype: fp16}}",
            "{name: input_layernorm, op: norm, kind: rms}",
            f"{{name: attn_pre_proj, op: matmul, n: {(heads + 2 * kv_heads) * HEAD}}}",
            f"{{name: queries, op: slice, size: {heads * HEAD}}}",
            f"{{name: keys, op: slice, in: attn_pre_proj, begin: {heads * HEAD}, size: {kv_heads * HEAD}}}",
            f"{{name: query_heads, op: reshape, in: queries, shape: [1, {tokens}, {heads}, {HEAD}]}}",
            f"{{name: key_heads, op: reshape, in: keys, shape: [1, {tokens}, {kv_heads}, {HEAD}]}}",
            "{name: attn_rope, op: rotary, in: query_heads, axis: 1}",
            "{name: keys_turned, op: rotary, in: key_heads, axis: 1}",
            f"{{name: attention, op: slice, in: attn_pre_proj, size: {heads * HEAD}}}",
            f"{{name: attn_post_proj, op: matmul, n: {hidden}}}",
            "{name: residual, op: elementwise, kind: add, in: [attn_post_proj, emb]}",
            "{name: post_attention_layernorm, op: norm, kind: rms}",
            f"{{name: mlp_up_proj, op: matmul, n: {2 * inner}}}",
            "{name: gate, op: slice, part: 0, parts: 2}",
            "{name: up, op: slice, in: mlp_up_proj, part: 1, parts: 2}",
            "{name: silu, op: activation, function: silu, in: gate}",
            "{name: mlp_act, op: elementwise, kind: mul, in: [silu, up]}",
            f"{{name: mlp_down_proj, op: matmul, n: {hidden}}}",
            "{name: add, op: elementwise, kind: add, in: [mlp_down_proj, residual]}"]


def trace(op, model, tokens, chips):
    """The block, for one of its operators. What is an output joins nothing, and nothing joins it."""
    outputs = {op, "attn_rope", "keys_turned", "attn_post_proj", "mlp_down_proj", "add"}
    lines = "".join(f"  - {layer}\n" for layer in layers(model, tokens, chips))
    return (f"trace: block\ninputs:\n  tokens: {{shape: [{tokens}], dtype: int32}}\nlayers:\n{lines}"
            f"outputs: [{', '.join(sorted(outputs))}]\n")


def ask_one(program, chip, row, settings=()):
    """Microseconds of a row's operator within its block."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(trace(*row[:4]))
        file.flush()
        words = [program, "run", PRESETS[chip], file.name, "--format", "json"]
        for setting in [*PROTOCOL, *settings]:
            words += ["--set", setting]
        done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr or done.stdout)
    name = TOLD_AS.get(row[0], row[0])
    return next(layer["time_ns"] for layer in json.loads(done.stdout)["devices"][0]["layers"] if layer["name"] == name) / 1000


def ask(program, chip, rows, settings=()):
    """Microseconds that the program answers, row by row; as many rows at once as there are processors."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda row: ask_one(program, chip, row, settings), rows))
