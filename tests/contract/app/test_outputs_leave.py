# SPDX-License-Identifier: Apache-2.0
"""How a network's outputs leave a systolic device: without a detour, and not in crumbs."""
import json
import unittest

from program import ProgramTest


class OutputsLeave(ProgramTest):
    def test_an_output_that_has_to_be_in_the_memory_makes_no_detour_through_the_scratchpad(self):
        """It saves no byte there, and is written in narrow rows twice: 98,072 cycles instead of some 20,000."""
        words = "op tpu_v5p matmul m=2048 n=2048 k=256".split()
        chosen, through_memory = (json.loads(self.answer(*words, *more, "--format", "json"))["devices"][0]["total"]
                                  for more in ((), ("--set", "placement.activations=dram")))
        self.assertEqual(chosen["bytes"]["dram_written"], through_memory["bytes"]["dram_written"])
        self.assertLess(chosen["cycles"], 1.1 * through_memory["cycles"])

    def test_narrow_columns_of_an_output_leave_for_the_host_together(self):
        """As packets of 4 bytes each they took 75,832 cycles; with a layer behind that writes whole rows 5,755."""
        concat = ("trace: narrow\ninputs:\n  a: {shape: [4096, 2], dtype: bf16}\n  b: {shape: [4096, 2], dtype: bf16}\nlayers:\n"
                  "  - {name: y, op: concat, in: [a, b], axis: 1}\n")
        last = self.write("last.yaml", concat + "outputs: [y]\n")
        more = self.write("more.yaml", concat + "  - {name: z, op: activation, in: y, function: relu}\noutputs: [z]\n")
        cycles = [json.loads(self.answer("run", "tpu_v4", trace, "--format", "json"))["devices"][0]["total"]["cycles"] for trace in (last, more)]
        self.assertLess(cycles[0], 1.05 * cycles[1])
        heads = self.write("heads.yaml", "trace: heads\ninputs:\n  x: {shape: [2, 14, 14, 64], dtype: bf16}\nlayers:\n"
                           "  - {name: a, op: conv2d, in: x, filters: 4, kernel: 1}\n  - {name: b, op: conv2d, in: x, filters: 20, kernel: 1}\n"
                           "  - {name: y, op: concat, in: [a, b], axis: 3}\noutputs: [y]\n")
        moved = json.loads(self.answer("run", "tpu_v4_chip", heads, "--format", "json"))["devices"][0]["total"]["bytes"]["moved"]
        self.assertEqual(sum(cell["bytes"] for cell in moved if cell["to"] == "host"), 2 * 14 * 14 * 24 * 2)


if __name__ == "__main__":
    unittest.main()
