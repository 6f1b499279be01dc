# SPDX-License-Identifier: Apache-2.0
"""systole op scalesim answers what SCALE-Sim answers (tests/golden/scalesim); tests/bench/scalesim.py asks all rows."""

import csv
import io
import sys
import unittest

from program import HOME, ProgramTest

sys.path.insert(0, str(HOME / "tests" / "support"))
import scalesim_rows  # noqa: E402

ARRAYS = {(32, 32), (32, 64), (128, 128)}


class ScaleSim(ProgramTest):
    def compare(self, rows, kind):
        for (array, dataflow), group in scalesim_rows.by_machine(rows).items():
            self.write("questions.csv", scalesim_rows.questions(group, kind))
            answer = self.answer("op", "scalesim", "--csv", "questions.csv", *scalesim_rows.settings(array, dataflow))
            self.assertEqual(scalesim_rows.differences(group, answer)[:3], [])

    def test_every_layer_on_three_arrays_as_convolution(self):
        rows = [row for row in scalesim_rows.read("calc_64kB") if row.array in ARRAYS]
        self.assertEqual(len(rows), 3 * 3 * 217)
        self.compare(rows, "conv2d")

    def test_runs_of_the_tool_as_products(self):
        rows = [row for row in scalesim_rows.read("tool_runs_raw") if row.array in ARRAYS]
        self.assertGreater(len(rows), 500)
        self.compare(rows, "matmul")

    def ask(self, *words):
        (row,) = csv.DictReader(io.StringIO(self.answer("op", "scalesim", *words, "--format", "csv", "--counters",
                                                        "ofmap_writes")))
        return row

    def test_each_fault_can_be_switched_off(self):
        matmul = ("matmul", "m=40", "n=70", "k=50", "--set", "mxu.dataflow=os")
        peer = self.ask(*matmul)
        folds, fold = 2 * 3, 50 + 32 + 32 - 2
        self.assertEqual(peer["compute_cycles"], str(folds * fold))
        self.assertAlmostEqual(float(peer["utilization"]), 40 * 70 * 50 / (1024 * (folds * fold - 1)))
        self.assertEqual(peer["ofmap_writes"], str(40 * 70 + folds * 64))
        off = lambda name: ("--set", f"faults.{name}=off")
        self.assertEqual(self.ask(*matmul, *off("os_without_shift_out"))["compute_cycles"], str(folds * (fold + 32)))
        self.assertEqual(self.ask(*matmul, *off("os_extra_ofmap_writes"))["ofmap_writes"], str(40 * 70))
        honest = self.ask(*matmul, *off("utilization_less_one_cycle"))
        self.assertAlmostEqual(float(honest["utilization"]), 40 * 70 * 50 / (1024 * int(honest["cycles"])))
        stationary = ("matmul", "m=40", "n=70", "k=50")
        self.assertEqual(self.ask(*stationary)["ofmap_writes"], str(2 * 40 * 70))
        self.assertEqual(self.ask(*stationary, *off("partial_sums_written"))["ofmap_writes"], str(40 * 70))
        conv = ("conv2d", "n=1", "h=8", "w=8", "c=4", "k=4", "r=3", "s=3", "stride=2")
        down = off("conv_output_rounded_up") + off("partial_sums_written")
        self.assertEqual(self.ask(*conv, *off("partial_sums_written"))["ofmap_writes"], str(4 * 4 * 4))
        self.assertEqual(self.ask(*conv, *down)["ofmap_writes"], str(3 * 3 * 4))
        self.assertEqual(self.ask(*conv, "round_up=false", *off("partial_sums_written"))["ofmap_writes"], str(3 * 3 * 4))

    def test_the_cycle_too_few_is_taken_literally(self):
        """Of two compute cycles, one counts; of one, none, and a share of nothing is 0."""
        for depth, utilization in ((1, 0), (2, 2), (3, 1.5)):
            row = self.ask("matmul", "m=1", "n=1", f"k={depth}", "--set", "mxu.dataflow=os", "--set", "mxu.rows=1",
                           "--set", "mxu.cols=1")
            self.assertEqual(row["compute_cycles"], str(depth))
            self.assertAlmostEqual(float(row["utilization"]), utilization)

    def test_the_register_accurate_engine_agrees(self):
        for dataflow in ("ws", "os", "is"):
            words = ("conv2d", "n=1", "h=9", "w=9", "c=3", "k=10", "r=3", "s=3", "--set", "mxu.rows=8", "--set",
                     "mxu.cols=4", "--set", f"mxu.dataflow={dataflow}", "--set", "mxu.accumulator_rows=4096")
            self.assertEqual(self.ask(*words), self.ask(*words, "--set", "mxu.engine=grid"))


if __name__ == "__main__":
    unittest.main()
