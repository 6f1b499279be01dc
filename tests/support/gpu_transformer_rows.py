# SPDX-License-Identifier: Apache-2.0
"""LLMCompass's layer of GPT-3 on four A100 (tests/golden/gpu_transformer), operator by operator, asked of the program."""

import csv
import gzip
import pathlib

import gpu_gemm_rows
import gpu_vector_rows

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "gpu_transformer"
WIDTH, HEADS, CHIPS, BATCH = 12288, 96, 4, 8
SHARE, HEAD = WIDTH // CHIPS, WIDTH // HEADS
TOTALS_US = {"prefill": 66750.0, "decode": 1111.0}


def layer(phase):
    """(name, how often, whose constant, columns) of each operator."""
    rows, keys = (2048, 2048) if phase == "prefill" else (1, 3072)
    tokens, heads = BATCH * rows, BATCH * HEADS // CHIPS

    def product(name, m, n, k, batch=1, times=1):
        return name, times, "matmul", {"op": "matmul", "m": m, "n": n, "k": k, "batch": batch}

    norm = {"op": "norm", "kind": "layer", "rows": tokens, "cols": WIDTH}
    total = {"op": "collective", "kind": "all_reduce", "elements": tokens * WIDTH, "chips": CHIPS}
    return [product("Q_K_V", tokens, SHARE, WIDTH, times=3), product("Q_mul_K", rows, keys, HEAD, heads),
            ("Softmax", 1, "softmax", {"op": "softmax", "rows": heads * rows, "cols": keys}),
            product("A_mul_V", rows, HEAD, keys, heads), product("Wo_proj", tokens, WIDTH, SHARE), ("AllReduce_MHA", 1, None, total),
            ("LayerNorm_MHA", 1, "layernorm", norm), product("W1_proj", tokens, 4 * SHARE, WIDTH),
            ("GeLU", 1, "gelu", {"op": "activation", "function": "gelu", "elements": tokens * 4 * SHARE}),
            product("W2_proj", tokens, WIDTH, 4 * SHARE), ("AllReduce_FFN", 1, None, total), ("LayerNorm_FFN", 1, "layernorm", norm)]


def operators(program, phase, settings=()):
    """(name, microseconds of its kernels, of the host's launches, measured or None) of each operator."""
    with gzip.open(GOLDEN / "a100.csv.gz", "rt") as file:
        measured = {(row["phase"], row["op"]): float(row["latency_us"]) for row in csv.DictReader(file)}
    for name, times, constant, columns in layer(phase):
        protocol = [*gpu_vector_rows.PROTOCOL, gpu_vector_rows.kernels_of(constant)]
        [one] = gpu_gemm_rows.ask_table(program, "a100", [{"dtype": "fp16", **columns}], [*protocol, *settings])
        yield name, times * one, times * gpu_vector_rows.HOST_US.get(constant, 0.0), measured.get((phase, name))
