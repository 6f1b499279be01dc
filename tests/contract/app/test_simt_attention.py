# SPDX-License-Identifier: Apache-2.0
"""Attention on GPUs: prefills, steps of decoding, what is explained and refused."""

import json
import re
import unittest

from program import ProgramTest


class SimtAttention(ProgramTest):
    def attention(self, device, shape, *settings):
        words = ["op", device, "attention", *shape.split(), "--format", "json"]
        for setting in settings:
            words += ["--set", setting]
        return json.loads(self.answer(*words))["devices"][0]

    def test_attention_runs_by_steps_and_in_warps_with_all_its_pairs(self):
        for device in ("a100", "h100"):
            for shape, pairs in (("batch=2 q_len=300 kv_len=300 heads=4 kv_heads=2 head_dim=64 causal=true", 300 * 301 // 2),
                                 ("batch=2 q_len=33 kv_len=200 heads=4 kv_heads=2 head_dim=80", 33 * 200),
                                 ("batch=2 q_len=1 kv_len=900 heads=4 kv_heads=2 head_dim=128 causal=true", 900)):
                for engine in ("steps", "warps"):
                    with self.subTest(device=device, shape=shape, engine=engine):
                        row = self.attention(device, shape + " dtype=bf16", f"sm.engine={engine}")["layers"][0]
                        dim = int(re.search(r"head_dim=(\d+)", shape).group(1))
                        self.assertEqual(row["macs"], 2 * 4 * pairs * 2 * dim)
                        self.assertRegex(row["mapping"], "(flash|masked) attention")
                        self.assertTrue(all(count >= 0 for count in row["class_slots"].values()))

    def test_causal_attention_takes_about_half_of_all(self):
        for device in ("a100", "h100"):
            shape = "batch=4 q_len=4096 kv_len=4096 heads=32 head_dim=128 dtype=bf16"
            whole = self.attention(device, shape)["total"]["time_ns"]
            causal = self.attention(device, shape + " causal=true")["total"]["time_ns"]
            self.assertGreater(causal / whole, 0.5)
            self.assertLess(causal / whole, 0.6)

    def test_decoding_reads_the_cache_once_and_is_held_up_by_the_memory(self):
        # 16 x 4096 rows of 8 heads of 128, keys and values: 268 MB, at 2,039 and 3,352 GB/s.
        for device, least in (("a100", 131.6), ("h100", 80.1)):
            result = self.attention(device, "batch=16 q_len=1 kv_len=4096 heads=64 kv_heads=8 head_dim=128 dtype=bf16 "
                                            "cache=true causal=true")
            total = result["total"]
            self.assertEqual(total["bound_by"], "memory")
            self.assertGreater(total["time_ns"] / 1000, least)
            self.assertLess(total["time_ns"] / 1000, 1.7 * least)
            cache = sum(moved["bytes"] for moved in total["bytes"]["moved"]
                        if moved["operand"] == "kv_cache" and moved["from"] == "dram")
            self.assertGreaterEqual(cache, 2 * 16 * 4096 * 8 * 128 * 2)
            self.assertLess(cache, 1.02 * 2 * 16 * 4096 * 8 * 128 * 2)
            # Besides the cache, queries and results of 16 x 64 heads.
            self.assertEqual(total["bytes"]["compulsory_dram"], 2 * (2 * 16 * 4096 * 8 * 128 + 2 * 16 * 64 * 128))

    def test_heads_that_share_keys_read_them_once(self):
        shape = "batch=4 q_len=1 kv_len=4096 heads=32 head_dim=128 dtype=bf16 cache=true causal=true"
        alone = self.attention("a100", shape)["total"]
        shared = self.attention("a100", shape + " kv_heads=8")["total"]
        self.assertEqual(alone["macs"], shared["macs"])
        self.assertLess(shared["bytes"]["dram_read"], 0.27 * alone["bytes"]["dram_read"])

    def test_attention_with_scores_as_tensors_is_products_and_a_softmax(self):
        layers = self.attention("a100", "batch=2 q_len=64 kv_len=128 heads=4 head_dim=64 dtype=fp16 fused=false")["layers"]
        self.assertEqual([layer["op"] for layer in layers], ["attention_scores", "softmax", "attention_context"])
        self.assertEqual([layer["macs"] for layer in layers], [2 * 4 * 64 * 128 * 64, 0, 2 * 4 * 64 * 128 * 64])

    def test_attention_is_explained_with_its_kernel_its_grid_and_its_bounds(self):
        text = self.answer("explain", "a100", "attention",
                           *"batch=8 q_len=2048 kv_len=2048 heads=24 head_dim=128 dtype=bf16 causal=true".split())
        self.assertIn("Kernel: flash attention 64x128, heads of 128, 4 warps\n", text)
        self.assertIn("Grid: 32 tiles of rows x 24 heads x 8 items = 6,144 CTAs; an SM holds 2, so 28.44 waves.", text)
        self.assertIn("One head behind the other, the tiles that see fewest keys first.", text)
        self.assertIn("1 to 16 blocks of 128 keys", text)  # 64 queries see a block, 2,048 sixteen
        # 8 x 24 x 2048 x 2049 / 2 pairs of 256 MACs at 108 x 1024 a cycle of 1410 MHz.
        self.assertIn("661.4 us for the MACs", text)
        self.assertRegex(text, r"Bound by (compute|on_chip)")
        # On Hopper all heads' last tiles first, where keys and values of all of them fit the L2: 50 MiB are 50 heads.
        for heads, order in ((50, "50 heads at a time, the tiles that see most keys first."),
                             (51, "One head behind the other, the tiles that see fewest keys first.")):
            text = self.answer("explain", "h100", "attention",
                               *f"batch=1 q_len=2048 kv_len=2048 heads={heads} head_dim=128 dtype=bf16 causal=true".split())
            self.assertIn(order, text)
        text = self.answer("explain", "h100", "attention",
                           *"batch=8 q_len=1 kv_len=8192 heads=64 kv_heads=8 head_dim=128 dtype=bf16 cache=true".split())
        self.assertIn("8 heads packed, 16 parts of the keys", text)
        self.assertIn("the last CTA of a sequence joins them", text)

    def test_attention_of_several_kernels_is_explained_with_all_of_them(self):
        text = self.answer("explain", "v100", "attention", *"q_len=256 kv_len=256 heads=8 head_dim=64 dtype=fp16 causal=true".split())
        for head in ("attention.scores, attention_scores:\nC[256 x 256] = A[256 x 64] B[64 x 256] in fp16",
                     "attention.softmax, softmax:\nsoftmax in fp16", "attention, attention_context:\nC[256 x 64] = "):
            self.assertIn(head, text)
        self.assertEqual(text.count("Simulated: "), 1)

    def test_one_head_for_each_head_of_keys_decodes_on_fp32_pipes(self):
        for engine in ("steps", "warps"):
            row = self.attention("h100", "batch=80 q_len=1 kv_len=40 heads=8 head_dim=64 dtype=bf16 causal=true",
                                 f"sm.engine={engine}")["layers"][0]
            self.assertIn("masked attention of 256 keys at a time, heads of 64, 8 warps", row["mapping"])
            self.assertEqual(row["macs"], 80 * 8 * 40 * 2 * 64)
            self.assertGreater(row["classes"]["vector"], 0.3)
        # As few heads as leave SMs empty have CTAs of more threads, and parts of the keys: one more than 4,096 keys
        # fill, as the library counts the new one twice (multi_block_grid_setup, of lengths that have it).
        row = self.attention("h100", "batch=1 q_len=1 kv_len=4096 heads=8 head_dim=128 dtype=bf16 cache=true")["layers"][0]
        self.assertIn("512 keys at a time, heads of 128, 32 warps, 9 parts of the keys", row["mapping"])

    def test_caches_are_read_at_the_memory_s_share_of_rows_that_lie_apart(self):
        for engine in ("steps", "warps"):
            times = []
            for share in ("1", "0.5"):
                words = "batch=33 q_len=1 kv_len=4096 heads=8 kv_heads=1 head_dim=128 dtype=bf16 causal=true cache=true"
                total = self.attention("h100", words, f"sm.engine={engine}", f"calibrated.memory_share={share}")["total"]
                times.append(total["time_ns"])
            # Keys and values of 33 sequences, 4096 keys of 256 B each, at half of 3352 GB/s.
            least = 33 * 4096 * 2 * 256 / (0.5 * 3352)
            self.assertGreater(times[1], least)
            self.assertLess(times[1], 1.25 * least)
            self.assertLess(times[0], 0.8 * least)

    def test_attention_that_no_kernel_does_is_refused_in_a_line(self):
        words = "q_len=8 kv_len=8 heads=2 dtype=bf16".split()
        self.assertIn("no attention kernel has heads of 300 elements; the longest are of 256",
                      self.refusal("op", "a100", "attention", *words, "head_dim=300"))
        self.assertIn("no tensor core takes dtype 'fp8'; the tensor cores have: int4, int8, bf16, fp16; FP32 pipelines: fp32",
                      self.refusal("op", "a100", "attention", *"q_len=8 kv_len=8 head_dim=64 dtype=fp8".split()))
        self.assertIn("no attention kernel for bf16 fits an SM of a100",
                      self.refusal("op", "a100", "attention", *"q_len=100 kv_len=200 heads=2 dtype=bf16 head_dim=128".split(),
                                   "--set", "sm.shared.most_of_cta=32 KiB"))

    def test_formats_without_a_kernel_of_one_piece_have_products_and_a_softmax(self):
        words = "batch=2 q_len=100 kv_len=300 heads=12 kv_heads=4 head_dim=64".split()
        for device, dtype in (("v100", "fp16"), ("a100", "fp32")):
            fused, apart = (json.loads(self.answer("op", device, "attention", *words, f"dtype={dtype}", *more, "--format",
                                                   "json"))["devices"][0] for more in ((), ("fused=false",)))
            self.assertEqual([layer["name"] for layer in fused["layers"]],
                             ["attention.scores", "attention.softmax", "attention"])
            self.assertEqual(fused["total"]["macs"], apart["total"]["macs"])
            self.assertEqual(fused["total"]["cycles"], apart["total"]["cycles"])

    def test_causal_attention_with_scores_as_tensors_multiplies_whole_matrices(self):
        for device, words in (("a100", "dtype=fp16 fused=false"), ("v100", "dtype=fp16"), ("a100", "dtype=fp32")):
            shape = f"batch=2 q_len=64 kv_len=128 heads=4 head_dim=64 {words}"
            causal, whole = (self.attention(device, f"{shape} causal={causal}") for causal in ("true", "false"))
            self.assertEqual(causal["total"]["macs"], 2 * 2 * 4 * 64 * 128 * 64)
            self.assertEqual(causal["total"]["cycles"], whole["total"]["cycles"])

    def test_a_cache_beyond_the_memory_is_refused_with_its_bytes(self):
        error = self.refusal("op", "a100", "attention", *"batch=256 q_len=1 kv_len=131072 heads=64 kv_heads=8 head_dim=128 "
                                                         "dtype=bf16 cache=true".split())
        self.assertIn("a100's HBM2E has 80 GiB", error)
        self.assertIn("137.4 GB KV cache", error)


if __name__ == "__main__":
    unittest.main()
