# SPDX-License-Identifier: Apache-2.0
"""Products of narrow and scaled numbers on GPUs, and language models that are made of them."""

import json
import unittest

from program import ProgramTest


class SimtFormats(ProgramTest):
    def scaled(self, device, shape, *more):
        return json.loads(self.answer("op", device, "matmul", *shape.split(), *more, "--format", "json"))["devices"][0]

    def test_numbers_in_blocks_are_multiplied_where_tensor_cores_take_them(self):
        shape = "m=8192 n=8192 k=8192"
        formats = {name: self.scaled("b200", shape, f"dtype={dtype}", "dtype_out=bf16", *more.split())
                   for name, dtype, more in (("bf16", "bf16", ""), ("fp8", "fp8", ""), ("mxfp8", "fp8", "scales=block group=32"),
                                             ("mxfp4", "fp4", "scales=block group=32"), ("nvfp4", "fp4", "scales=block group=16"))}
        times = {name: answer["total"]["time_ns"] for name, answer in formats.items()}
        # Half the bits, up to twice as fast; each scale costs.
        self.assertEqual(sorted(times, key=times.get), ["mxfp4", "nvfp4", "fp8", "mxfp8", "bf16"])
        self.assertGreater(times["fp8"] / times["nvfp4"], 1.5)
        self.assertLess(times["bf16"] / times["nvfp4"], 4)
        self.assertEqual(formats["nvfp4"]["ceilings"]["macs_per_cycle"]["fp4"], 148 * 4 * 4096)
        # Scales are read with their numbers: 9 bits for two of NVFP4.
        read = formats["nvfp4"]["total"]["bytes"]["compulsory_dram"]
        self.assertEqual(read, 2 * 8192 ** 2 * 9 // 16 + 8192 ** 2 * 2)
        for device, dtype, group, message in (("h100", "fp8", 32, "which the tensor cores of h100 do not multiply with"),
                                              ("b200", "fp4", 64, "fp4 in blocks of 64"),
                                              ("b200", "fp8", 16, "fp8 in blocks of 16"),
                                              ("h100", "fp4", 16, "no tensor core takes dtype 'fp4'"),
                                              ("tpu_v5p", "fp8", 32, "devices of kind systolic do not run")):
            with self.subTest(device=device, dtype=dtype, group=group):
                self.assertIn(message, self.refusal("op", device, "matmul", "m=64", "n=64", "k=64", f"dtype={dtype}",
                                                    "scales=block", f"group={group}"))
        # A step of 256 numbers of 128 x 256: a scale for 16 of each row, 128 B a cycle.
        text = self.answer("explain", "b200", "matmul", "m=8192", "n=8192", "k=512", "dtype=fp4", "dtype_out=bf16", "scales=block",
                           "group=16")
        self.assertRegex(text, r"tensor cores need \d+\.0, and scales of blocks of 16 on their way into tensor memory \d+\n")
        self.assertIn("sm.tensor.block_scales", self.refusal("op", "h100", "matmul", "m=64", "n=64", "k=64", "--set",
                                                             "sm.tensor.block_scales=on"))

    def test_scales_of_columns_are_read_and_multiplied_before_results_are_stored(self):
        for device, dtype in (("h100", "fp8"), ("a100", "int8"), ("b200", "fp8")):
            with self.subTest(device=device):
                shape = "m=512 n=4096 k=1024"
                one, many = (self.scaled(device, shape, f"dtype={dtype}", "dtype_out=bf16", f"scales={scales}")["total"]
                             for scales in ("tensor", "channel"))
                self.assertEqual(many["bytes"]["compulsory_dram"] - one["bytes"]["compulsory_dram"], 4096 * 2)
                self.assertGreater(many["time_ns"], one["time_ns"])
                self.assertLess(many["time_ns"], 1.5 * one["time_ns"])
        self.assertIn(", scales, bias", self.answer("op", "h100", "matmul", "m=512", "n=512", "k=512", "dtype=fp8",
                                                    "dtype_out=bf16", "scales=channel", "bias=true", "--format", "json"))

    def test_language_models_run_in_four_and_eight_bits(self):
        bf16 = self.step_ms("b200")
        for options in (("--weights", "nvfp4"), ("--weights", "mxfp8"), ("--weights", "fp8", "--activations", "as-weights")):
            with self.subTest(options=options):
                self.assertLess(self.step_ms("b200", *options), bf16)
        self.assertLess(self.step_ms("h100", "--weights", "fp8", "--activations", "as-weights"), self.step_ms("h100"))
        self.assertIn("inputs of bf16 and weights of fp8", self.step_ms("h100", "--weights", "fp8", fails=True))

    def step_ms(self, device, *options, fails=False):
        """Of one token of Llama 3 8B, but of two layers, for each of four sequences."""
        self.answer("trace", "llm", "llama3_8b", "--batch", "4", *options, "-o", "step.yaml")
        words = ["run", device, "step.yaml", "--set", "workload.layers=2"]
        if fails:
            return self.refusal(*words)
        return json.loads(self.answer(*words, "--format", "json"))["devices"][0]["total"]["time_ns"] / 1e6


if __name__ == "__main__":
    unittest.main()
