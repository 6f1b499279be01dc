# SPDX-License-Identifier: Apache-2.0
"""Measured products of GPUs (tests/golden/gpu_gemm), asked of the program as they were timed."""

import csv
import gzip
import io
import pathlib
import subprocess
import tempfile

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "gpu_gemm"
CHIPS = ["a100", "h100", "h200", "l40s", "b200", "gb200"]
PROTOCOL = ["run.protocol=graph_replay"]
# Regimes by measured time in microseconds, as errors are reported.
REGIMES = [(0, 5), (5, 20), (20, 200), (200, float("inf"))]


def read(chip, part):
    """(m, n, k, microseconds) of every row."""
    with gzip.open(GOLDEN / f"{chip}_{part}.csv.gz", "rt") as file:
        return [(int(r["m"]), int(r["n"]), int(r["k"]), float(r["latency_us"])) for r in csv.DictReader(file)]


def ask(program, chip, rows, settings=()):
    """Microseconds that the program answers, row by row."""
    table = [{"op": "matmul", "dtype": "bf16", "m": m, "n": n, "k": k} for m, n, k, _ in rows]
    return ask_table(program, chip, table, [*PROTOCOL, *settings])


def ask_table(program, chip, table, settings):
    """The same of any operators: rows as `systole op --csv` takes them, all with the columns of the first."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        writer = csv.DictWriter(file, table[0])
        writer.writeheader()
        writer.writerows(table)
        file.flush()
        words = [program, "op", chip, "--csv", file.name]
        for setting in settings:
            words += ["--set", setting]
        done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr or done.stdout)
    return [float(r["time_ns"]) / 1000 for r in csv.DictReader(io.StringIO(done.stdout))]


def errors(rows, answers):
    """(measured microseconds, relative error) of every row."""
    return [(row[3], answer / row[3] - 1) for row, answer in zip(rows, answers)]


def unbeaten(chip, rows, noise=0.05):
    """Rows but those that take longer than a product of no fewer rows, columns and K among all that may be looked at."""
    others = read(chip, "public") + read(chip, "calibration")
    return [row for row in rows if not beaten(row, others, noise)]


def beaten(row, others, noise):
    """A product of no fewer rows, columns and K was measured to take less, by more than noise: the library had a better kernel for this
    one, too, and no machine explains why it took another."""
    return any(m >= row[0] and n >= row[1] and k >= row[2] and time * (1 + noise) < row[3] for m, n, k, time in others)


def summary(found):
    """(rows, mean absolute error, signed bias, time-weighted absolute error), of fractions."""
    count, time = len(found), sum(t for t, _ in found)
    return (count, sum(abs(e) for _, e in found) / count, sum(e for _, e in found) / count,
            sum(t * abs(e) for t, e in found) / time)


def by_regime(found):
    """((from, to), its errors) of every regime that has rows."""
    parts = [((low, high), [(t, e) for t, e in found if low <= t < high]) for low, high in REGIMES]
    return [(regime, part) for regime, part in parts if part]
