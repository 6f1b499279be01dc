# SPDX-License-Identifier: Apache-2.0
"""What GPUs of one node do together: accounts, links, measured times, shares of language models, and what is refused."""

import json
import sys
import unittest

from program import HOME, PROGRAM, ProgramTest

sys.path.insert(0, str(HOME / "tests" / "support"))
import gpu_collective_rows as measured  # noqa: E402

# Bytes of 8 chips' 1,048,576 elements of two bytes: message, sent.
KINDS = {"all_reduce": (2 << 20, 14 / 8), "all_gather": (16 << 20, 7 / 8), "reduce_scatter": (2 << 20, 7 / 8),
         "all_to_all": (2 << 20, 7 / 8)}
CONFIG = {"model_type": "llama", "hidden_size": 512, "intermediate_size": 1536, "num_attention_heads": 8, "num_key_value_heads": 8,
          "num_hidden_layers": 2, "vocab_size": 1024, "max_position_embeddings": 65536}


class SimtCollectives(ProgramTest):
    def op(self, device, columns, *settings):
        words = ["op", device, "collective", *columns.split(), "--format", "json"]
        for setting in settings:
            words += ["--set", setting]
        return json.loads(self.answer(*words))["devices"][0]

    def moved(self, total, begin, end):
        return sum(cell["bytes"] for cell in total["bytes"]["moved"] if (cell["from"], cell["to"]) == (begin, end))

    def test_every_byte_passes_the_links_once(self):
        for kind, (message, share) in KINDS.items():
            for device in ("a100", "l40s"):
                with self.subTest(kind=kind, device=device):
                    result = self.op(device, f"kind={kind} elements=1048576 chips=8 dtype=fp16", "collectives.in_switch=off")
                    total = result["total"]
                    self.assertIn("ring" if kind != "all_to_all" else "direct", result["layers"][0]["mapping"])
                    self.assertEqual(self.moved(total, "shared_memory", "chip_link"), message * share)
                    self.assertEqual(self.moved(total, "chip_link", "shared_memory"), message * share)
                    self.assertEqual(self.moved(total, "l2", "shared_memory"), 2 << 20)
                    written = {"all_gather": 16 << 20, "reduce_scatter": (2 << 20) // 8}.get(kind, 2 << 20)
                    self.assertEqual(self.moved(total, "shared_memory", "l2"), written)
                    stats = {(s["path"].split(".")[-1], s["name"]): s["value"] for s in result["stats"]}
                    self.assertEqual(stats["chip_link", "bytes_out"], message * share)

    def test_all_time_is_the_links_and_the_launch(self):
        total = self.op("a100", "kind=all_reduce elements=16777216 chips=8 dtype=fp16")["total"]
        self.assertEqual(total["bound_by"], "chips")
        self.assertAlmostEqual(total["classes"]["host"] + total["classes"]["launch"], 1, delta=0.01)
        self.assertAlmostEqual(sum(total["classes"].values()), 1, delta=1e-9)

    def test_a_memory_that_is_too_slow_holds_it_up(self):
        # 16.8 MB at 300 GB/s take longer than between chips at 1 TB/s.
        total = self.op("l4", "kind=all_reduce elements=8388608 chips=2 dtype=fp16", "chip_link.bandwidth=2000 GB/s",
                        "collectives.channel_bandwidth=1000 GB/s")["total"]
        self.assertGreater(total["classes"]["memory"], 0.1)

    def test_both_engines_take_the_same_time(self):
        for columns in ("kind=all_reduce elements=1000000 chips=4 dtype=fp16", "kind=all_gather elements=4096 chips=8 dtype=fp32"):
            steps, warps = (self.op("h100", columns, f"sm.engine={engine}")["total"] for engine in ("steps", "warps"))
            self.assertEqual(steps["time_ns"], warps["time_ns"])
            self.assertEqual(steps["bytes"], warps["bytes"])

    def test_the_switch_adds_on_hopper(self):
        result = self.op("h100", "kind=all_reduce elements=33554432 chips=8 dtype=bf16")
        self.assertTrue(result["layers"][0]["mapping"].startswith("in the switch, Simple"), result["layers"][0]["mapping"])

    def test_a_launch_is_the_librarys_own(self):
        times = {self.op("a100", "kind=all_reduce elements=4096 chips=2 dtype=fp16", f"run.launch={launch}")["total"]["time_ns"]
                 for launch in ("none", "graph", "stream")}
        self.assertEqual(len(times), 1)

    def test_measured_times(self):
        # Errors are those of tests/bench/gpu_collectives.py, with a little room; 20 % is what was asked for.
        for name, most in (("a100", 0.09), ("h200", 0.06), ("vidur_h100_dgx", 0.07), ("vidur_a100_dgx", 0.16),
                           ("vidur_a100_pcie", 0.04), ("vidur_h100_pcie", 0.03)):
            with self.subTest(name=name):
                rows = [row for row in measured.read(name) if row[3] >= measured.LARGE]
                error, _ = measured.mean_error(rows, measured.ask(PROGRAM, name, rows))
                self.assertLess(error, most)

    def test_tables_are_no_finer_than_what_they_are_held_to(self):
        for chip in ("a100", "h200"):
            points, held = (measured.read(chip, part) for part in ("calibration", "public"))
            self.assertLess(len({row[:1] + row[2:4] for row in points}), len(held))
            self.assertFalse({row[:4] for row in points} & {row[:4] for row in held})

    def test_it_is_explained(self):
        text = self.answer("explain", "a100", "collective", "kind=all_reduce", "elements=8388608", "chips=8", "dtype=fp16")
        for words in ("all_reduce of 8 chips, ", "ring, LL128", "24 CTAs on 108 SMs", "Bus bandwidth: ", "collectives.measured",
                      "Weighed by the library's own model", "Bound by chips", "tree"):
            self.assertIn(words, text)
        self.assertIn("all_reduce of 8 chips, 131.1 kB: ring, LL; 24 CTAs, sends 229.4 kB", self.answer("lower", "a100", self.layers("all_reduce", 8)))

    def layers(self, kind, chips):
        return self.write("sum.yaml", "trace: sum\ninputs:\n  x: {shape: [64, 1024], dtype: bf16}\nlayers:\n"
                                      f"  - {{name: both, op: collective, kind: {kind}, chips: {chips}, in: x}}\noutputs: [both]\n")

    def test_the_explanation_says_of_how_many_chips_the_measured_ones_are(self):
        for chips, said in ((4, "measured bandwidths of 8 chips (collectives.measured)"), (8, "measured bandwidths (collectives.measured)")):
            self.assertIn(said, self.answer("explain", "mi300x", "collective", "kind=all_reduce", "elements=4096", f"chips={chips}"))

    def test_a_device_without_links_refuses_it(self):
        text = (HOME / "configs" / "devices" / "a100.yaml").read_text()
        begin, end = text.index("\nchip_link:"), text.index("\n# Found by looking")
        self.write("alone.yaml", text[:begin] + text[end:])
        refusal = self.refusal("run", "alone.yaml", self.layers("all_reduce", 8))
        self.assertRegex(refusal, r"^sum\.yaml:5:\d+: error: 'both': collective needs chip_link: ")

    def test_more_chips_than_a_node_are_refused(self):
        refusal = self.refusal("run", "a100", self.layers("all_reduce", 16))
        self.assertRegex(refusal, r"^sum\.yaml:5:\d+: error: 'both': 16 chips, but 8 are joined by a100's links \(collectives\.most_chips\)")
        self.answer("run", "a100", "sum.yaml", "--set", "collectives.most_chips=16")

    def test_shares_that_do_not_divide_are_refused(self):
        self.assertRegex(self.refusal("run", "h100", self.layers("reduce_scatter", 3)), r"^sum\.yaml:5:\d+: error: .*3 chips do not divide")
        self.write("config.json", json.dumps(CONFIG))
        self.assertIn("3 chips do not divide", self.refusal("trace", "llm", "config.json", "--tensor-parallel", "3"))

    def test_a_share_runs_and_one_whose_cache_does_not_fit_is_refused(self):
        self.write("config.json", json.dumps(CONFIG))
        self.answer("trace", "llm", "config.json", "--batch", "4", "--tensor-parallel", "4", "-o", "step.yaml")
        run = json.loads(self.answer("run", "h100", "step.yaml", "--format", "json"))["devices"][0]
        self.assertGreater(sum(layer["op"] == "collective" for layer in run["layers"]), 4)
        self.answer("trace", "llm", "config.json", "--batch", "4096", "--context", "65536", "--tensor-parallel", "4", "-o", "step.yaml")
        refusal = self.refusal("run", "h100", "step.yaml")
        self.assertIn("KV cache", refusal)
        self.assertIn("h100's HBM3", refusal)

    def test_networks_are_compared_over_kinds(self):
        text = self.answer("compare", self.layers("all_reduce", 4), "--device", "a100", "--device", "l4", "--device", "tpu_v4")
        self.assertIn("chips", text)


if __name__ == "__main__":
    unittest.main()
