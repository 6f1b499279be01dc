# SPDX-License-Identifier: Apache-2.0
"""The section of docs/validation.md on golden rows kept apart, for tools/validation --apart: asked for a release only."""

import concurrent.futures
import os
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
import gpu_attention_rows  # noqa: E402
import gpu_collective_rows  # noqa: E402
import gpu_deepbench_rows  # noqa: E402
import gpu_gemm_rows  # noqa: E402
import gpu_layer_rows  # noqa: E402
import validation_gpus  # noqa: E402
from validation_layers import ATTENTION_ROWS  # noqa: E402

TITLE = "\n## GPUs: rows kept apart\n"
END = "\nWhere these are no worse"
HEAD = TITLE + f"""
Part of each golden set of GPUs is kept apart: neither a constant nor a mechanism was looked for beside these rows, and only these sums of
their errors have been seen. Asked for a release, by `tools/validation --apart`, as the public rows of the same source are. Of products,
those of one row are left out, for some of them were seen. Of attention the first {ATTENTION_ROWS} rows of each phase in a fixed order.

"""
TAIL = END + """ than the public rows of the sections above, nothing was fitted to the public ones by looking at them.
"""


def products(program):
    for chip in validation_gpus.CHIPS:
        rows = [row for row in gpu_gemm_rows.read(chip, "apart") if row[0] != 1]
        yield f"`{chip}`", "products", gpu_gemm_rows.errors(rows, gpu_gemm_rows.ask(program, chip, rows))


def attention(program):
    for chip in gpu_attention_rows.CHIPS:
        for phase in gpu_attention_rows.PHASES:
            rows = gpu_attention_rows.read(chip, phase, "apart")
            random.Random(1).shuffle(rows)
            rows = rows[:ATTENTION_ROWS]
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                answers = list(pool.map(lambda row, chip=chip: gpu_attention_rows.ask(program, chip, row)[0], rows))
            yield f"`{chip}`", f"attention, {phase}", [(row[6], answer / row[6] - 1) for row, answer in zip(rows, answers)]


def layers(program):
    for chip in gpu_layer_rows.CHIPS:
        rows = gpu_layer_rows.read(chip, "apart")
        answers = gpu_layer_rows.ask(program, chip, rows)
        yield f"`{gpu_layer_rows.PRESETS[chip]}`", "layers of language models", [(row[4], answer / row[4] - 1) for row, answer in zip(rows, answers)]


def collectives(program):
    for name, device in gpu_collective_rows.SETS.items():
        if not (gpu_collective_rows.GOLDEN / f"{name}_apart.csv.gz").exists():
            continue
        rows = gpu_collective_rows.read(name, "apart")
        answers = gpu_collective_rows.ask(program, name, rows)
        yield f"`{device}`", f"collectives ({name})", [(row[4], answer / row[4] - 1) for row, answer in zip(rows, answers)]


def deepbench(program):
    for op, name in (("gemm", "products of DeepBench"), ("conv", "convolutions of DeepBench")):
        rows = gpu_deepbench_rows.read(op, "apart")
        answers = gpu_deepbench_rows.ask(program, op, rows)
        yield "`v100`", name, [(time, answer / time - 1) for (_, time), answer in zip(rows, answers)]


def text(program):
    page = validation_gpus.line(["device", "rows of", "rows", "error %", "bias %", "by time %"]) + "|---|---|" + "---:|" * 4 + "\n"
    for part in (products, attention, layers, collectives, deepbench):
        for device, name, found in part(program):
            page += validation_gpus.line([device, name, *validation_gpus.cells(found)])
            print(page.splitlines()[-1], file=sys.stderr, flush=True)
    return page


def section(program, written, again):
    kept = validation_gpus.kept_between(written, TITLE, "| device", END)
    table = text(program) if again else kept
    return HEAD + table + TAIL if table else ""
