# SPDX-License-Identifier: Apache-2.0
"""Measured layers of language models on GPUs (tests/golden/gpu_layers), asked of the program as they were timed."""

import csv
import gzip
import json
import pathlib
import subprocess
import tempfile

import gpu_gemm_rows

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "gpu_layers"
CHIPS = ["a100", "h100"]
OPS = ("emb", "input_layernorm", "attn_pre_proj", "attn_rope", "attn_post_proj", "add", "post_attention_layernorm", "mlp_up_proj",
       "mlp_act", "mlp_down_proj")
# Kernels' own times, in loops: caches as the run before left them. Profilers count a kernel from its start on the chip.
PROTOCOL = ["run.repeat=2", "run.launch=none", "calibrated.replay_gap=0 ns", "kernels.layers=vllm"]
# hidden size, feed-forward size, heads of queries, heads of keys, words: the models' config.json. A head has 128 elements.
MODELS = {"llama-2-7b-hf": (4096, 11008, 32, 32, 32000), "llama-2-70b-hf": (8192, 28672, 64, 8, 32000),
          "qwen-72b": (8192, 24576, 64, 64, 152064), "internlm-20b": (5120, 13824, 40, 40, 103168)}
HEAD = 128


def read(chip, part="public"):
    """(op, model, tokens, chips that share it, microseconds) of every row."""
    with gzip.open(GOLDEN / f"{chip}_{part}.csv.gz", "rt") as file:
        return [(r["op"], r["model"], int(r["tokens"]), int(r["tensor_parallel"]), float(r["latency_us"])) for r in csv.DictReader(file)]


def product(tokens, n, k):
    return {"op": "matmul", "m": tokens, "n": n, "k": k}


def columns(op, model, tokens, chips):
    """As `systole op --csv` names them."""
    hidden, inner, heads, kv_heads, words = MODELS[model]
    if op == "emb":
        # As many of the tokens' words as the chip has are looked up; others are set to zero, and read row 0.
        return {"op": "embedding", "vocabulary": words // chips, "width": hidden, "lookups": tokens, "spread": "random"}
    if op == "attn_rope":
        return {"op": "rotary", "batch": 1, "seq": tokens, "heads": max(1, heads // chips) + max(1, kv_heads // chips), "dim": HEAD}
    if op == "add":
        return {"op": "elementwise", "kind": "add", "elements": tokens * hidden}
    if op.endswith("layernorm"):
        return {"op": "norm", "kind": "rms", "rows": tokens, "cols": hidden}
    sizes = {"attn_pre_proj": ((max(1, heads // chips) + 2 * max(1, kv_heads // chips)) * HEAD, hidden),
             "attn_post_proj": (hidden, max(1, heads // chips) * HEAD), "mlp_up_proj": (2 * inner // chips, hidden),
             "mlp_down_proj": (hidden, inner // chips)}
    return product(tokens, *sizes[op])


def ask_gate(program, chip, tokens, width, settings):
    """Microseconds of SiLU of one tensor times another: rows have a width, which a single operator has no key for."""
    trace = (f"trace: gate\ninputs:\n  gate: {{shape: [{tokens}, {width}], dtype: fp16}}\n  up: {{shape: [{tokens}, {width}], dtype: fp16}}\n"
             "layers:\n  - {name: silu, op: activation, function: silu, in: gate}\n"
             "  - {name: product, op: elementwise, kind: mul, in: [silu, up]}\noutputs: [product]\n")
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(trace)
        file.flush()
        words = [program, "run", chip, file.name, "--format", "json"]
        for setting in [*settings, "run.inputs_at=dram", "run.outputs_to=dram"]:
            words += ["--set", setting]
        done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr or done.stdout)
    return json.loads(done.stdout)["devices"][0]["total"]["time_ns"] / 1000


def ask(program, chip, rows, settings=()):
    """Microseconds that the program answers, row by row; all of one operator."""
    settings = [*PROTOCOL, *settings]
    if rows[0][0] == "mlp_act":
        return [ask_gate(program, chip, tokens, MODELS[model][1] // chips, settings) for _, model, tokens, chips, _ in rows]
    asked = [{"dtype": "fp16", **columns(*row[:4])} for row in rows]
    return gpu_gemm_rows.ask_table(program, chip, asked, settings)
