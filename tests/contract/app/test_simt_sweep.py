# SPDX-License-Identifier: Apache-2.0
"""Products of ever more rows on GPUs beside measured ones (tests/golden/gpu_gemm): what a row of tiles and a wave cost."""

import itertools
import sys
import unittest

from program import HOME, PROGRAM

sys.path.insert(0, str(HOME / "tests" / "support"))
import gpu_gemm_rows  # noqa: E402


class Sweep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """By chip and n = k: rows, microseconds measured and answered."""
        cls.sweeps = {}
        for chip in ("a100", "h100"):
            rows = gpu_gemm_rows.read(chip, "sweep")
            for (m, n, _, measured), answer in zip(rows, gpu_gemm_rows.ask(PROGRAM, chip, rows)):
                cls.sweeps.setdefault((chip, n), []).append((m, measured, answer))

    def grows(self, chip, n, rows, to):
        """How many times longer more rows take: as measured, and as answered."""
        times = {m: (measured, answer) for m, measured, answer in self.sweeps[chip, n]}
        return tuple(after / before for before, after in zip(times[rows], times[to]))

    def test_a_wave_more_costs_what_it_was_measured_to_cost(self):
        # 768 x 2048 are 96 tiles of 128 x 128 on 108 SMs, 1024 x 2048 are 128: a third more rows, 82 % more time.
        measured, answered = self.grows("a100", 2048, 768, 1024)
        self.assertGreater(measured, 1.7)
        self.assertAlmostEqual(answered / measured, 1, delta=0.1)

    def test_a_row_beyond_the_tiles_costs_a_row_of_tiles(self):
        for rows in (512, 768, 1024):
            with self.subTest(rows=rows):
                measured, answered = self.grows("h100", 1024, rows, rows + 1)
                self.assertGreater(measured, 1.08)
                self.assertGreater(answered, 1.03)
                self.assertAlmostEqual(answered / measured, 1, delta=0.1)

    def test_rows_within_a_tile_cost_nothing(self):
        for rows in (6, 11, 12, 13, 14):
            for n in (4096, 8192, 12288):
                if rows in [m for m, _, _ in self.sweeps["h100", n]] and rows + 1 in [m for m, _, _ in self.sweeps["h100", n]]:
                    with self.subTest(rows=rows, n=n):
                        for growth in self.grows("h100", n, rows, rows + 1):
                            self.assertAlmostEqual(growth, 1, delta=0.02)

    def test_times_grow_along_sweeps_as_measured(self):
        for chip, bound in (("a100", 0.10), ("h100", 0.055)):
            with self.subTest(chip=chip):
                off = [(after[2] / before[2]) / (after[1] / before[1]) - 1 for (which, _), sweep in self.sweeps.items() if which == chip
                       for before, after in itertools.pairwise(sweep)]
                self.assertGreater(len(off), 40)
                self.assertLess(sum(map(abs, off)) / len(off), bound)


if __name__ == "__main__":
    unittest.main()
