#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""LLMCompass's layer of GPT-3 on four A100 (tests/golden/gpu_transformer), operator by operator, as PyTorch ran it: nothing joined,
scores of attention as tensors. What the host takes to launch is added as LLMCompass does, one constant for each operator.

    tests/bench/gpu_transformer.py PROGRAM [--set PATH=VALUE ...]

PROGRAM is for example build/systole.
"""

import argparse
import csv
import gzip
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "support"))
import gpu_gemm_rows  # noqa: E402
import gpu_vector_rows  # noqa: E402

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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--set", action="append", default=[])
    asked = parser.parse_args()
    with gzip.open(TESTS / "golden" / "gpu_transformer" / "a100.csv.gz", "rt") as file:
        measured = {(row["phase"], row["op"]): float(row["latency_us"]) for row in csv.DictReader(file)}
    print(f"{'us':>24} {'kernels':>9} {'host':>6} {'together':>9} {'measured':>9} {'error %':>8}")
    for phase, whole in TOTALS_US.items():
        kernels = host = 0.0
        for name, times, constant, columns in layer(phase):
            settings = [*gpu_vector_rows.PROTOCOL, *asked.set]
            [one] = gpu_gemm_rows.ask_table(asked.program, "a100", [{"dtype": "fp16", **columns}], settings)
            own, added = times * one, times * gpu_vector_rows.HOST_US.get(constant, 0.0)
            kernels, host = kernels + own, host + added
            seen = measured.get((phase, name))
            print(f"{phase:>8} {name:>15} {own:9.1f} {added:6.0f} {own + added:9.1f} "
                  + (f"{seen:9.1f} {100 * ((own + added) / seen - 1):8.1f}" if seen else ""), flush=True)
        print(f"{phase:>8} {'all':>15} {kernels:9.1f} {host:6.0f} {kernels + host:9.1f} {whole:9.1f} {100 * ((kernels + host) / whole - 1):8.1f}"
              f"   (kernels alone {100 * (kernels / whole - 1):.1f} %)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
