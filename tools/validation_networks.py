# SPDX-License-Identifier: Apache-2.0
"""The section of docs/validation.md on whole networks of convolutions on a GPU, for tools/validation."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent

TITLE = "\n## GPUs: networks of convolutions\n"
HEAD = TITLE + """
Latencies of an A100 with TensorRT 8.4 in int8 at batch 1, as NVIDIA's TensorFlow-Quantization toolkit published them (model zoo results,
docs.nvidia.com/deeplearning/tensorrt/tensorflow-quantization-toolkit; of both ways to quantize, where two are given), beside `systole run a100
NETWORK --set workload.dtype=int8 --set run.inputs_at=dram --set run.repeat=3 --set run.launch=stream`, which is how `trtexec` launches unless
told otherwise. Nothing was fitted to them. The last column is the same in a graph: about a fifth of these times is launches, so the
table says that kernels are about as many and as short as TensorRT's, and little of large batches.

"""

# trace, published name, published milliseconds
ROWS = (("resnet50_v1", "ResNet-50 v1", (0.46, 0.45)), ("mobilenet_v2", "MobileNet-v2", (0.30,)),
        ("efficientnet", "EfficientNet-B0", (0.67, 0.68)))


def milliseconds(program, trace, launch):
    words = [program, "run", "a100", trace, "--format", "json"]
    for setting in ("workload.dtype=int8", "run.inputs_at=dram", "run.repeat=3", f"run.launch={launch}"):
        words += ["--set", setting]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env={**os.environ, "SYSTOLE_HOME": str(ROOT)})
    (device,) = json.loads(done.stdout)["devices"]
    return device["total"]["time_ns"] / 1e6


def section(program):
    page = HEAD + "| network | published, ms | **Systole, ms** | difference % | in a graph, ms |\n|---|---:|---:|---:|---:|\n"
    for trace, name, published in ROWS:
        stream, graph = (milliseconds(program, trace, launch) for launch in ("stream", "graph"))
        off = stream / (sum(published) / len(published)) - 1
        page += f"| {name} | {' / '.join(f'{ms:.2f}' for ms in published)} | **{stream:.3f}** | {100 * off:+.1f} | {graph:.3f} |\n"
    return page
