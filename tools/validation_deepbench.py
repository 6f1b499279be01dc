# SPDX-License-Identifier: Apache-2.0
"""The section of docs/validation.md on a V100 beside DeepBench, and its picture, for tools/validation --layers."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
import gpu_deepbench_rows  # noqa: E402
import validation_gpus  # noqa: E402

# What mechanisms do: without each, for all rows of products and of convolutions.
WITHOUT = {
    "as shipped": [],
    "parts of K for every kernel": ["kernels.split_k=offered"],
    "parts of K for none": ["kernels.split_k=never"],
    "no Winograd": ["kernels.winograd=false"],
    "no time between kernels": ["launch.stream=0 ns"],
}

TITLE = "\n## GPUs: a V100 beside DeepBench\n"
HEAD = TITLE + """
Measured times of cuBLAS's products and cuDNN's convolutions (forward) on a V100 (SXM2) beside those of `v100`, asked as they were timed: by the host's clock around many calls on the same
operands (`tests/golden/gpu_deepbench`, public rows; calibration rows and those kept apart are not among them). Nothing is calibrated; which kernels the library has was looked for beside
the public rows. The algorithm is the one that cuDNN took; ours is the best by estimate of implicit GEMM and Winograd's F(4x4). Written by `tools/validation --layers`.
"""

NOT_MODELLED = """
**What is not modelled**, and shows: how matrices lie (of fp16 products of few columns, N x N takes up to 30 % less than T x N); which tile the library takes where several are close (fp32
products of 16 to 64 columns take as long as tiles of 64 x 32, ours are of 32 x 32); cuDNN's small kernels ahead of a convolution (computeOffsetsKernel); Winograd's fused kernel. Rows of Winograd with eight images
take half as long again as their bytes and multiplications tell, those with sixteen do not.
"""


def errors_of(program, op, rows, settings=()):
    answers = gpu_deepbench_rows.ask(program, op, rows, settings)
    return [(time, answer / time - 1) for (_, time), answer in zip(rows, answers)]


def text(program):
    line, cells = validation_gpus.line, validation_gpus.cells
    rows = {op: gpu_deepbench_rows.read(op) for op in gpu_deepbench_rows.OPS}
    series = []
    for op in gpu_deepbench_rows.OPS:
        found = errors_of(program, op, rows[op])
        groups = [gpu_deepbench_rows.group(op, row) for row, _ in rows[op]]
        for name in sorted(set(groups)):
            series.append((f"{op} {name}", [e for e, g in zip(found, groups) if g == name]))
        series.append((f"{op}, all", found))
    drawn = [(name, found) for name, found in series if not name.endswith("all")]
    names = [("products", [f for n, f in drawn if n.startswith("gemm")]), ("convolutions", [f for n, f in drawn if n.startswith("conv")])]
    (validation_gpus.PICTURES / "gpu_deepbench_v100.svg").write_text(validation_gpus.scatter(
        "V100 (SXM2, 32 GB)", [(name, colour, sum(found, [])) for (name, found), colour in zip(names, validation_gpus.COLOURS)]))
    page = "\n![simulated against measured time](pictures/gpu_deepbench_v100.svg)\n\n"
    page += line(["rows of", "rows", "error %", "bias %", "by time %"]) + "|---|" + "---:|" * 4 + "\n"
    for name, found in series:
        page += line([name, *cells(found)])
    page += "\n" + line(["", "products, error %", "bias %", "convolutions, error %", "bias %"]) + "|---|" + "---:|" * 4 + "\n"
    for name, settings in WITHOUT.items():
        page += line([name, *(cell for op in gpu_deepbench_rows.OPS
                              for cell in cells(errors_of(program, op, rows[op], settings))[1:3])])
    return page


def section(program, written, again):
    return HEAD + (text(program) if again else validation_gpus.kept_between(written, TITLE, "\n![", NOT_MODELLED)) + NOT_MODELLED
