# SPDX-License-Identifier: Apache-2.0
"""SCALE-Sim's golden rows as questions to `systole op scalesim --csv`, and the comparison of the answers."""

import collections
import csv
import gzip
import io
import pathlib

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "scalesim"
COUNTERS = ["ifmap_reads", "filter_reads", "ofmap_writes"]

Row = collections.namedtuple("Row", "array dataflow conv gemm compute_cycles utilization_pct counters")


def output_size(size, kernel, stride):
    """As SCALE-Sim: rounded up, no padding."""
    return -((kernel - stride - size) // stride)


def read(name):
    """The rows of calc_64kB or tool_runs_raw; those without a convolution's shape have that of their product."""
    with gzip.open(GOLDEN / f"{name}.csv.gz", "rt", newline="") as file:
        for cells in csv.DictReader(file):
            h, w, r, s, c, k, stride = (int(cells[key]) for key in ("ifmap_h", "ifmap_w", "filt_h", "filt_w", "channels",
                                                                    "num_filters", "stride_h"))
            pixels = output_size(h, r, stride) * output_size(w, s, stride)
            stalls = cells["bw_mode"] == "USER"
            utilization = cells["utilization_pct"]
            yield Row(array=(int(cells["array_rows"]), int(cells["array_cols"])), dataflow=cells["dataflow"],
                      conv=(1, h, w, c, k, r, s, stride), gemm=(pixels, k, r * s * c),
                      compute_cycles=int(cells["compute_cycles"]),
                      utilization_pct=float(utilization) if utilization and not stalls else None,
                      counters=[int(cells[f"sram_{name}"]) for name in COUNTERS])


def by_machine(rows):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row.array, row.dataflow].append(row)
    return groups


def settings(array, dataflow):
    words = (f"mxu.rows={array[0]}", f"mxu.cols={array[1]}", f"mxu.dataflow={dataflow}")
    return [word for setting in words for word in ("--set", setting)] + ["--counters", ",".join(COUNTERS)]


def questions(rows, kind):
    """A table of them: kind conv2d or matmul."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["op"] + ("n h w c k r s stride" if kind == "conv2d" else "m n k").split())
    for row in rows:
        table.writerow([kind, *(row.conv if kind == "conv2d" else row.gemm)])
    return out.getvalue()


def differences(rows, answer):
    """One sentence for each row that is not answered as SCALE-Sim answers it."""
    answers = list(csv.DictReader(io.StringIO(answer)))
    if len(answers) != len(rows):
        return [f"{len(answers)} answers to {len(rows)} questions"]
    return [f"{row}: {found}" for row, found in zip(rows, answers) if not agrees(row, found)]


def agrees(row, found):
    if found["error"] or found["compute_cycles"] != str(row.compute_cycles):
        return False
    if row.utilization_pct is not None and abs(float(found["utilization_pct"]) - row.utilization_pct) > 0.01:
        return False
    return [found[name] for name in COUNTERS] == [str(count) for count in row.counters]
