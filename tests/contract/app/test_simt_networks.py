# SPDX-License-Identifier: Apache-2.0
"""Convolutions, lookups and copies on GPUs, and networks as a whole."""

import json
import unittest

from program import ProgramTest


class SimtNetworks(ProgramTest):
    def total(self, device, shape, *settings):
        words = ["op", device, "matmul", *shape.split(), "--format", "json"]
        for setting in settings:
            words += ["--set", setting]
        return json.loads(self.answer(*words))["devices"][0]["total"]

    def test_convolutions_of_one_pixel_are_the_products_that_they_look_like(self):
        for device in ("a100", "h100"):
            product = self.total(device, "m=784 n=256 k=1024")
            words = "n=4 h=14 w=14 c=1024 k=256 r=1 s=1".split()
            row = json.loads(self.answer("op", device, "conv2d", *words, "--format", "json"))["devices"][0]["total"]
            for key in ("time_ns", "macs", "bytes", "class_slots"):
                self.assertEqual(row[key], product[key], (device, key))
            # Of every other pixel and row a quarter is read, and nothing else is different but where tensors lie.
            words = "n=4 h=28 w=28 c=1024 k=256 r=1 s=1 stride=2".split()
            row = json.loads(self.answer("op", device, "conv2d", *words, "--format", "json"))["devices"][0]["total"]
            self.assertAlmostEqual(row["time_ns"] / product["time_ns"], 1, delta=0.01)
            self.assertAlmostEqual(row["bytes"]["dram_read"] / product["bytes"]["dram_read"], 1, delta=0.01)

    def test_a_convolution_is_explained_as_the_product_that_it_becomes(self):
        text = self.answer("explain", "h100", "conv2d", *"n=8 h=56 w=56 c=64 k=64 r=3 s=3 pad=1".split())
        self.assertIn("C[25,088 x 64] = A[25,088 x 576] B[576 x 64]", text)
        self.assertIn("rows of A are 8 x 56 x 56 output pixels", text)
        self.assertIn("one of 3 x 3 taps of up to 64 channels", text)
        self.assertIn("9 steps of 64 along K", text)
        self.assertIn("Weighed by estimate", text)
        first = self.answer("explain", "a100", "conv2d", *"n=1 h=224 w=224 c=3 k=64 r=7 s=7 stride=2 pad=3".split())
        self.assertRegex(first, r"a step along K takes \d+ of 7 x 7 taps\.\nA kernel ahead pads pixels to 8 channels")
        depthwise = self.answer("explain", "a100", "conv2d", *"n=1 h=56 w=56 c=96 k=96 r=3 s=3 pad=1 groups=96".split())
        self.assertIn("Kernel: depthwise 3x3, 128 threads x 1", depthwise)
        self.assertIn("Kernel: pool 3x3", self.answer("explain", "h100", "pool", "kind=max",
                                                      *"n=1 h=112 w=112 c=64 r=3 s=3 stride=2 pad=1".split()))

    def test_taps_find_each_others_lines_in_the_l2(self):
        # The map of 6.4 MB once, and weights; nine taps ask for it.
        words = "n=16 h=56 w=56 c=64 k=64 r=3 s=3 pad=1".split()
        row = json.loads(self.answer("op", "a100", "conv2d", *words, "--format", "json"))["devices"][0]["total"]
        self.assertEqual(row["macs"], 16 * 56 * 56 * 64 * 64 * 9)
        self.assertEqual(row["bytes"]["dram_read"], 2 * (16 * 56 * 56 * 64 + 64 * 64 * 9))
        # Of 56 x 56 output pixels 56 x 55 meet a row (column) of zeros with their first and last taps.
        inside = (56 + 2 * 55) ** 2 * 16 * 64
        moved = sum(move["bytes"] for move in row["bytes"]["moved"] if (move["from"], move["operand"]) == ("l2", "activations"))
        self.assertEqual(moved, 2 * inside)

    def test_an_mi210_runs_networks_and_refuses_formats_that_it_lacks(self):
        for network in ("bert_base", "gpt2"):
            row = json.loads(self.answer("run", "mi210", network, "--format", "json"))["devices"][0]["total"]
            self.assertAlmostEqual(sum(row["classes"].values()), 1, delta=1e-9)
            self.assertEqual(row["macs"], json.loads(
                self.answer("run", "a100", network, "--format", "json"))["devices"][0]["total"]["macs"])
        for dtype in ("fp8", "int4"):
            refusal = self.refusal("op", "mi210", "matmul", "m=256", "n=256", "k=256", f"dtype={dtype}")
            self.assertIn(f"no tensor core takes dtype '{dtype}'; the tensor cores have: int8, bf16, fp16", refusal)
        text = self.answer("explain", "mi210", "matmul", "m=1280", "n=2048", "k=6144")
        self.assertIn("Weighed by estimate", text)

    def test_pipelines_alone_have_slots_for_layers_in_formats_that_they_do_not_multiply(self):
        # Of an Apple GPU: 128 lanes a core, in fp16 and fp32.
        for dtype in ("bf16", "int8", "fp16", "fp32"):
            depthwise = "n=1 h=16 w=15 c=4 k=4 r=3 s=3 pad=1 groups=4".split()
            for words in (("conv2d", *depthwise), ("softmax", "rows=64", "cols=128")):
                total = json.loads(self.answer("op", "apple_m1", *words, f"dtype={dtype}", "--format", "json"))["devices"][0]["total"]
                slots = 8 * 128 * round(total["time_ns"] * 1000)  # of a picosecond each
                self.assertEqual(sum(total["class_slots"].values()), slots, (words, dtype))
                self.assertAlmostEqual(total["class_slots"]["useful"] / 1e12 * 1.278e9, total["matrix_macs"], delta=0.01)

    def test_chips_of_several_dies_run_networks_and_tell_what_their_caches_gave(self):
        def moved(total, source, target):
            return sum(cell["bytes"] for cell in total["bytes"]["moved"] if (cell["from"], cell["to"]) == (source, target))

        for device in ("mi300x", "mi325x"):
            for network in ("resnet50", "bert_base"):
                total = json.loads(self.answer("run", device, network, "--set", "run.inputs_at=dram", "--set",
                                               "run.outputs_to=dram", "--format", "json"))["devices"][0]["total"]
                self.assertAlmostEqual(sum(total["classes"].values()), 1, delta=1e-9)
                self.assertEqual(moved(total, "dram", "l2"), 0)
                self.assertEqual(moved(total, "memory_side_cache", "dram"), total["bytes"]["dram_written"])
                self.assertGreater(moved(total, "memory_side_cache", "l2"), moved(total, "dram", "memory_side_cache"))
        # Rows of A and columns of B go to the dies whose tiles need them: to fewer with neighbours on a die.
        fetched = {}
        for neighbours in ("true", "false"):
            total = self.total("mi300x", "m=4096 n=4096 k=1024 dtype=bf16", f"kernels.neighbours_on_die={neighbours}")
            fetched[neighbours] = moved(total, "memory_side_cache", "l2")
            self.assertEqual(moved(total, "dram", "memory_side_cache"), 2 * 2 * 4096 * 1024)
        self.assertLess(fetched["true"], 0.8 * fetched["false"])
        text = self.answer("explain", "mi300x", "matmul", "m=2048", "n=2048", "k=2048", "dtype=fp8")
        self.assertIn("without the memory-side cache", text)
        self.assertIn("That cache gave", text)
        refusal = self.refusal("op", "mi300x", "matmul", "m=64", "n=64", "k=64", "--set", "chiplets.count=3")
        self.assertIn("3 dies, among which 304 SMs (sm.count) cannot be shared evenly", refusal)
        words = "kind=all_reduce elements=8388608 chips=8 dtype=fp16".split()
        total = json.loads(self.answer("op", "mi300x", "collective", *words, "--format", "json"))["devices"][0]["total"]
        self.assertEqual(moved(total, "shared_memory", "chip_link"), moved(total, "chip_link", "shared_memory"))
        self.assertIn("mi210 has no link to other chips", self.refusal("op", "mi210", "collective", *words))

    def test_a_v100_runs_networks_in_fp16_and_fp32_and_refuses_formats_that_it_lacks(self):
        for network, macs in (("resnet50", 4_089_184_256), ("bert_base", None)):
            row = json.loads(self.answer("run", "v100", network, "--set", "workload.dtype=fp16", "--format", "json"))["devices"][0]["total"]
            self.assertAlmostEqual(sum(row["classes"].values()), 1, delta=1e-9)
            if macs is not None:
                self.assertEqual(row["macs"], macs)
        refusal = self.refusal("op", "v100", "matmul", "m=256", "n=256", "k=256", "dtype=bf16")
        self.assertIn("no tensor core takes dtype 'bf16'; the tensor cores have: fp16; FP32 pipelines: fp32", refusal)
        # Winograd's MACs are the multiplications of its products: 36 for the 144 of 4 x 4 results.
        words = "n=16 h=56 w=56 c=64 k=64 r=3 s=3 pad=1 dtype=fp32".split()
        for offered, part in (("true", 0.25), ("false", 1)):
            row = json.loads(self.answer("op", "v100", "conv2d", *words, "--set", f"kernels.winograd={offered}", "--format",
                                         "json"))["devices"][0]["total"]
            self.assertEqual(row["macs"], part * 16 * 56 * 56 * 64 * 64 * 9)
            self.assertLessEqual(row["utilization"], 1)
        text = self.answer("explain", "v100", "conv2d", *words)
        self.assertIn("Winograd F(4x4, 3x3): 36 products, behind transforms", text)
        self.assertRegex(text, r"FP32 pipes need [0-9.]+\n")

    def test_networks_of_convolutions_run_from_end_to_end(self):
        for device, network, macs in (("h100", "resnet50", 4_089_184_256), ("a100", "mobilenet_v2", 300_774_272),
                                      ("mi210", "resnet50", 4_089_184_256)):
            row = json.loads(self.answer("run", device, network, "--format", "json"))["devices"][0]
            self.assertEqual(row["total"]["macs"], macs)
            self.assertAlmostEqual(sum(row["total"]["classes"].values()), 1, delta=1e-9)
        # In int8 with larger batches MLPerf has 40,000 (A100) and 90,000 (H100) images a second: half of that at most.
        rows = [json.loads(self.answer("run", device, "resnet50", "--set", "workload.batch=32", "--set", "run.inputs_at=dram",
                                       "--format", "json"))["devices"][0]["total"] for device in ("a100", "h100")]
        for row, most in zip(rows, (20_000, 45_000)):
            images = 1e9 * 32 / row["time_ns"]
            self.assertTrue(0.4 * most < images < most, images)

    def test_networks_take_about_what_tensorrt_was_measured_to_take(self):
        # NVIDIA, TensorFlow-Quantization toolkit, model zoo results: an A100, TensorRT 8.4, int8, batch 1, in ms.
        for network, measured in (("resnet50_v1", 0.46), ("mobilenet_v2", 0.30), ("efficientnet", 0.67)):
            settings = [word for setting in ("workload.dtype=int8", "run.inputs_at=dram", "run.outputs_to=dram",
                                             "run.launch=stream", "run.repeat=3") for word in ("--set", setting)]
            row = json.loads(self.answer("run", "a100", network, *settings, "--format", "json"))["devices"][0]["total"]
            self.assertAlmostEqual(row["time_ns"] / 1e6 / measured, 1, delta=0.15, msg=network)

    def test_networks_of_experts_run_from_end_to_end(self):
        for device, words in (("h100", "mixtral_8x7b --tensor-parallel 2 --batch 4 --context 512"),
                              ("a100", "qwen3_30b_a3b --tensor-parallel 4 --batch 4 --context 512"),
                              ("h100", "deepseek_v2_lite --phase prefill --context 128")):
            self.answer("trace", "llm", *words.split(), "-o", "experts.yaml")
            result = json.loads(self.answer("run", device, "experts.yaml", "--format", "json"))["devices"][0]
            self.assertAlmostEqual(sum(result["total"]["classes"].values()), 1, delta=1e-9)
            ops = {layer["op"] for layer in result["layers"]}
            # The scores of the best and who they are, in one; who chose an expert; and the scores by expert.
            for op in ("top_k + top_k", "top_k", "transpose"):
                self.assertIn(op, ops, (device, words))

    def op(self, device, *words):
        return json.loads(self.answer("op", device, *words, "--format", "json"))["devices"][0]["layers"][0]

    def moved(self, row, origin, to):
        return {cell["operand"]: cell["bytes"] for cell in row["bytes"]["moved"]
                if cell["from"] == origin and cell["to"] == to}

    def test_of_a_table_only_the_rows_that_are_looked_up_are_read(self):
        row = self.op("a100", "embedding", "vocabulary=30522", "width=768", "lookups=4096", "dtype=fp16")
        # Rows of 1,536 bytes, whole sectors; indices of 4 bytes.
        self.assertEqual(self.moved(row, "dram", "l2"), {"weights": 4096 * 1536, "activations": 4096 * 4})
        self.assertEqual(row["bytes"]["compulsory_dram"], 4096 * 1536 + 4096 * 4 + 4096 * 1536)
        total = self.answer("op", "a100", "embedding", "vocabulary=30522", "width=768", "lookups=4096", "dtype=fp16", "--format", "json")
        self.assertEqual(json.loads(total)["devices"][0]["total"]["bytes"]["compulsory_dram"], row["bytes"]["compulsory_dram"])
        for spread in ("even", "random"):
            again = self.op("a100", "gather", "rows=100", "width=64", "lookups=51200", "dtype=fp32", "spread=" + spread)
            self.assertEqual(self.moved(again, "l2", "shared_memory")["activations"], 51200 * (256 + 4))
            self.assertEqual(self.moved(again, "dram", "l2")["activations"], 100 * 256 + 51200 * 4)

        self.assertIn("at most 134217728 are simulated",
                      self.refusal("op", "a100", "gather", "rows=100", "width=8", "lookups=1000000000", "dtype=fp16"))

    def test_of_a_cache_only_new_rows_are_written(self):
        self.write("cache.yaml", "trace: cache\ninputs:\n  x: {shape: [2, 1, 1024], dtype: fp16}\nlayers:\n"
                   "  - {name: cache, op: kv_cache, heads: 8, length: 512, in: x}\noutputs: [cache]\n")
        result = json.loads(self.answer("run", "h100", "cache.yaml", "--format", "json"))["devices"][0]
        self.assertEqual(self.moved(result["layers"][0], "shared_memory", "l2"), {"kv_cache": 2 * 1024 * 2})
        # Two items of one row; the cache stays where it is.
        self.assertEqual(result["layers"][0]["bytes"]["compulsory_dram"], 2 * 2 * 1024 * 2)
        self.assertEqual(self.moved(result["layers"][0], "dram", "host"), {})

    def test_copies_and_cells_move_what_their_shapes_say(self):
        sizes = {"slice rows=100 cols=300 begin=10 size=20": (100 * 20, 100 * 20),
                 "lstm_cell batch=20 hidden=96": (20 * 5 * 96, 20 * 2 * 96), "gru_cell batch=20 hidden=96": (20 * 7 * 96, 20 * 96)}
        for words, (read, written) in sizes.items():
            row = self.op("h100", *words.split(), "dtype=fp32")
            self.assertEqual(sum(self.moved(row, "l2", "shared_memory").values()), 4 * read, words)
            self.assertEqual(sum(self.moved(row, "shared_memory", "l2").values()), 4 * written, words)
            self.assertEqual(row["bytes"]["compulsory_dram"], 4 * (read + written), words)
        # What is converted is as long as it is on either side.
        row = self.op("h100", *"slice rows=100 cols=300 begin=10 size=20 dtype=fp16 dtype_out=fp32".split())
        self.assertEqual(row["bytes"]["compulsory_dram"], 100 * 20 * (2 + 4))

    def test_networks_of_transformers_run_as_a_whole(self):
        result = json.loads(self.answer("run", "a100", "bert_base", "--format", "json"))["devices"][0]
        kinds = {row["op"] for row in result["layers"]}
        self.assertLessEqual({"embedding", "transpose", "softmax", "norm", "matmul"}, kinds)
        self.assertEqual(sum(row["cycles"] for row in result["layers"]), result["total"]["cycles"])


if __name__ == "__main__":
    unittest.main()
