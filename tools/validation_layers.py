# SPDX-License-Identifier: Apache-2.0
"""The section of docs/validation.md on what GPUs run besides products, and its pictures, for tools/validation --layers."""

import concurrent.futures
import os
import pathlib
import random
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
import gpu_attention_rows  # noqa: E402
import gpu_layer_rows  # noqa: E402
import gpu_vector_rows  # noqa: E402
import validation_gpus  # noqa: E402

CHIPS = ["a100", "h100", "h200"]
ATTENTION_ROWS = 60  # of each phase: a prefill of the H100 takes a CPU second

HEAD = """
## GPUs: attention, norms, lookups and others

Measured times of layers beside those of `a100`, `h100` and `h200`, asked as they were timed. Nothing was fitted to them; the chips' four
constants are those found with products. Mechanisms were looked for beside these rows, others are kept apart.

- **attention**: TensorRT-LLM's, bf16, in a graph (`tests/golden/gpu_attention`; the first {rows} public rows of each phase in a fixed order).
- **layers of language models**: vLLM's of 2023 in fp16, kernels' own times within a block of layers, with `kernels.layers=vllm` (`tests/golden/gpu_layers`; 40 public rows of each).
- **single operators**: PyTorch's of 2023 in fp16 (norms and GELU through torch.compile) by the host's clock, with LLMCompass's constants for the launch (`tests/golden/gpu_vector`), which its own model needs, too: with them it is
  7.9, 10.5, 8.3 and 6.1 % off on these rows (products, softmax, layer norm, GELU; on all that it was published with 6.5, 9.4, 8.7 and 5.5).

Written by `tools/validation --layers` (an hour).
"""

NOT_MODELLED = """
**What is not modelled**, and shows: what XQA's decoding kernel waits for between its phases, which is most of a short cache's time (hardly the fetching of instructions: `docs/status.md`); what FP32 and special pipes draw of the chip's power, and so the clock of a chip that runs a whole block with large products; why rotary embeddings of many tokens take a quarter longer on an A100 than their instructions and bytes (a tenth on an H100). Supposed: that cuBLAS 12.1 had no nvjet kernels on the H100 (products of `attn` and `mlp`
there). Why PyTorch's softmax of long rows takes a fifth longer than its instructions do is not known.
"""


def attention(program, chip):
    series = []
    for phase in gpu_attention_rows.PHASES:
        rows = gpu_attention_rows.read(chip, phase, "public")
        random.Random(1).shuffle(rows)
        rows = rows[:ATTENTION_ROWS]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            answers = list(pool.map(lambda row: gpu_attention_rows.ask(program, chip, row)[0], rows))
        series.append((f"attention, {phase}", [(row[6], answer / row[6] - 1) for row, answer in zip(rows, answers)]))
    return series


def layers(program, chip):
    if chip not in gpu_layer_rows.CHIPS:
        return []
    every = gpu_layer_rows.read(chip)
    series = []
    for op in gpu_layer_rows.OPS:
        rows = [row for row in every if row[0] == op]
        answers = gpu_layer_rows.ask(program, chip, rows)
        series.append((op, [(row[4], answer / row[4] - 1) for row, answer in zip(rows, answers)]))
    return series


def operators(program, chip):
    if chip != "a100":
        return []
    series = []
    for op in gpu_vector_rows.OPS:
        rows = gpu_vector_rows.read(op)
        errors = gpu_vector_rows.errors(op, rows, gpu_vector_rows.ask(program, op, rows))
        series.append((f"{op}, with the host's launch", [(time, error) for (_, time), error in zip(rows, errors)]))
    return series


def chip_text(program, chip):
    title = validation_gpus.CHIPS[chip]
    parts = [("attention", attention(program, chip)), ("layers of language models", layers(program, chip)),
             ("single operators", operators(program, chip))]
    series = [(name, colour, [row for _, found in part for row in found]) for (name, part), colour in zip(parts, validation_gpus.COLOURS) if part]
    (validation_gpus.PICTURES / f"gpu_layers_{chip}.svg").write_text(validation_gpus.scatter(title, series))
    text = f"\n### Layers on {title}\n\n![simulated against measured time](pictures/gpu_layers_{chip}.svg)\n\n"
    text += validation_gpus.line(["layer", "rows", "error %", "bias %", "by time %"]) + "|---|" + "---:|" * 4 + "\n"
    for _, part in parts:
        for name, found in part:
            text += validation_gpus.line([f"`{name}`" if "_" in name or name in gpu_layer_rows.OPS else name, *validation_gpus.cells(found)])
    return text


def kept(chip, written):
    """What the page says of a chip."""
    title = re.escape(f"Layers on {validation_gpus.CHIPS[chip]}")
    found = re.search(rf"\n### {title}\n.*?(?=\n### |\n\*\*What is not modelled)", written, re.DOTALL)
    return found.group(0) if found else ""


def section(program, written, again):
    return HEAD.format(rows=ATTENTION_ROWS) + "".join(chip_text(program, chip) if again else kept(chip, written) for chip in CHIPS) + NOT_MODELLED
