# SPDX-License-Identifier: Apache-2.0
"""GPUs beside measured times of single operators (tests/golden/gpu_gemm, gpu_attention): mean absolute errors of samples of the public rows.

What the simulator is to reach is meant of all rows, which `tests/bench/gpu_gemm.py` and `gpu_attention.py` ask; a sample may be SAMPLING times as far off.
"""

import random
import sys
import unittest

from program import HOME, PROGRAM

sys.path.insert(0, str(HOME / "tests" / "support"))
import gpu_attention_rows  # noqa: E402
import gpu_gemm_rows  # noqa: E402

PRODUCTS = {"a100": 0.08, "h100": 0.055, "h200": 0.06}
ATTENTION = 0.15
SAMPLING = 1.15


def sample(rows, count):
    rows = list(rows)
    random.Random(1).shuffle(rows)
    return rows[:count]


class SimtMeasured(unittest.TestCase):
    def test_products_are_as_near_as_they_are_to_be(self):
        for chip, bound in PRODUCTS.items():
            with self.subTest(chip=chip):
                rows = sample(gpu_gemm_rows.read(chip, "public"), 100)
                found = gpu_gemm_rows.errors(rows, gpu_gemm_rows.ask(PROGRAM, chip, rows))
                self.assertLess(sum(abs(error) for _, error in found) / len(found), SAMPLING * bound)

    def test_steps_of_decoding_are_as_near_as_they_are_to_be(self):
        for chip in gpu_attention_rows.CHIPS:
            with self.subTest(chip=chip):
                rows = sample(gpu_attention_rows.read(chip, "decode", "public"), 40)
                errors = [gpu_attention_rows.ask(PROGRAM, chip, row)[0] / row[6] - 1 for row in rows]
                self.assertLess(gpu_attention_rows.summary(errors)[0], SAMPLING * ATTENTION)


if __name__ == "__main__":
    unittest.main()
