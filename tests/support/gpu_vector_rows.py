# SPDX-License-Identifier: Apache-2.0
"""Measured products, softmax, layer norm and GELU of an A100 and an MI210 (tests/golden/gpu_vector), asked as they were timed."""

import csv
import gzip
import pathlib

import gpu_gemm_rows

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "gpu_vector"
# What LLMCompass adds to its model's answers for the launch by the host, which these wall clocks have in them.
HOST_OF_CHIP = {"a100": {"matmul": 21.0, "softmax": 12.0, "layernorm": 45.0, "gelu": 45.0},
                "mi210": {"matmul": 34.0, "softmax": 22.0, "layernorm": 28.0, "gelu": 21.0}}
HOST_US = HOST_OF_CHIP["a100"]
# Run again and again, with caches as the run before left them. All that launching takes is in the constants: what a graph's kernels
# and replays take for it is not added a second time.
PROTOCOL = ["run.repeat=2", "run.launch=none", "calibrated.replay_gap=0 ns", "calibrated.kernel_overhead=0 ns"]
OPS = tuple(HOST_US)
# LLMCompass's norms and GELU go through torch.compile (software_model/layernorm.py, gelu.py); on an MI210 the launch, no longer than softmax's,
# says that they did not.
KERNELS_OF_CHIP = {"a100": {"layernorm": "inductor_2023", "gelu": "inductor_2023"}, "mi210": {}}


def read(op, chip="a100"):
    """(the operator's columns, microseconds) of every row."""
    with gzip.open(GOLDEN / f"{chip}_{op}.csv.gz", "rt") as file:
        return [({k: int(v) for k, v in row.items() if k != "latency_us"}, float(row["latency_us"]))
                for row in csv.DictReader(file)]


def columns(op, shape):
    """As `systole op --csv` names them."""
    if op == "matmul":
        return {"op": "matmul", **shape}
    if op == "gelu":
        return {"op": "activation", "function": "gelu", **shape}
    return {"op": "softmax", **shape} if op == "softmax" else {"op": "norm", "kind": "layer", **shape}


def kernels_of(op, chip="a100"):
    """The setting that takes the kernels by which an operator was run."""
    return f"kernels.layers={KERNELS_OF_CHIP[chip].get(op, 'pytorch_2023')}"


def ask(program, op, rows, settings=(), chip="a100", dtype="fp16"):
    """Microseconds that the program answers, row by row, without what the host takes."""
    asked = [{"dtype": dtype, **columns(op, shape)} for shape, _ in rows]
    return gpu_gemm_rows.ask_table(program, chip, asked, [*PROTOCOL, kernels_of(op, chip), *settings])


def errors(op, rows, answers, chip="a100"):
    """Relative error of every row."""
    return [(answer + HOST_OF_CHIP[chip][op]) / measured - 1 for (_, measured), answer in zip(rows, answers)]
