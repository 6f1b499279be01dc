# SPDX-License-Identifier: Apache-2.0
"""Layers of GPUs in which no tensor core works: elementwise ones, softmax and norms."""

import json
import sys
import unittest

from program import HOME, PROGRAM, ProgramTest

sys.path.insert(0, str(HOME / "tests" / "support"))
import gpu_vector_rows as measured  # noqa: E402

OPERATORS = {"elementwise": "kind=add elements=300000", "activation": "function=gelu elements=300000",
             "softmax": "rows=300 cols=1000", "norm": "kind=layer rows=300 cols=1000"}


class SimtVector(ProgramTest):
    def total(self, device, op, columns, *settings):
        words = ["op", device, op, *columns.split(), "--format", "json"]
        for setting in settings:
            words += ["--set", setting]
        return json.loads(self.answer(*words))["devices"][0]["total"]

    def test_every_slot_has_one_owner_and_every_byte_passes_once(self):
        for device in ("a100", "h100"):
            for op, columns in OPERATORS.items():
                for dtype in ("fp16", "fp32"):
                    with self.subTest(device=device, op=op, dtype=dtype):
                        total = self.total(device, op, columns + f" dtype={dtype}")
                        self.assertEqual(total["class_slots"]["useful"], 0)
                        self.assertGreater(total["class_slots"]["vector"], 0)
                        self.assertGreater(total["class_slots"]["memory"], 0)
                        self.assertAlmostEqual(sum(total["classes"].values()), 1, delta=1e-9)
                        size = 300_000 * (2 if dtype == "fp16" else 4)
                        written = sum(cell["bytes"] for cell in total["bytes"]["moved"]
                                      if (cell["from"], cell["to"]) == ("shared_memory", "l2"))
                        self.assertEqual(written, size)

    def test_large_tensors_are_bound_by_the_memory(self):
        for op, columns in (("activation", "function=relu elements=100000000"), ("norm", "kind=rms rows=20000 cols=4096")):
            total = self.total("h100", op, columns + " dtype=bf16")
            least = total["bytes"]["compulsory_dram"] / 3352
            self.assertGreater(total["time_ns"], 0.9 * least)
            self.assertLess(total["time_ns"], 1.6 * least)

    def test_both_engines_move_the_same_bytes(self):
        for op, columns in OPERATORS.items():
            with self.subTest(op=op):
                steps, warps = (self.total("a100", op, columns + " dtype=bf16", f"sm.engine={engine}")
                                for engine in ("steps", "warps"))
                self.assertAlmostEqual(steps["time_ns"] / warps["time_ns"], 1, delta=0.2)
                of_sms, of_twin = ([cell for cell in total["bytes"]["moved"] if "shared_memory" in (cell["from"], cell["to"])]
                                   for total in (steps, warps))
                self.assertEqual(of_sms, of_twin)

    def test_they_are_explained(self):
        for op, columns in OPERATORS.items():
            text = self.answer("explain", "a100", op, *columns.split())
            self.assertIn("no tensor core works here", text)
            self.assertIn("Simulated: ", text)
            self.assertTrue(all(len(line) <= 100 for line in text.split("Simulated: ")[0].splitlines()), text)
        self.assertIn("again out of the L1", self.answer("explain", "a100", "norm", "kind=rms", "rows=8", "cols=512"))

    def test_a_block_of_a_transformer_is_compared(self):
        self.write("block.yaml", "trace: block\ninputs: {x: {shape: [64, 256], dtype: bf16}}\nlayers:\n"
                                 "  - {name: norm, op: norm, kind: layer, in: x}\n"
                                 "  - {name: up, op: matmul, n: 512}\n"
                                 "  - {name: gate, op: activation, function: silu}\n"
                                 "  - {name: down, op: matmul, n: 256}\n"
                                 "  - {name: sum, op: elementwise, kind: add, in: [down, x]}\n"
                                 "  - {name: out, op: softmax}\noutputs: [out]\n")
        text = self.answer("compare", "block.yaml", "--device", "tpu_v4", "--device", "a100", "--device", "h100")
        for name in ("norm", "gate", "out"):
            self.assertIn(name, text)

    def test_scales_are_read_by_each_cta_that_meets_them(self):
        rows, cols = 256, 512  # a CTA has a row
        for scales, rows_of_scales in (("tensor", 0), ("channel", 1), ("group group=64", 4)):
            for engine in ("steps", "warps"):
                with self.subTest(scales=scales, engine=engine):
                    total = self.total("a100", "dequantize", f"rows={rows} cols={cols} dtype=int8 dtype_out=fp16 scales={scales}",
                                       f"sm.engine={engine}")
                    moved = {(cell["from"], cell["to"]): 0 for cell in total["bytes"]["moved"]}
                    for cell in total["bytes"]["moved"]:
                        moved[cell["from"], cell["to"]] += cell["bytes"]
                    of_scales = cols * 2 * rows if rows_of_scales else 0  # in bf16
                    self.assertEqual(moved["l2", "shared_memory"], rows * cols + of_scales)
                    self.assertEqual(moved["shared_memory", "l2"], rows * cols * 2)

    def test_elementwise_layers_that_read_each_other_are_one_kernel(self):
        self.write("chain.yaml", "trace: chain\ninputs: {x: {shape: [64, 256], dtype: fp16}, g: {shape: [256], dtype: fp16}}\nlayers:\n"
                                 "  - {name: a, op: elementwise, kind: mul, in: [x, g]}\n"
                                 "  - {name: b, op: activation, function: gelu}\n"
                                 "  - {name: c, op: elementwise, kind: add, in: [b, x]}\noutputs: [c]\n")
        layer, = json.loads(self.answer("run", "a100", "chain.yaml", "--format", "json"))["devices"][0]["layers"]
        self.assertEqual((layer["name"], layer["op"]), ("a", "elementwise + activation + elementwise"))
        read = sum(cell["bytes"] for cell in layer["bytes"]["moved"]
                   if (cell["from"], cell["to"]) == ("l2", "shared_memory"))
        self.assertEqual(read, 2 * 64 * 256 * 2 + 32 * 256 * 2)  # x twice; each of 32 CTAs has two rows, and reads g once
        self.assertIn("elementwise + activation + elementwise",
                      self.answer("compare", "chain.yaml", "--device", "tpu_v4", "--device", "a100", "--format", "json"))

    def test_kernels_that_fit_no_sm_are_refused_with_the_layer(self):
        error = self.refusal("op", "a100", "softmax", "rows=8", "cols=1024", "--set", "sm.registers_of_thread=16")
        self.assertRegex(error, r"error: 'softmax': no kernel for softmax fits an SM of a100 \(128 threads, \d+ registers each\)")

    def test_measured_times_are_met(self):
        for op, bound in {"softmax": 0.14, "layernorm": 0.11, "gelu": 0.065}.items():
            rows = measured.read(op)
            errors = measured.errors(op, rows, measured.ask(PROGRAM, op, rows))
            self.assertLess(sum(map(abs, errors)) / len(errors), bound, op)


if __name__ == "__main__":
    unittest.main()
