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
import validation_summary  # noqa: E402
from validation_layers import ATTENTION_ROWS  # noqa: E402

TITLE = "\n## GPUs: rows kept apart\n"
END = "\nWhere these are no worse"
HEAD = TITLE + f"""
Part of each golden set of GPUs is kept apart: neither a constant nor a mechanism was looked for beside these rows, and only these sums of
their errors have been seen. Asked for a release, by `tools/validation --apart`, as the public rows of the same source are. Of products,
those of one row are left out, for some of them were seen. Of attention the first {ATTENTION_ROWS} rows of each phase in a fixed order.
Of collectives some had been seen, in means of the library's own model (`tests/golden/gpu_collectives`).
Beside them stand the public rows of the same source, as in their sections above.

"""
TAIL = END + """ than the public rows, nothing was fitted to the public ones by looking at them.
"""
# Sets of which rows are kept apart, as the page names them, and what its sections call their public rows.
DEEPBENCH = {"products of DeepBench": "gemm", "convolutions of DeepBench": "conv"}
LAYERS = "layers of language models"


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
        yield f"`{gpu_layer_rows.PRESETS[chip]}`", LAYERS, [(row[4], answer / row[4] - 1) for row, answer in zip(rows, answers)]


def collectives(program):
    for name, device in gpu_collective_rows.SETS.items():
        if not (gpu_collective_rows.GOLDEN / f"{name}_apart.csv.gz").exists():
            continue
        rows = gpu_collective_rows.read(name, "apart")
        answers = gpu_collective_rows.ask(program, name, rows)
        yield f"`{device}`", f"collectives ({name})", [(row[4], answer / row[4] - 1) for row, answer in zip(rows, answers)]


def deepbench(program):
    for name, op in DEEPBENCH.items():
        rows = gpu_deepbench_rows.read(op, "apart")
        answers = gpu_deepbench_rows.ask(program, op, rows)
        yield "`v100`", name, [(time, answer / time - 1) for (_, time), answer in zip(rows, answers)]


def public(page, device, name):
    """Cells of the public rows of the same source, as the page has them: rows, error, bias."""
    chip, columns = device.strip("`"), (1, 2, 3)
    if name == "products":
        title, wanted = f"### {validation_gpus.CHIPS[chip]}", lambda cells: cells[0] == "all"
    elif name in DEEPBENCH:
        title, wanted = "## GPUs: a V100 beside DeepBench", lambda cells: cells[0] == f"{DEEPBENCH[name]}, all"
    elif name.startswith("collectives"):
        title, columns, wanted = "## GPUs: collectives", (4, 7, 8), lambda cells: name == f"collectives ({cells[0]})"
    else:
        (chip,) = (key for key in validation_gpus.CHIPS if chip in (key, gpu_layer_rows.PRESETS.get(key)))
        title = f"### Layers on {validation_gpus.CHIPS[chip]}"
        wanted = (lambda cells: cells[0].strip("`") in gpu_layer_rows.OPS) if name == LAYERS else lambda cells: cells[0] == name
    counts, *percents = (validation_summary.table(validation_summary.part(page, title), column, wanted) for column in columns)
    error, bias = (sum(count * percent for count, percent in zip(counts, part)) / sum(counts) for part in percents)
    return [f"{sum(counts):,.0f}", f"{error:.1f}", f"{bias:+.1f}"]


def answers(program):
    """Cells of every set's rows, asked now."""
    for part in (products, attention, layers, collectives, deepbench):
        for device, name, found in part(program):
            cells = [device, name, *validation_gpus.cells(found)]
            print(validation_gpus.line(cells), end="", file=sys.stderr, flush=True)
            yield cells


def kept(written):
    """The same, as the page has them from an earlier time."""
    lines = validation_gpus.kept_between(written, TITLE, "| `", END).splitlines()
    return [line.strip("| ").split(" | ")[:6] for line in lines if line]


def section(program, written, again, page):
    rows = list(answers(program)) if again else kept(written)
    if not rows:
        return ""
    text = validation_gpus.line(["device", "rows of", "rows", "error %", "bias %", "by time %", "public rows", "error %", "bias %"]) + "|---|---|" + "---:|" * 7 + "\n"
    return HEAD + text + "".join(validation_gpus.line([*cells, *public(page, *cells[:2])]) for cells in rows) + TAIL
