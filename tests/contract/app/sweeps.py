# SPDX-License-Identifier: Apache-2.0
"""Sweeps of the tests: experiments, and a folder for each."""

import csv
import io

from program import DEVICE, TRACE, ProgramTest

BASE = f"device: {DEVICE}\ntrace: {TRACE}\n"
GRID = BASE + """axes:
  mxu.rows: [2, 4, 8]
  workload.batch: {log2: [1, 8]}
derive:
  mxu.cols: mxu.rows
  pes: mxu.rows * mxu.cols
where: mxu.rows <= 4 * workload.batch
objectives: [time_ns, pes, {max: utilization}]
"""
GRID_POINTS = [(rows, batch) for rows in (2, 4, 8) for batch in (1, 2, 4, 8) if rows <= 4 * batch]


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def children(pid):
    """Processes of a process."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(child) for child in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


class SweepTest(ProgramTest):
    def sweep(self, text, folder="sweep", *options, code=0):
        """Runs an experiment into a folder; its merged rows."""
        done = self.run_systole("sweep", self.write(f"{folder}.yaml", text), "-o", folder, *options)
        self.assertEqual(done.returncode, code, done.stderr)
        return self.points(folder) if (self.directory / folder / "points.csv").exists() else done

    def points(self, folder="sweep"):
        return rows_of(self.read(f"{folder}/points.csv").decode())

    def merged(self, folder):
        return [self.read(f"{folder}/{name}") for name in ("points.csv", "front.csv", "points.sqlite")]
