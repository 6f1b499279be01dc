#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""LLMCompass's layer of GPT-3 on four A100 (tests/golden/gpu_transformer), operator by operator, as PyTorch ran it: nothing joined,
scores of attention as tensors. What the host takes to launch is added as LLMCompass does, one constant for each operator.

    tests/bench/gpu_transformer.py PROGRAM [--set PATH=VALUE ...]

PROGRAM is for example build/systole.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import gpu_transformer_rows  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--set", action="append", default=[])
    asked = parser.parse_args()
    print(f"{'us':>24} {'kernels':>9} {'host':>6} {'together':>9} {'measured':>9} {'error %':>8}")
    for phase, whole in gpu_transformer_rows.TOTALS_US.items():
        kernels = host = 0.0
        for name, own, added, seen in gpu_transformer_rows.operators(asked.program, phase, asked.set):
            kernels, host = kernels + own, host + added
            print(f"{phase:>8} {name:>15} {own:9.1f} {added:6.0f} {own + added:9.1f} "
                  + (f"{seen:9.1f} {100 * ((own + added) / seen - 1):8.1f}" if seen else ""), flush=True)
        print(f"{phase:>8} {'all':>15} {kernels:9.1f} {host:6.0f} {kernels + host:9.1f} {whole:9.1f} {100 * ((kernels + host) / whole - 1):8.1f}"
              f"   (kernels alone {100 * (kernels / whole - 1):.1f} %)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
