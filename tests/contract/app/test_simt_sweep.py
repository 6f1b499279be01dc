# SPDX-License-Identifier: Apache-2.0
"""Products of ever more rows on GPUs beside measured ones (tests/golden/gpu_gemm): what a row of tiles and a wave cost."""

import itertools
import sys
import unittest

from program import HOME, PROGRAM

sys.path.insert(0, str(HOME / "tests" / "support"))
import gpu_gemm_rows  # noqa: E402


# An H200 has an H100's SMs. Growths that agree so well on both are the kernels' own; others are of single chips: rows
# were timed on all chips of a node at once (tests/golden/gpu_gemm/README.md).
AGREE = 0.06
# Steps of both chips (n = k, rows, rows of the next one) that are not answered within a tenth.
NOT_REACHED = {(1024, 1281, 1792), (2048, 3328, 3841), (4096, 257, 512), (12288, 161, 192)}


class Sweep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """By chip and n = k: rows, microseconds measured and answered; of the H200, only measured."""
        cls.sweeps = {}
        cls.h200 = {(m, n): measured for m, n, _, measured in gpu_gemm_rows.read("h200", "sweep")}
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

    def on_both(self):
        """Of neighbours that both Hopper chips have: n, rows, rows of the next one, growth of the H100, of the H200, answered."""
        for (chip, n), sweep in self.sweeps.items():
            rows = [row for row in sweep if chip == "h100" and (row[0], n) in self.h200]
            for (m, measured, answer), (after, later, last) in itertools.pairwise(rows):
                yield n, m, after, later / measured, self.h200[after, n] / self.h200[m, n], last / answer

    def test_a_row_beyond_the_tiles_costs_a_row_of_tiles(self):
        for n, rows in ((1024, 512), (1024, 768), (1024, 1024), (12288, 512), (12288, 1024)):
            with self.subTest(n=n, rows=rows):
                measured, answered = self.grows("h100", n, rows, rows + 1)
                other = self.h200[rows + 1, n] / self.h200[rows, n]
                self.assertGreater(measured, 1.08)
                self.assertGreater(other, 1.04)
                self.assertGreater(answered, 1.03)
                for growth in (measured, other):
                    self.assertAlmostEqual(answered / growth, 1, delta=0.1)

    def test_steps_that_two_chips_show_are_answered(self):
        steps = 0
        for n, rows, after, measured, other, answered in self.on_both():
            growth = (measured * other) ** 0.5
            if growth < 1.07 or abs(other / measured - 1) > AGREE:
                continue
            steps += 1
            if (n, rows, after) not in NOT_REACHED:
                with self.subTest(n=n, rows=rows, after=after):
                    self.assertAlmostEqual(answered / growth, 1, delta=0.1)
        self.assertGreater(steps, 40)

    def test_answers_are_nearer_to_a_chip_than_another_chip_is(self):
        pairs = list(self.on_both())
        self.assertGreater(len(pairs), 150)
        between_chips, answered = (sum(abs(pair[which] / pair[3] - 1) for pair in pairs) / len(pairs) for which in (4, 5))
        self.assertLess(answered, between_chips)

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
