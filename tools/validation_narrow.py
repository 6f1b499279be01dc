# SPDX-License-Identifier: Apache-2.0
"""The section of docs/validation.md on GPUs' narrow formats, for tools/validation --layers."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
import gpu_narrow_rows  # noqa: E402
import validation_gpus  # noqa: E402

TITLE = "\n## GPUs: fp8, fp4 and numbers in blocks\n"
HEAD = TITLE + """
Products of 8192 x 8192 x K, and batches of them, as a compiler's authors measured them on a B200 and an H800 (here `h100`, which has the same SMs), with cuBLAS and with kernels of their own (`tests/golden/gpu_narrow`). Asked
with the clock that power settles on. Nothing was fitted to them. Written by `tools/validation --layers`.
"""

NOT_MODELLED = """
Kernels that Triton makes are slower than the library's; they are here for their formats, and no tile of theirs is in the catalogue. **What is not modelled**, and shows: what narrow formats draw of the
chip's power besides their bytes (a MAC draws in proportion to the rate at its format).
"""


def text(program):
    line = validation_gpus.line
    page = "\n" + line(["chip", "library", "format", "m x n x k", "measured, TFLOP/s", "**Systole**", "time, %"])
    page += "|---|---|---|---|" + "---:|" * 3 + "\n"
    errors = {}
    for chip in gpu_narrow_rows.CHIPS:
        for row, measured, here in gpu_narrow_rows.products(program, chip):
            error = measured / here - 1
            errors.setdefault((chip, row["library"], row["format"]), []).append((1.0, error))
            page += line([chip, row["library"], row["format"], f"{row['m']} x {row['n']} x {row['k']}", f"{measured:,.0f}",
                          f"**{here:,.0f}**", f"{100 * error:+.1f}"])
    page += "\n" + line(["chip", "library", "format", "rows", "error %", "bias %"]) + "|---|---|---|" + "---:|" * 3 + "\n"
    for names, found in errors.items():
        page += line([*names, *validation_gpus.cells(found)[:3]])
    return page


def section(program, written, again):
    return HEAD + (text(program) if again else validation_gpus.kept_between(written, TITLE, "\n| ", NOT_MODELLED)) + NOT_MODELLED
