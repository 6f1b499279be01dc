# SPDX-License-Identifier: Apache-2.0
"""The section of docs/validation.md on a layer of GPT-3, for tools/validation --layers."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
import gpu_transformer_rows  # noqa: E402
import validation_gpus  # noqa: E402

TITLE = "\n## GPUs: a layer of GPT-3 on four A100\n"
HEAD = TITLE + """
A layer of GPT-3 with eight sequences, in four shares (`tests/golden/gpu_transformer`: LLMCompass's measurement), operator by operator as PyTorch ran it: nothing joined, scores of attention as
tensors. Of the host's launches LLMCompass's constants are added. Microseconds. Written by `tools/validation --layers`.
"""

END = """
The host's constants, which are not ours, are a quarter of a decoded token's time.
"""


def text(program):
    line = validation_gpus.line
    page = "\n" + line(["phase", "operator", "kernels", "host", "**together**", "measured", "difference %"]) + "|---|---|" + "---:|" * 5 + "\n"

    def cells(own, added, seen):
        if not seen:
            return [f"{own:,.1f}", f"{added:.0f}", f"**{own + added:,.1f}**", "–", "–"]
        return [f"{own:,.1f}", f"{added:.0f}", f"**{own + added:,.1f}**", f"{seen:,.1f}", f"{100 * ((own + added) / seen - 1):+.1f}"]

    for phase, whole in gpu_transformer_rows.TOTALS_US.items():
        operators = list(gpu_transformer_rows.operators(program, phase))
        for name, own, added, seen in operators:
            page += line([phase, f"`{name}`", *cells(own, added, seen)])
        page += line([phase, "all", *cells(sum(o[1] for o in operators), sum(o[2] for o in operators), whole)])
    return page


def section(program, written, again):
    return HEAD + (text(program) if again else validation_gpus.kept_between(written, TITLE, "\n| ", END)) + END
