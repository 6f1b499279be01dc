# SPDX-License-Identifier: Apache-2.0
"""Layers of GPUs in which no tensor core works: elementwise ones, softmax, norms, transposes, top-k and reductions."""

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

    def test_rows_that_the_l2_does_not_hold_are_fetched_once(self):
        # 2,048 CTAs have a row of 16 KiB each under way, and read it 1 KiB (or 256 B) at a time.
        for device, op, columns, read in (("h100", "norm", "kind=rms rows=2048 cols=8192", 2048 * 8192 * 2),
                                          ("h100", "norm", "kind=rms rows=5841 cols=8097", 5841 * 8097 * 2),
                                          ("b200", "norm", "kind=rms rows=4096 cols=12288", 4096 * 12288 * 2),
                                          ("h100", "reduce", "kind=sum rows=1 cols=50000000", 100_000_000)):
            with self.subTest(device=device, columns=columns):
                total = self.total(device, op, columns + " dtype=bf16")
                self.assertAlmostEqual(total["bytes"]["dram_read"] / read, 1, delta=0.01)

    def test_a_memory_side_cache_lets_no_more_wait_to_be_written_than_may_be_dirty(self):
        times = []
        for millions in (36, 40, 44):  # results of 72 to 88 MB; the cache has 256 MiB, of which 1 may be dirty
            total = self.total("mi300x", "activation", f"function=relu elements={millions}000000 dtype=fp16")
            self.assertGreaterEqual(total["bytes"]["dram_written"], millions * 2_000_000 - 2 * 2**20)
            times.append(total["time_ns"] / millions)
        self.assertLess(max(times), 1.1 * min(times))

    def test_copies_get_of_the_memory_what_chips_were_measured_to_get(self):
        # gpu-benches, gpu-stream: triads of an A100 (80 GB) 1759, of a V100 814 GB/s.
        for device, dtype, measured_rate in (("a100", "fp32", 1759), ("v100", "fp32", 814)):
            with self.subTest(device=device):
                total = self.total(device, "elementwise", f"kind=add elements=60000000 dtype={dtype}")
                moved = total["bytes"]["dram_read"] + total["bytes"]["dram_written"]
                self.assertAlmostEqual(moved / total["time_ns"] / measured_rate, 1, delta=0.1)

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

    def moved(self, total, origin, to):
        return sum(cell["bytes"] for cell in total["bytes"]["moved"] if (cell["from"], cell["to"]) == (origin, to))

    def test_transposes_top_k_and_reductions_move_what_their_shapes_say(self):
        # Read by SMs, and written by them: of a top-k what is found, and that again when it is sorted, with where it stood.
        found = 300 * 8 * (2 + 4)
        sizes = {"transpose rows=300 cols=200": (300 * 200 * 2, 300 * 200 * 2),
                 "top_k rows=300 cols=64 k=8": (300 * 64 * 2 + found, 2 * found),
                 "top_k rows=300 cols=64 k=1": (300 * 64 * 2, 300 * (2 + 4)),
                 "reduce kind=sum rows=300 cols=200": (300 * 200 * 2, 300 * 2)}
        for device in ("a100", "h100", "mi210"):
            for words, (read, written) in sizes.items():
                for engine in ("steps", "warps"):
                    with self.subTest(device=device, words=words, engine=engine):
                        total = self.total(device, words.split()[0], " ".join(words.split()[1:]) + " dtype=bf16", f"sm.engine={engine}")
                        self.assertEqual(self.moved(total, "l2", "shared_memory"), read)
                        self.assertEqual(self.moved(total, "shared_memory", "l2"), written)
                        self.assertAlmostEqual(sum(total["classes"].values()), 1, delta=1e-9)

    def test_large_transposes_and_reductions_are_bound_by_the_memory(self):
        for words, most in (("transpose rows=16384 cols=16384", 1.6), ("reduce kind=sum rows=16384 cols=16384", 1.6)):
            total = self.total("h100", words.split()[0], " ".join(words.split()[1:]) + " dtype=bf16")
            least = total["bytes"]["compulsory_dram"] / 3352
            self.assertTrue(0.9 * least < total["time_ns"] < most * least, (words, total["time_ns"] / least))

    def test_transposes_top_k_and_reductions_are_explained(self):
        said = {"transpose rows=300 cols=200": ["Kernel: transpose, tiles of 64 x 64, 256 threads x 2", "A matrix of 300 x 200: rows of a tile are loaded"],
                "top_k rows=300 cols=64 k=8": ["Kernel: top 8 by 8 digits, 64 threads a row, 1 round", "Rows are read 10 times; again out of the L1",
                                               "To find the least of the 8 greatest of 64, digits of two bits are counted", "on, 8 of 8; what",
                                               "Then a kernel of its own: sort of 8, "],
                "reduce kind=max rows=4 cols=1000000": ["Kernel: reduction, 1 row of 512 threads x 4 of 123 CTAs", "the first one adds them up"]}
        for words, parts in said.items():
            text = self.answer("explain", "h100", *words.split(), "dtype=bf16")
            for part in parts:
                self.assertIn(part, text)
            self.assertTrue(all(len(line) <= 100 for line in text.split("Simulated: ")[0].splitlines()), text)

    def test_a_top_k_that_cannot_be_sorted_is_refused_with_the_layer(self):
        self.write("long.yaml", "trace: long\ninputs: {x: {shape: [2, 100000], dtype: fp16}}\nlayers:\n"
                                "  - {name: best, op: top_k, k: 60000, in: x}\noutputs: [best]\n")
        error = self.refusal("run", "h100", "long.yaml")
        self.assertRegex(error, r"long\.yaml:4:5: error: 'best': no kernel for top_k fits an SM of h100 \(1024 threads, \d+ registers each, "
                                r"458\.8 kB of shared memory\)")

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
        # The list of an MI210's rows says fp16; they look like fp32 (tests/golden/gpu_vector), and the script that times products
        # makes them in bf16: all 13, those of 32 and 64 rows among them. Its layer norms were 0.096 off
        # while a quarter of the L2 might wait to be written.
        for chip, dtype, bounds in (("a100", "fp16", {"softmax": 0.135, "layernorm": 0.08, "gelu": 0.05}),
                                    ("mi210", "fp16", {"softmax": 0.25, "layernorm": 0.305, "gelu": 0.14}),
                                    ("mi210", "fp32", {"softmax": 0.1, "layernorm": 0.112, "gelu": 0.055}),
                                    ("mi210", "bf16", {"matmul": 0.09}), ("mi210", "fp16", {"matmul": 0.17})):
            for op, bound in bounds.items():
                with self.subTest(chip=chip, dtype=dtype, op=op):
                    rows = measured.read(op, chip)
                    errors = measured.errors(op, rows, measured.ask(PROGRAM, op, rows, chip=chip, dtype=dtype), chip)
                    self.assertLess(sum(map(abs, errors)) / len(errors), bound)

    def test_a_library_that_nobody_knows_is_refused(self):
        error = self.refusal("op", "a100", "softmax", "rows=8", "cols=4096", "--set", "kernels.layers=pytorch_2022")
        self.assertIn("pytorch, vllm, pytorch_2023, inductor_2023", error)


if __name__ == "__main__":
    unittest.main()
