# SPDX-License-Identifier: Apache-2.0
"""Modules in StableHLO in the place of a trace."""

import json
import sys
import unittest

from program import HOME, ProgramTest

sys.path.insert(0, str(HOME / "tests/support"))
import stablehlo_text  # noqa: E402


class StableHlo(ProgramTest):
    def write(self, text):
        (self.directory / "net.mlir").write_text(text)

    def test_gpt2_spelled_out_has_its_layers_its_work_and_its_parameters(self):
        layers, hidden, heads, tokens = 12, 768, 12, 128
        self.write(stablehlo_text.gpt2(layers, hidden, heads, tokens))
        shown = json.loads(self.answer("show", "trace", "net.mlir", "--format", "json"))
        # Products with 12 h^2 weights a layer, scores and what they weigh; the head of one token.
        macs = layers * (12 * hidden ** 2 * tokens + 2 * tokens ** 2 * hidden) + 50257 * hidden
        self.assertEqual(shown["macs"], macs)
        kinds = [layer["op"] for layer in shown["layers"]]
        self.assertEqual([kinds.count(op) for op in ("embedding", "norm", "softmax", "matmul", "activation")],
                         [1, 2 * layers + 1, layers, 6 * layers + 1, 0])
        # The published 124,439,808 without the places of 896 tokens more, and the table once more as the head; a
        # number that scales each layer's scores.
        self.assertEqual(shown["parameters"], 124_439_808 - (1024 - tokens) * hidden + 50257 * hidden + layers)

    def test_it_takes_the_time_of_the_native_network(self):
        layers, tokens = 2, 64
        self.write(stablehlo_text.gpt2(layers, 768, 12, tokens))
        native = ("gpt2", "--set", f"workload.layers={layers}", "--set", f"workload.seq={tokens}")
        ours, theirs = (json.loads(self.answer("run", "tpu_v4", *network, "--format", "json"))["devices"][0]["total"]
                        for network in (("net.mlir",), native))
        # Slots are cut at whole picoseconds, layer by layer.
        self.assertAlmostEqual(ours["class_slots"]["useful"] / theirs["class_slots"]["useful"], 1, places=5)
        # One product for queries, keys and values, which are cut out of it, where the native one has three.
        self.assertAlmostEqual(ours["cycles"] / theirs["cycles"], 1, delta=0.05)

    def test_inputs_are_told_and_can_be_said(self):
        self.write(stablehlo_text.gpt2(1, 64, 2, 16, vocabulary=100, positions=16))
        done = self.run_systole("import", "net.mlir", "-o", "net.yaml")
        self.assertEqual(done.returncode, 0)
        self.assertIn("net.mlir:2: note: by their use, 1 of 17 arguments is an input (arg2)", done.stderr)
        self.assertIn("5 times what is spelled out in the file is one layer", done.stderr)
        said = self.run_systole("import", "net.mlir", "--input", "arg2", "--input", "%arg1")
        self.assertEqual(said.returncode, 0)
        self.assertIn("arg1: {shape: [16, 64], dtype: dtype}", said.stdout)
        self.assertNotIn("by their use", said.stderr)
        self.assertIn("@main has no argument 'arg99'", self.refusal("import", "net.mlir", "--input", "arg99"))
        self.assertIn("--input is for StableHLO modules", self.refusal("show", "trace", "resnet50", "--input", "x"))
        self.assertIn("--dim and --branch are for ONNX", self.refusal("import", "net.mlir", "--dim", "n=1"))

    def test_what_is_no_module_is_refused_with_its_place(self):
        for text, words in (("module @m {", "net.mlir:1:1: error: expected a module with functions"),
                            ("module @m {\n  func.func @main(%a: tensor<2xf32) {\n", "net.mlir:2:29: error: this '<'"),
                            ("\x00\x01", "net.mlir:1:1: error: byte 0x00")):
            self.write(text)
            self.assertIn(words, self.refusal("run", "tpu_v4", "net.mlir", "-o", "out"))


if __name__ == "__main__":
    unittest.main()
