# SPDX-License-Identifier: Apache-2.0
"""ONNXim's products of matrices beside ours, on the machine described alike. docs/validation.md says what is behind each
difference; what is said there holds here."""

import json
import sys
import unittest

from program import HOME, PROGRAM, ProgramTest

sys.path.insert(0, str(HOME / "tests" / "support"))
import onnxim_rows  # noqa: E402
import onnxim_traffic  # noqa: E402

LATENCIES = 256  # cycles of ONNXim's that its rules leave out: those of the memory, at both ends


class Onnxim(ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.rows = onnxim_rows.rows()
        cls.named = {row.name: row for row in cls.rows}
        cls.ours = {row: total["cycles"] for row, total in onnxim_rows.answers(PROGRAM, cls.rows).items()}

    def test_its_tiles_move_the_bytes_that_it_counted(self):
        recorded = [row for row in self.rows if row.dram_rd is not None]
        self.assertEqual(len(recorded), 13)
        for row in recorded:
            read, written = onnxim_rows.moved(row)
            self.assertEqual(read, row.dram_rd, row.name)
            # Rows of 1000 B do not end at whole requests.
            self.assertLessEqual(abs(written - row.dram_wr), 0.03 * row.dram_wr, row.name)

    def test_its_rules_say_its_cycles_where_no_memory_holds_it_up(self):
        held = [row for row in self.rows if not onnxim_rows.bound_by_memory(row)]
        self.assertEqual(len(held), 11)
        for row in held:
            missing = row.cycles - onnxim_rows.by_rules(row)
            self.assertTrue(0 < missing < LATENCIES, (row.name, missing))

    def test_its_rules_and_half_of_the_buses_say_what_pieces_of_rows_take(self):
        row = self.named["128 x 8192 x 128"]
        self.assertTrue(onnxim_rows.pieces_in_half_of_the_buses(row))
        self.assertAlmostEqual(onnxim_rows.by_rules(row) / row.cycles, 1, delta=0.02)

    def test_every_row_is_as_expected(self):
        for row in self.rows:
            with self.subTest(row=row.name, onnxim=row.cycles, ours=self.ours[row]):
                self.assertTrue(onnxim_rows.inside(row, self.ours[row]))

    def test_a_tile_that_keeps_its_place_in_the_fifo_longer_than_two_shifts_holds_the_next_one_up(self):
        row = self.named["1 x 4096 x 4096"]
        slow = ("dma.setup_cycles=16", "scratchpad.latency=8")

        def cycles(places):
            settings = (f"mxu.weight_fifo_tiles={places}", *slow)
            return onnxim_rows.answers(PROGRAM, [row], settings)[row]["cycles"]

        self.assertAlmostEqual(cycles(3) / row.cycles, 1, delta=0.01)
        # 128 to be read, 16 + 8 until it is, 128 to be shifted in, a few to be handed on: of two places.
        self.assertAlmostEqual((cycles(2) - cycles(3)) / row.passes, (128 + 16 + 8 + 128) / 2 - 128, delta=1)

    def test_rows_that_meet_in_half_of_the_buses_cost_ours_a_third_of_the_time(self):
        row = self.named["128 x 8192 x 128"]
        spread = onnxim_rows.answers(PROGRAM, [row], (onnxim_rows.SPREAD,))[row]["cycles"]
        self.assertLess(spread, 2 / 3 * self.ours[row])

    def test_its_own_requests_take_our_memory_as_long_as_the_mechanisms_say(self):
        deep = onnxim_traffic.play(PROGRAM, self.named["128 x 8192 x 128"])
        self.assertEqual(deep["requests"], 132096)
        self.assertLess(deep["bandwidth_pct_peak"], 50.1)
        flat = onnxim_traffic.play(PROGRAM, self.named["2048 x 128 x 2048"])
        self.assertEqual(flat["requests"], 393216)
        self.assertGreater(flat["activates"], 262144, "a row for each burst that is written")
        self.assertGreater(flat["time_ns"], self.named["2048 x 128 x 2048"].steady, "longer than the arrays work")

    def test_the_device_is_described_without_calibration(self):
        shown = json.loads(self.answer("show", "device", onnxim_rows.DEVICE, "--format", "json"))["values"]
        self.assertEqual([value["path"] for value in shown if value["origin"] == "calibrated"], [])


if __name__ == "__main__":
    unittest.main()
