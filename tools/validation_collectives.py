# SPDX-License-Identifier: Apache-2.0
"""The section of docs/validation.md on GPUs' collectives, for tools/validation --layers."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
import gpu_collective_rows  # noqa: E402
import validation_gpus  # noqa: E402

TITLE = "\n## GPUs: collectives\n"
HEAD = TITLE + """
Times of NCCL's collectives among chips of one node (`tests/golden/gpu_collectives`, public rows) beside what is answered by the library's own model of its time, and corrected by the bus bandwidths that were measured at
seven sizes (`collectives.measured`, from rows that are not among these). Written by `tools/validation --layers`.
"""

NOT_MODELLED = """
**What is not modelled**, and shows: nodes beyond one; what other kernels take of the links meanwhile; which algorithm a library takes against its own estimate; one-shot kernels of serving systems. Small messages are
mostly latencies of the library's, by its table.
"""


def text(program):
    line = validation_gpus.line
    page = "\n" + line(["rows", "device", "collective", "size", "rows", "library's model: error %", "bias %", "**with table: error %**", "bias %"])
    page += "|---|---|---|---|" + "---:|" * 5 + "\n"
    for name, device in gpu_collective_rows.SETS.items():
        rows = gpu_collective_rows.read(name)
        answers = [gpu_collective_rows.ask(program, name, rows, settings) for settings in (gpu_collective_rows.BY_LIBRARY, ())]
        for kind in sorted({row[0] for row in rows}):
            for large, size in ((False, "< 1 MiB"), (True, "≥ 1 MiB")):
                chosen = [i for i, row in enumerate(rows) if row[0] == kind and (row[3] >= gpu_collective_rows.LARGE) == large]
                if not chosen:
                    continue
                cells = [100 * value for found in answers
                         for value in gpu_collective_rows.mean_error([rows[i] for i in chosen], [found[i] for i in chosen])]
                page += line([name, device, kind, size, str(len(chosen)), f"{cells[0]:.1f}", f"{cells[1]:+.1f}", f"**{cells[2]:.1f}**",
                              f"{cells[3]:+.1f}"])
    return page


def section(program, written, again):
    return HEAD + (text(program) if again else validation_gpus.kept_between(written, TITLE, "\n| ", NOT_MODELLED)) + NOT_MODELLED
