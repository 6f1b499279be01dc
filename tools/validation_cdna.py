# SPDX-License-Identifier: Apache-2.0
"""The section of docs/validation.md on AMD's GPUs, and its picture, for tools/validation --layers."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
import gpu_cdna3_rows  # noqa: E402
import gpu_vector_rows  # noqa: E402
import validation_gpus  # noqa: E402

TITLE = "\n## GPUs: AMD's CDNA\n"
HEAD = TITLE + """
**MI210.** LLMCompass's measured operators, by the host's clock, with its own constants for the launch (`tests/golden/gpu_vector`). Its list has them in fp16; products are asked in bf16,
too, in which its script makes them, and softmax, norms and GELU in fp32, for in fp16 their bytes would be half of what a stream of this board was measured to move in that time.

**MI300X, MI325X.** Products as AMD and others published them (`tests/golden/gpu_cdna3`: sources, clocks, how long each ran), mostly one figure of a chip each; time is asked with weights that the caches have lost and the clock that power
has settled. Nothing is calibrated but `tensor_power`, by one published clock (`configs/devices/mi300x.yaml`). Written by `tools/validation --layers`.
"""

NOT_MODELLED = """
**What is not modelled**, and shows: hipBLASLt's own tiles and depths of prefetch, from which thin fp8 products and small ones would be slower; the table of the version of rocBLAS that an MI210's products ran with (other versions' stands for it); what
an MI210 draws under a long product (concluded from an MI300X's); xf32 and fp32 on matrix cores, 2:4 sparsity, partitions of a chip (NPS, CPX).
"""
FORMATS = {"matmul": ("fp16", "bf16"), "softmax": ("fp16", "fp32"), "layernorm": ("fp16", "fp32"), "gelu": ("fp16", "fp32")}


def operators(program):
    """(name, its errors) of the MI210's."""
    for op, formats in FORMATS.items():
        rows = gpu_vector_rows.read(op, "mi210")
        for dtype in formats:
            answers = gpu_vector_rows.ask(program, op, rows, chip="mi210", dtype=dtype)
            errors = gpu_vector_rows.errors(op, rows, answers, "mi210")
            yield f"{op}, {dtype}", [(time, error) for (_, time), error in zip(rows, errors)]


def text(program):
    line, cells = validation_gpus.line, validation_gpus.cells
    series = list(operators(program))
    drawn = [(name, colour, found) for (name, found), colour in zip(series, validation_gpus.COLOURS)]
    (validation_gpus.PICTURES / "gpu_operators_mi210.svg").write_text(validation_gpus.scatter("MI210", drawn))
    page = "\n![simulated against measured time](pictures/gpu_operators_mi210.svg)\n\n"
    page += line(["MI210", "rows", "error %", "bias %", "by time %"]) + "|---|" + "---:|" * 4 + "\n"
    page += "".join(line([name, *cells(found)]) for name, found in series)
    page += "\n" + line(["chip", "set", "m x n x k", "in", "out", "measured, TFLOP/s", "**Systole**", "time, %"])
    page += "|---|---|---|---|---|" + "---:|" * 3 + "\n"
    found = [(r["chip"], r["set"], f"{r['m']} x {r['n']} x {r['k']}", r["dtype"], r["dtype_out"], measured, here)
             for r, measured, here in gpu_cdna3_rows.products(program)]
    found += [("mi325x", "taf", "ten shapes", dtype, "fp16" if dtype == "fp8" else dtype, measured, here)
              for dtype, measured, here in gpu_cdna3_rows.typical(program)]
    for *names, measured, here in found:
        page += line([*names, f"{measured:,.1f}", f"**{here:,.1f}**", f"{100 * (measured / here - 1):+.1f}"])
    return page


def section(program, written, again):
    return HEAD + (text(program) if again else validation_gpus.kept_between(written, TITLE, "\n![", NOT_MODELLED)) + NOT_MODELLED
