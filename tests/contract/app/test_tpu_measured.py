# SPDX-License-Identifier: Apache-2.0
"""What was fitted to measurements of TPU v5e, v6e and v7x, and what the fitted keys do. The rows themselves are in
docs/validation.md, which tools/validation writes and test_dram_golden holds to what the program answers."""

import json
import re
import sys
import unittest

from program import HOME, PROGRAM, ProgramTest

sys.path.insert(0, str(HOME / "tests" / "support"))
import tpu_measured_rows  # noqa: E402

FITTED = ("tpu_v5e", "tpu_v6e", "tpu_v7")


class Calibration(ProgramTest):
    def total(self, *settings):
        words = [word for setting in settings for word in ("--set", setting)]
        device = json.loads(self.answer("op", "tpu_v5e", "matmul", "m=256", "n=256", "k=256", *words, "--format", "json"))
        return {**device["devices"][0]["total"], "clock_hz": device["devices"][0]["clock_hz"]}

    def test_all_generations_have_the_same_constants_and_few_of_them(self):
        constants = [tpu_measured_rows.calibrated(PROGRAM, device) for device in FITTED]
        self.assertEqual(constants[0], constants[1])
        self.assertEqual(constants[0], constants[2])
        self.assertEqual(sorted(constants[0]), ["calibrated.memory_queue", "calibrated.start_latency",
                                                "calibrated.sustained_clock"])
        gating = [row for row in tpu_measured_rows.rows() if row.gates]
        self.assertEqual(len(gating), 14)
        of_calls = 1  # HOST_CALL_US
        self.assertLess(len(constants[0]) + of_calls, len(gating) / 2)

    def test_no_other_device_has_any(self):
        for path in (HOME / "configs" / "devices").glob("*.yaml"):
            if path.stem not in FITTED and "kind: simt" not in path.read_text():  # GPUs: test_simt
                self.assertEqual(tpu_measured_rows.calibrated(PROGRAM, path.stem), {}, path.stem)

    def test_most_rows_were_kept_apart(self):
        rows = tpu_measured_rows.rows()
        self.assertGreater(sum(not row.fitted for row in rows), len(rows) / 2)
        gating = [row for row in rows if row.gates]
        self.assertGreater(sum(not row.fitted for row in gating), len(gating) / 2)

    def test_the_published_page_says_of_every_gating_row_whether_it_is_inside(self):
        page = (HOME / "docs" / "validation.md").read_text()
        inside, of = map(int, re.search(r"\*\*(\d+) of (\d+) rows that gate are within 10 %", page).groups())
        self.assertEqual(of, 14)
        for row in tpu_measured_rows.rows():
            if row.mapped:
                self.assertIn(f"| {row.device} | {row.op} | {row.size} | {row.kernel} | {row.timed} |", page)
        self.assertNotIn("| ? |", page, "a long row that nobody simulated: tools/validation --long")
        self.assertNotIn("not explained", page)

    def test_the_sustained_clock_is_a_share_of_the_core_clock(self):
        self.assertEqual(self.total("calibrated.sustained_clock=1")["clock_hz"], 1_500_000_000)
        self.assertEqual(self.total("calibrated.sustained_clock=0.5")["clock_hz"], 750_000_000)
        self.refusal("op", "tpu_v5e", "matmul", "m=8", "n=8", "k=8", "--set", "calibrated.sustained_clock=1.1")

    def test_a_start_is_added_to_a_launch_and_to_nothing_else(self):
        ideal = ("memory.preset=ideal", "calibrated.sustained_clock=1")  # no refresh that a shift would meet elsewhere
        never = self.total(*ideal)["time_ns"]
        self.assertEqual(self.total(*ideal, "calibrated.start_latency=3 us")["time_ns"], never)
        launched = [self.total(*ideal, "run.launch=graph", "sequencer.launch_latency=2 us",
                               f"calibrated.start_latency={start} us")["time_ns"] for start in (0, 3)]
        self.assertAlmostEqual(launched[0] - never, 2000, delta=1)
        self.assertAlmostEqual(launched[1] - launched[0], 3000, delta=1)
        self.refusal("op", "tpu_v5e", "matmul", "m=8", "n=8", "k=8", "--set", "calibrated.start_latency=2 s")

    def test_the_memory_queue_stands_in_the_place_of_the_memorys_own(self):
        copy = ("op", "tpu_v4", "slice", "rows=4096", "cols=1024", "size=1024", "--format", "json")

        def time_of(*settings):
            words = [word for setting in settings for word in ("--set", setting)]
            return json.loads(self.answer(*copy, *words))["devices"][0]["total"]["time_ns"]

        same = time_of("memory.queue=40", "memory.writes.high=32", "memory.writes.low=8")
        self.assertEqual(time_of("calibrated.memory_queue=40"), same)
        self.assertNotEqual(time_of("memory.queue=7", "memory.writes.high=7", "memory.writes.low=1"), same)
        self.refusal(*copy, "--set", "calibrated.memory_queue=4")

    def test_what_a_calibrated_value_replaces_cannot_be_set(self):
        for path in ("memory.queue", "memory.writes.high", "memory.writes.low"):
            message = self.refusal("op", "tpu_v5e", "matmul", "m=8", "n=8", "k=8", "--set", f"{path}=9")
            self.assertIn(f"--set {path}: error: ", message)
            self.assertIn("calibrated.memory_queue (192) takes its place", message)

    def test_one_cost_of_a_grid_step_beside_the_mapped_blocks_says_what_their_kernels_take(self):
        rows = [row for row in tpu_measured_rows.rows() if not row.mapped and row.size != "1024³"]
        simulated = {row.size: tpu_measured_rows.blocks_of_128_us(PROGRAM, row.shape[0]) for row in rows}
        costs = [(row.measured_us - simulated[row.size]) / tpu_measured_rows.steps(row)[0] for row in rows]
        self.assertEqual(len(costs), 6)
        self.assertLess(max(costs) / min(costs), 1.1, costs)

    def test_a_key_that_nothing_reads_is_refused(self):
        self.assertIn("calibrated.efficiency", self.refusal("op", "tpu_v5e", "matmul", "m=8", "n=8", "k=8", "--set",
                                                            "calibrated.efficiency=0.9"))


if __name__ == "__main__":
    unittest.main()
