# SPDX-License-Identifier: Apache-2.0
"""Several devices side by side: systole compare."""

import csv
import io
import json
import unittest

from program import ProgramTest


class Compare(ProgramTest):
    def comparison(self, *words):
        return json.loads(self.answer("compare", *words, "--format", "json"))

    def test_every_device_answers_as_it_does_alone(self):
        found = self.comparison("three_layers", "--device", "tpu_v4", "--device", "tpu_v5e")
        self.assertEqual([device["device"] for device in found["devices"]], ["tpu_v4", "tpu_v5e"])
        for device in found["devices"]:
            alone = json.loads(self.answer("run", device["device"], "three_layers", "--format", "json"))["devices"][0]
            self.assertEqual(device, alone)

    def test_the_fastest_is_named_with_its_factor_for_every_layer_and_in_all(self):
        found = self.comparison("resnet50", "--device", "tpu_v4", "--device", "tpu_v5e", "--device", "tpu_v3")
        (comparison,) = found["comparisons"]
        devices = {device["device"]: device for device in found["devices"]}
        self.assertEqual(comparison["trace"], "resnet50")
        rows = [("total", comparison["total"], {name: device["total"] for name, device in devices.items()})]
        for i, layer in enumerate(comparison["layers"]):
            rows.append((layer["name"], layer, {name: device["layers"][i] for name, device in devices.items()}))
        self.assertEqual(len(rows), 57)
        for name, standing, of in rows:
            with self.subTest(layer=name):
                times = sorted((row["time_ns"], device) for device, row in of.items())
                self.assertEqual(standing["time_ns"], {device: row["time_ns"] for device, row in of.items()})
                self.assertEqual(standing["time_ns"][standing["fastest"]], times[0][0])
                self.assertAlmostEqual(standing["factor"], times[1][0] / times[0][0], places=9)
                self.assertAlmostEqual(sum(standing["next_longer_ns"].values()), times[1][0] - times[0][0], places=3)
                self.assertIn(standing["fastest"], standing["why"])

    def test_an_accelerator_and_a_gpu_run_the_same_products(self):
        text = self.answer("compare", "tpu_v1_mlp0", "--device", "tpu_v4", "--device", "h100")
        self.assertRegex(text, r"h100 is \d+\.\d\dx as fast as tpu_v4, which ")
        # An A100's few tiles leave SMs without work; an H100's fill its SMs.
        text = self.answer("compare", "tpu_v1_mlp0", "--device", "tpu_v4", "--device", "a100")
        self.assertRegex(text, r"a100: .*% tail.* waves")

    def test_variants_of_a_chip_have_names(self):
        found = self.comparison("three_layers", "--device", "teaching_4x4", "--device", "fast=teaching_4x4", "--set",
                                "fast:core.clock=2 GHz")
        names = [device["device"] for device in found["devices"]]
        self.assertEqual(names, ["teaching_4x4", "fast"])
        self.assertNotEqual(found["devices"][0]["clock_hz"], found["devices"][1]["clock_hz"])
        self.assertEqual(found["devices"][1]["clock_hz"], 2_000_000_000)

    def test_layers_that_one_device_does_as_one_are_compared_as_one(self):
        words = ["resnet50", "--device", "tpu_v4", "--device", "apart=tpu_v4", "--set", "apart:placement.fuse=off"]
        for order in (words, words[:1] + words[3:5] + words[1:3] + words[5:]):
            found = self.comparison(*order)
            devices = {device["device"]: {row["name"]: row["time_ns"] for row in device["layers"]}
                       for device in found["devices"]}
            self.assertEqual((len(devices["tpu_v4"]), len(devices["apart"])), (56, 72))
            layers = {row["name"]: row for row in found["comparisons"][0]["layers"]}
            self.assertEqual(list(layers), list(devices["tpu_v4"]))
            shortcut = layers["stage2_shortcut"]["time_ns"]
            self.assertEqual(shortcut["tpu_v4"], devices["tpu_v4"]["stage2_shortcut"])
            self.assertAlmostEqual(shortcut["apart"], devices["apart"]["stage2_shortcut"] + devices["apart"]["stage2_first"],
                                   places=3)
            for name in devices:
                self.assertAlmostEqual(sum(row["time_ns"][name] for row in layers.values()),
                                       found["comparisons"][0]["total"]["time_ns"][name], places=1)
        table = list(csv.DictReader(io.StringIO(self.answer("compare", *words, "--format", "csv"))))
        self.assertEqual(len(table), 2 * 57)

    def rows_compared(self, *words):
        """Of each device the names of its layers, and the layers that are compared, whose times are all of its own."""
        found = self.comparison(*words)
        layers = {row["name"]: row["time_ns"] for row in found["comparisons"][0]["layers"]}
        own = {device["device"]: {row["name"]: row["time_ns"] for row in device["layers"]} for device in found["devices"]}
        for name, rows in own.items():
            self.assertAlmostEqual(sum(times[name] for times in layers.values()), sum(rows.values()), delta=0.1)
        return own, layers

    def test_layers_that_a_gpu_s_kernel_does_together_are_compared_as_one(self):
        """Values and indices of a top-k; what TensorRT-LLM's and vLLM's kernels do ahead of attention."""
        self.write("experts.yaml", "trace: experts\ninputs: {x: {shape: [64, 16], dtype: bf16}}\nlayers:\n"
                   "  - {name: scores, op: matmul, n: 64}\n  - {name: best, op: top_k, in: scores, k: 8}\n"
                   "  - {name: which, op: top_k, in: scores, k: 8, result: indices}\noutputs: [best, which]\n")
        own, layers = self.rows_compared("experts.yaml", "--device", "tpu_v4", "--device", "h100")
        self.assertEqual((list(own["tpu_v4"]), list(own["h100"])), (["scores", "best", "which"], ["scores", "best"]))
        self.assertEqual(list(layers), ["scores", "best"])
        self.assertAlmostEqual(layers["best"]["tpu_v4"], own["tpu_v4"]["best"] + own["tpu_v4"]["which"], places=3)
        heads = "{shape: [2, 1, 4, 128], dtype: bf16}"
        self.write("turned.yaml", f"trace: turned\ninputs: {{q: {heads}, k: {heads}, v: {{shape: [2, 1, 512], dtype: bf16}}}}\nlayers:\n"
                   "  - {name: turned, op: rotary, in: q, axis: 1, weight_dtype: fp32}\n"
                   "  - {name: turned_keys, op: rotary, in: k, axis: 1, weight_dtype: fp32}\n"
                   "  - {name: keys, op: kv_cache, in: turned_keys, heads: 4, length: 256}\n"
                   "  - {name: values, op: kv_cache, in: v, heads: 4, length: 256}\noutputs: [turned, keys, values]\n")
        libraries = ("--device", "trt=h100", "--set", "trt:kernels.layers=tensorrt_llm", "--device", "vllm=h100", "--set", "vllm:kernels.layers=vllm")
        own, layers = self.rows_compared("turned.yaml", "--device", "tpu_v4", *libraries)
        self.assertEqual([list(own[name]) for name in ("trt", "vllm")], [["turned"], ["turned", "keys", "values"]])
        self.assertEqual(list(own["tpu_v4"]), ["turned", "turned_keys", "keys", "values"])
        self.assertEqual(list(layers), ["turned"])

    def test_attention_in_parts_is_compared_with_attention_as_a_whole(self):
        """No kernel of a V100 keeps scores on its SMs."""
        rows = "{shape: [2, 64, 256], dtype: fp16}"
        self.write("whole.yaml", f"trace: whole\ninputs: {{q: {rows}, k: {rows}, v: {rows}}}\nlayers:\n"
                   "  - {name: heads, op: attention, in: [q, k, v], heads: 4}\n  - {name: out, op: matmul, n: 256}\noutputs: [out]\n")
        own, layers = self.rows_compared("whole.yaml", "--device", "v100", "--device", "h100")
        self.assertEqual(list(own["v100"]), ["heads.scores", "heads.softmax", "heads", "out"])
        self.assertEqual((list(own["h100"]), list(layers)), (["heads", "out"],) * 2)
        self.assertAlmostEqual(layers["heads"]["v100"], sum(list(own["v100"].values())[:3]), places=3)

    def test_a_setting_that_one_device_does_not_have_is_refused_with_its_name(self):
        words = ["compare", "three_layers", "--device", "tpu_v4", "--device", "mine=h100", "--set"]
        refused = self.refusal(*words, "mxu.count=2")
        self.assertIn("--set mxu.count: error: on mine: unknown key 'mxu.count'", refused)
        refused = self.refusal(*words, "mine:sm.cout=2")
        self.assertIn("error: on mine: unknown key 'sm.cout' (did you mean 'sm.count'?)", refused)

    def test_a_peak_is_that_of_the_layer_s_number_format(self):
        # On one SM of each chip, so that what is multiplied decides. 1,410 and 1,980 MHz, 1,024 and 2,048 MACs in bf16.
        self.write("two.yaml", "trace: two\ninputs: {x: {shape: [512, 512], dtype: bf16}, y: {shape: [512, 512], dtype: "
                               "int8}}\nlayers:\n  - {name: wide, op: matmul, in: x, n: 512}\n"
                               "  - {name: narrow, op: matmul, in: y, n: 512}\noutputs: [wide, narrow]\n")
        found = self.comparison("two.yaml", "--device", "a100", "--device", "h100", "--set", "sm.count=1", "--set",
                                "run.inputs_at=dram", "--set", "run.outputs_to=dram")
        wide, narrow = found["comparisons"][0]["layers"]
        self.assertIn("(peak 2.888 against 8.11 TOPS)", wide["why"])
        self.assertIn("(peak 5.775 against 16.22 TOPS)", narrow["why"])

    def test_several_traces_are_summed_up_first(self):
        words = ["three_layers", "bert_base", "--device", "tpu_v4", "--device", "tpu_v5e"]
        text = self.answer("compare", *words)
        self.assertLess(text.index("bert_base"), text.index("\nlayer "))
        self.assertEqual([one["trace"] for one in self.comparison(*words)["comparisons"]], ["three_layers", "bert_base"])

    def test_the_table_has_a_row_for_each_layer_and_device(self):
        text = self.answer("compare", "three_layers", "--device", "tpu_v4", "--device", "tpu_v5e", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(len(rows), 2 * 4)
        for name in {row["layer"] for row in rows}:
            of = [row for row in rows if row["layer"] == name]
            self.assertEqual([row["fastest"] for row in of].count("1"), 1)
            self.assertEqual(min(float(row["times_fastest"]) for row in of), 1)

    def test_files_are_what_the_output_says(self):
        words = ["compare", "three_layers", "--device", "tpu_v4", "--device", "tpu_v5e"]
        json_text = self.answer(*words, "--format", "json", "-o", "out")
        self.assertEqual((self.directory / "out" / "comparison.json").read_text(), json_text)
        self.assertEqual((self.directory / "out" / "comparison.csv").read_text(), self.answer(*words, "--format", "csv"))

    def test_a_device_that_cannot_is_named_or_left_out(self):
        self.write("volume.yaml", "trace: volume\ninputs:\n  x: {shape: [1, 4, 8, 8, 16], dtype: bf16}\nlayers:\n"
                   "  - {name: y, op: conv3d, in: x, filters: 8, kernel: 3, pad: 1}\noutputs: [y]\n")
        words = ["compare", "volume.yaml", "--device", "tpu_v4", "--device", "h100"]
        message = self.refusal(*words)
        self.assertIn("on h100: ", message)
        self.assertIn("conv3d", message)
        found = json.loads(self.answer(*words, "--skip-unable", "--format", "json"))
        self.assertEqual([device["device"] for device in found["devices"]], ["tpu_v4"])
        self.refusal("compare", "volume.yaml", "--device", "a100", "--device", "h100", "--skip-unable")

    def test_wrong_use_is_refused_in_a_line(self):
        self.assertIn("two devices", self.refusal("compare", "three_layers"))
        self.assertIn("two devices", self.refusal("compare", "three_layers", "--device", "tpu_v4"))
        self.assertIn("twice", self.refusal("compare", "three_layers", "--device", "tpu_v4", "--device", "tpu_v4"))
        self.assertIn("did you mean 'tpu_v5e'", self.refusal("compare", "three_layers", "--device", "tpu_v4", "--device", "tpu_v5"
                                                             "ee"))
        self.assertIn("none of this command's devices", self.refusal(
            "compare", "three_layers", "--device", "tpu_v4", "--device", "tpu_v5e", "--set", "tpu_v3:mxu.count=2"))
        self.assertIn("expected DEVICE", self.refusal("compare", "three_layers", "--device", "=tpu_v4", "--device", "tpu_v5e"))
        self.assertIn("TRACE", self.refusal("compare", "--device", "tpu_v4", "--device", "tpu_v5e"))


if __name__ == "__main__":
    unittest.main()
