# SPDX-License-Identifier: Apache-2.0
"""The section of docs/validation.md on power, for tools/validation."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
WITHIN = 0.25

HEAD = """
## Power of whole devices

What tables of energies say (`models/energy`; nothing is fitted), beside published power. Energies of operations are those of papers, scaled to the chip's process; idle
power is published or assumed, as the preset says. A row that gates should be within 25 %; the others stand beside what is known of
different work.

- **Large products.** Boards that run them for long draw what their limit allows: 400 W (A100, SXM), 700 W (H100, SXM). The clock under that limit is
  another model's (`power.*`, one calibrated value), which does not know these tables, nor they it.
- **TPU v3, v4**: mean power of chips in production (Jouppi et al., ISCA 2023, table 4, as remembered: idle, least, mean and most 123, 175, 220, 262 W and 90, 121, 170, 192 W), of
  work that is not told.
- **V100**: kernels that AccelWattch's authors measured (Kandiah et al., MICRO 2021): `parboil_sgemm` and `cudaTensorCoreGemm` of the CUDA samples, whose sizes and clocks
  are not told, of 25 that drew 102 to 230 W, beside products by our library's kernels at the highest clock. Ours draw far more (the three of `cutlass`, of sizes not told, too: 101.9, 121.6 and 178.0 W). Volta's tensor instructions are counted as they are issued, each with all of its registers
  (steps of `HMMA.884`, 4 B a MAC); the reuse caches of operands, which the chip has for that, are not modelled, nor that the sample keeps tensor cores waiting.

"""

PRODUCT = ("matmul", "m=8192", "n=8192", "k=8192", "--set", "run.protocol=graph_replay")
TPU_PRODUCT = ("matmul", "m=8192", "n=8192", "k=8192")
V100 = ("matmul", "m=4096", "n=4096", "k=4096", "--set", "run.protocol=graph_replay")
# device, what runs, arguments, published watts, what that is, whether it gates
ROWS = (
    ("tpu_v1", "CNN0", ("run", "tpu_v1", "tpu_v1_cnn0"), 40, "busy, measured (Jouppi et al., ISCA 2017)", True),
    ("a100", "8192³, fp16", ("op", "a100", *PRODUCT, "dtype=fp16"), 400, "the board's limit", True),
    ("a100_pcie", "8192³, fp16", ("op", "a100_pcie", *PRODUCT, "dtype=fp16"), 300, "the board's limit", False),
    ("h100", "8192³, bf16", ("op", "h100", *PRODUCT), 700, "the board's limit", True),
    ("h100_pcie", "8192³, bf16", ("op", "h100_pcie", *PRODUCT), 350, "the board's limit", False),
    ("l40s", "8192³, bf16", ("op", "l40s", *PRODUCT), 350, "the board's limit", False),
    ("l4", "8192³, bf16", ("op", "l4", *PRODUCT), 72, "the board's limit", False),
    ("b200", "8192³, bf16", ("op", "b200", *PRODUCT), 1000, "the board's limit", False),
    ("mi300x", "8192³, bf16", ("op", "mi300x", *PRODUCT), 750, "the board's limit", False),
    ("tpu_v3_chip", "ResNet-50, batch 32", ("run", "tpu_v3_chip", "resnet50", "--set", "workload.batch=32"), 220, "mean in production", False),
    ("tpu_v3_chip", "8192³, bf16", ("op", "tpu_v3_chip", *TPU_PRODUCT), 262, "most in production", False),
    ("tpu_v4_chip", "ResNet-50, batch 32", ("run", "tpu_v4_chip", "resnet50", "--set", "workload.batch=32"), 170, "mean in production", False),
    ("tpu_v4_chip", "8192³, bf16", ("op", "tpu_v4_chip", *TPU_PRODUCT), 192, "most in production", False),
    ("v100", "4096³, fp32", ("op", "v100", *V100, "dtype=fp32"), 217.5, "parboil_sgemm, measured", False),
    ("v100", "4096³, fp16", ("op", "v100", *V100, "dtype=fp16"), 182.0, "cudaTensorCoreGemm, measured", False),
)


def line(cells):
    return "| " + " | ".join(cells) + " |\n"


def answer(program, arguments):
    done = subprocess.run([program, *arguments, "--format", "json"], capture_output=True, text=True, check=True,
                          env={**os.environ, "SYSTOLE_HOME": str(ROOT)})
    (device,) = json.loads(done.stdout)["devices"]
    return device


def section(program):
    page = HEAD + line(["device", "work", "published, W", "what that is", "**Systole, W**", "difference %", "within 25 %", "idle, memory, on chip, matrix, instructions: %"])
    page += "|---|---|---:|---|---:|---:|---|---|\n"
    for device, work, arguments, published, what, gates in ROWS:
        result = answer(program, arguments)
        watts, parts = result["power"]["average_w"], result["total"]["energy_pj"]
        off = watts / published - 1
        inside = "–" if not gates else "yes" if abs(off) <= WITHIN else "**no**"
        shares = ", ".join(f"{100 * parts[part] / parts['total']:.0f}" for part in ("static", "memory", "on_chip", "matrix", "instructions"))
        page += line([device, work, f"{published:g}", what, f"**{watts:.1f}**", f"{100 * off:+.1f}", inside, shares])
    return page
