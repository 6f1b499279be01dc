# SPDX-License-Identifier: Apache-2.0
"""Reuse of repeated blocks: a network of many equal layers takes as long, within 0.1 %, as if all were simulated."""
import json
import pathlib
import tempfile
import unittest

from program import ProgramTest

SHORT = ("bert_base", "--set", "workload.layers=24")
BERT = (*SHORT, "--set", "workload.seq=256")  # of 128 tokens the turns differ too much on tpu_v4 to be reused


class Reuse(ProgramTest):
    def result(self, device, *settings, trace=BERT):
        answer = self.answer("run", device, *trace, *settings, "--format", "json")
        return json.loads(answer)["devices"][0]

    def compare(self, device, *settings, trace=BERT):
        """Answers the run with reuse, compared with the one without."""
        return self.compare_both(device, *settings, trace=trace)[0]

    def compare_both(self, device, *settings, trace=BERT, cache=False):
        """Answers both. Where there is a cache, turns differ by chance: times and bytes are known to 0.2 %."""
        reused = self.result(device, *settings, trace=trace)
        whole = self.result(device, *settings, "--set", "run.reuse=off", trace=trace)
        total, other = reused["total"], whole["total"]
        self.assertIsNone(whole["reuse"])
        self.assertEqual(reused["reuse"] is None, not any(row["reused"] for row in reused["layers"]))
        if reused["reuse"]:
            self.assertEqual(reused["reuse"]["confidence"], 0.95 if cache else None)
            self.assertTrue(0 <= reused["reuse"]["time_known_to"] <= (0.002 if cache else 0.001))
        self.assertLessEqual(abs(total["cycles"] - other["cycles"]), other["cycles"] / (500 if cache else 1000))
        for key in ("macs", "matrix_macs"):
            self.assertEqual(total[key], other[key])
        if cache:
            self.assert_bytes_alike(total["bytes"], other["bytes"])
        else:
            self.assertEqual(total["bytes"], other["bytes"])
        for name, share in total["classes"].items():
            self.assertAlmostEqual(share, other["classes"][name], delta=0.005)
        for key in ("name", "op", "mapping", "macs"):
            self.assertEqual([row[key] for row in reused["layers"]], [row[key] for row in whole["layers"]])
        self.assertFalse(any(row["reused"] for row in whole["layers"]))
        counts = {(stat["path"], stat["name"]): stat["value"] for stat in whole["stats"]}
        for stat in reused["stats"]:
            if not cache and stat["unit"] in ("B", "bursts", "MACs", "passes", "descriptors") and stat["name"] != "row_hits":
                self.assertEqual(stat["value"], counts[stat["path"], stat["name"]], stat["path"] + stat["name"])
        self.assertEqual(sum(row["cycles"] for row in reused["layers"]), total["cycles"])
        self.assertAlmostEqual(sum(step["time_ns"] for step in reused["critical_path"]), total["time_ns"])
        return reused, whole

    def assert_bytes_alike(self, bytes, other):
        self.assertEqual(bytes["compulsory_dram"], other["compulsory_dram"])
        for key in ("dram_read", "dram_written"):
            self.assertAlmostEqual(bytes[key], other[key], delta=other["dram_read"] / 500)
        inner, expected = ({(cell["from"], cell["to"], cell["operand"]): cell["bytes"] for cell in table["moved"]
                            if "dram" not in (cell["from"], cell["to"])} for table in (bytes, other))
        self.assertEqual(inner, expected)

    def test_steps_of_a_long_product_are_taken_over_from_its_first_ones(self):
        """One layer of many equal steps, whose operands meet the same channels and banks in each."""
        for device, sizes in (("tpu_v4", "m=65536 n=1024 k=1024"), ("tpu_v4", "m=190734 n=4096 k=768"), ("tpu_v2", "m=81920 n=1024 k=1024")):
            with self.subTest(device=device, sizes=sizes):
                asked = ("op", device, "matmul", *sizes.split(), "dtype=bf16", "--set", "placement.trials=1", "--format", "json")
                few, whole = (json.loads(self.answer(*asked, "--set", f"run.reuse={reuse}"))["devices"][0] for reuse in ("on", "off"))
                self.assertTrue(few["layers"][0]["reused"])
                self.assertFalse(whole["layers"][0]["reused"])
                self.assertLessEqual(abs(few["total"]["cycles"] - whole["total"]["cycles"]), whole["total"]["cycles"] / 1000)
                for key in ("macs", "matrix_macs", "lane_cycles", "bytes", "roofline", "roofline_bound", "bound_by"):
                    self.assertEqual(few["total"][key], whole["total"][key], key)
                    if key in few["layers"][0]:
                        self.assertEqual(few["layers"][0][key], whole["layers"][0][key], key)
                for name, share in few["total"]["classes"].items():
                    self.assertAlmostEqual(share, whole["total"]["classes"][name], delta=0.005)
                counts = {(stat["path"], stat["name"]): stat["value"] for stat in whole["stats"]}
                for stat in few["stats"]:
                    if stat["unit"] in ("B", "bursts", "MACs", "passes", "descriptors") and stat["name"] != "row_hits":
                        self.assertEqual(stat["value"], counts[stat["path"], stat["name"]], stat["path"] + stat["name"])

    def test_ctas_of_a_long_kernel_are_taken_over_from_its_first_ones(self):
        """Each does the same; how long they take is known from turns of them, as is what the memory moves."""
        for words in ("h100 matmul m=1048576 n=1024 k=1024", "mi210 norm kind=layer rows=1048576 cols=256", "l4 elementwise kind=add elements=403478272"):
            with self.subTest(words=words):
                few, whole = (json.loads(self.answer("op", *words.split(), "dtype=bf16", "--set", f"run.reuse={reuse}", "--format", "json"))["devices"][0]
                              for reuse in ("on", "off"))
                self.assertTrue(few["layers"][0]["reused"])
                self.assertFalse(whole["layers"][0]["reused"])
                total, other = few["total"], whole["total"]
                self.assertAlmostEqual(total["time_ns"], other["time_ns"], delta=other["time_ns"] / 500)
                self.assertEqual(few["reuse"]["confidence"], 0.95)
                self.assertTrue(0 <= few["reuse"]["time_known_to"] <= 0.002)
                self.assertIsNone(whole["reuse"])
                for key in ("macs", "matrix_macs", "bound_by"):
                    self.assertEqual(total[key], other[key])
                for key in ("mapping", "op", "macs"):
                    self.assertEqual(few["layers"][0][key], whole["layers"][0][key])
                self.assertEqual(total["bytes"]["compulsory_dram"], other["bytes"]["compulsory_dram"])
                for key in ("dram_read", "dram_written"):
                    self.assertAlmostEqual(total["bytes"][key], other["bytes"][key], delta=other["bytes"]["dram_read"] / 250)
                for name, share in total["classes"].items():
                    self.assertAlmostEqual(share, other["classes"][name], delta=0.005)
                self.assertAlmostEqual(few["energy"]["total_pj"], whole["energy"]["total_pj"], delta=whole["energy"]["total_pj"] / 250)

    def test_steps_that_end_a_little_early_do_not_make_a_layer_faster_than_the_arrays(self):
        """The two that are measured take 0.03 % less than their MACs do: the second one's last store ended early."""
        answer = self.answer("op", "tpu_v4", "matmul", "m=2097152", "n=1024", "k=1024", "dtype=bf16", "--set", "placement.trials=1", "--format", "json")
        result = json.loads(answer)["devices"][0]
        at_peak = 2097152 * 1024 * 1024 // (4 * 128 * 128)
        self.assertTrue(result["layers"][0]["reused"])
        self.assertGreaterEqual(result["total"]["cycles"], at_peak)
        self.assertLess(result["total"]["cycles"], 1.001 * at_peak)

    def test_of_steps_whose_last_ones_fetch_ahead_elsewhere_the_others_are_taken_over(self):
        """Attention brings keys of the next heads beside the last ones of its own."""
        words = ("op", "tpu_v4", "attention", "q_len=1", "kv_len=131072", "heads=4", "head_dim=128", "dtype=bf16")
        few, whole = (json.loads(self.answer(*words, "--set", f"run.reuse={reuse}", "--format", "json"))["devices"][0]
                      for reuse in ("on", "off"))
        self.assertTrue(few["layers"][0]["reused"])
        self.assertFalse(whole["layers"][0]["reused"])
        self.assertAlmostEqual(few["total"]["cycles"], whole["total"]["cycles"], delta=0.001 * whole["total"]["cycles"])
        self.assertEqual(few["total"]["bytes"], whole["total"]["bytes"])

    def test_turns_that_go_in_pairs_until_one_slips_are_known_as_well(self):
        """Of a cache of four heads: 9 and 10 refreshes by turns, 9 twice now and then; and the first ten pairs take longer than others."""
        words = ("op", "tpu_v4", "attention", "q_len=1", "kv_len=524288", "heads=4", "head_dim=128", "cache=true", "dtype=bf16")
        few, whole = (json.loads(self.answer(*words, "--set", f"run.reuse={reuse}", "--format", "json"))["devices"][0]
                      for reuse in ("on", "off"))
        self.assertTrue(few["layers"][0]["reused"])
        self.assertAlmostEqual(few["total"]["cycles"], whole["total"]["cycles"], delta=0.001 * whole["total"]["cycles"])

    def test_steps_are_all_simulated_where_somebody_wants_to_see_them(self):
        asked = ("op", "tpu_v4", "matmul", "m=65536", "n=1024", "k=1024", "dtype=bf16", "--set", "placement.trials=1", "--format", "json")
        for more in (("--set", "run.launch=stream"), ("--timeline", "t.json")):
            with tempfile.TemporaryDirectory() as folder:
                own = [str(pathlib.Path(folder, word)) if word == "t.json" else word for word in more]
                self.assertFalse(json.loads(self.answer(*asked, *own))["devices"][0]["layers"][0]["reused"])

    def test_steps_whose_operands_come_round_too_seldom_are_all_simulated(self):
        """Each step of K lies 2 KiB further on: it takes 256 of them until the same banks are met."""
        answer = self.answer("op", "tpu_v4", "matmul", "m=256", "n=1024", "k=1048576", "dtype=bf16", "--set", "placement.trials=1", "--format", "json")
        self.assertFalse(json.loads(answer)["devices"][0]["layers"][0]["reused"])

    DECODE = ("llama3_8b", *(word for setting in ("workload.kv_len=1024", "workload.layers=40", "run.launch=graph")
                             for word in ("--set", setting)))

    def test_steps_of_several_cores_are_all_simulated(self):
        """These meet in the memory by chance: sums were up to 4.4 % off, rounds of heads up to 9.3."""
        for words in ("attention q_len=1 kv_len=131072 heads=16 head_dim=128 cache=true", "elementwise kind=add elements=788110178",
                      "matmul m=190734 n=4096 k=768"):
            with self.subTest(words=words):
                for device, reused in (("tpu_v4_chip", False), ("tpu_v4", True)):
                    run = json.loads(self.answer("op", device, *words.split(), "dtype=bf16", "--set", "placement.trials=1", "--format", "json"))
                    self.assertEqual(run["devices"][0]["layers"][0]["reused"], reused)

    def test_turns_of_several_cores_are_all_simulated(self):
        """Where their operands lie decides how cores meet in the memory: some turns take several per cent longer."""
        step = ("llama3_70b", *(word for setting in ("layers=32", "hidden=1024", "heads=8", "kv_heads=2", "ffn=3072", "kv_len=512", "vocabulary=32000")
                                for word in ("--set", f"workload.{setting}")))
        for settings, reused in (((), False), (("--set", "memory.kind=ideal"), True), (("--set", "core.count=1"), True)):
            with self.subTest(settings=settings):
                run = self.result("tpu_v2_chip", *settings, trace=step)
                self.assertEqual(any(row["reused"] for row in run["layers"]), reused)

    def test_of_several_cores_few_turns_tell_roughly_what_all_take(self):
        step = ("llama3_70b", *(word for setting in ("layers=40", "hidden=1024", "heads=8", "kv_heads=2", "ffn=4096", "kv_len=4096", "vocabulary=32000")
                                for word in ("--set", f"workload.{setting}")))
        run, whole = (self.result("tpu_v3_chip", "--set", f"run.reuse={reuse}", trace=step) for reuse in ("rough", "on"))
        self.assertFalse(any(row["reused"] for row in whole["layers"]))
        self.assertGreater(sum(row["reused"] for row in run["layers"]), len(run["layers"]) / 2)
        self.assertAlmostEqual(run["total"]["cycles"] / whole["total"]["cycles"], 1, delta=0.01)
        self.assertEqual(run["total"]["bytes"], whole["total"]["bytes"])
        self.assertEqual([row["name"] for row in run["layers"]], [row["name"] for row in whole["layers"]])
        self.assertEqual(run["protocol"]["reuse"], "rough")

    def test_on_one_core_rough_is_as_exact_where_turns_agree(self):
        rough, on = (self.result("tpu_v3", "--set", f"run.reuse={reuse}") for reuse in ("rough", "on"))
        self.assertEqual(rough["total"], on["total"])
        self.assertTrue(any(row["reused"] for row in rough["layers"]))

    def test_a_gpus_decode_step_is_taken_over_from_its_middle_layers(self):
        run, whole = self.compare_both("h100", trace=self.DECODE, cache=True)
        self.assertGreaterEqual(sum(row["reused"] for row in run["layers"]), len(run["layers"]) / 2)
        self.assertEqual(run["tensors"], whole["tensors"])

    PREPARED = """trace: prepared
params: {batch: 16, q_len: 1, kv_len: 1024, hidden: 2048, heads: 16, kv_heads: 8, dtype: bf16}
inputs: {x: {shape: [batch, q_len, hidden], dtype: dtype}}
layers:
  - name: block
    repeat: 40
    layers:
      - {name: norm, op: norm, kind: rms, in: block_in}
      - {name: query, op: matmul, in: norm, n: hidden}
      - {name: key, op: matmul, in: norm, n: 128 * kv_heads}
      - {name: value, op: matmul, in: norm, n: 128 * kv_heads}
      - {name: query_heads, op: reshape, in: query, shape: [batch, q_len, heads, 128]}
      - {name: key_heads, op: reshape, in: key, shape: [batch, q_len, kv_heads, 128]}
      - {name: turned, op: rotary, in: query_heads, axis: 1, weight_dtype: fp32}
      - {name: turned_keys, op: rotary, in: key_heads, axis: 1, weight_dtype: fp32}
      - {name: keys, op: kv_cache, heads: kv_heads, length: kv_len}
      - {name: values, op: kv_cache, in: value, heads: kv_heads, length: kv_len}
      - {name: heads_out, op: attention, in: [turned, keys, values], heads: heads, kv_heads: kv_heads, causal: true}
      - {name: context, op: reshape, shape: [batch, q_len, hidden]}
      - {name: projection, op: matmul, n: hidden}
      - {name: out, op: elementwise, kind: add, in: [projection, block_in]}
  - {name: head, op: matmul, n: 1024}
outputs: [head]
"""
    CHAIN = """trace: chain
inputs: {x: {shape: [256, 1024], dtype: bf16}}
layers:
  - name: block
    repeat: 40
    layers:
      - {name: norm, op: norm, kind: rms, in: block_in}
      - {name: gate, op: activation, function: silu}
      - {name: gated, op: elementwise, kind: mul, in: [gate, norm]}
      - {name: out, op: matmul, n: 1024}
  - {name: head, op: matmul, n: 1024}
outputs: [head]
"""
    EXPERTS = {"model_type": "mixtral", "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 40, "num_attention_heads": 8,
               "num_key_value_heads": 4, "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 1024, "max_position_embeddings": 4096,
               "rms_norm_eps": 1e-5, "hidden_act": "silu"}

    def test_layers_that_one_kernel_does_are_taken_over_as_its_one_row(self):
        """Chains of elementwise layers, values and indices of a top-k, what prepares attention."""
        self.answer("trace", "llm", self.write("config.json", json.dumps(self.EXPERTS)), "--batch", "16", "--context", "512", "-o", "experts.yaml")
        graph = ("--set", "run.launch=graph")
        for trace, joined in (((self.write("chain.yaml", self.CHAIN), *graph), "activation + elementwise"),
                              (("experts.yaml", *graph), "top_k + top_k"),
                              ((self.write("prepared.yaml", self.PREPARED), *graph, "--set", "kernels.layers=tensorrt_llm"),
                               "rotary + rotary + kv_cache + kv_cache")):
            with self.subTest(joined=joined):
                run, _ = self.compare_both("h100", trace=trace, cache=True)
                self.assertGreaterEqual(sum(row["reused"] for row in run["layers"]), len(run["layers"]) / 3)
                self.assertEqual(sum(row["op"] == joined for row in run["layers"]), 40)

    def test_a_gpu_that_draws_more_than_it_may_for_long_is_simulated_whole(self):
        """For how long it may, decides on the clock."""
        for cap, reused in (("10000 W", True), ("230 W", False)):
            run = self.result("h100", "--set", f"power.cap={cap}", "--set", "calibrated.burst_power=10000 W", "--set", "calibrated.tensor_power=100000 W",
                              trace=self.DECODE)
            self.assertEqual(any(row["reused"] for row in run["layers"]), reused, cap)

    def test_a_deep_network_is_taken_over_from_its_middle_layers(self):
        run = self.compare("tpu_v4")
        reused = {row["name"].split(".")[1] for row in run["layers"] if row["reused"]}
        self.assertGreaterEqual(len(reused), 24 - 9)
        self.assertFalse(reused & {"0", "1", "22", "23"})  # the first and the last two are simulated
        self.assertIn(" *", self.answer("run", "tpu_v4", *BERT))

    def test_other_machines_and_protocols_agree_too(self):
        self.compare("tpu_v4", "--set", "placement.activations=dram", trace=SHORT)
        self.compare("tpu_v5e", "--set", "run.inputs_at=dram", "--set", "run.refresh_phase=1.3 us", trace=SHORT)

    def test_a_decode_step_whose_turns_meet_refreshes_unevenly_agrees(self):
        run = self.compare("tpu_v7", trace=("llama3_8b", "--set", "workload.kv_len=1024", "--set", "workload.layers=48"))
        self.assertTrue(any(row["reused"] for row in run["layers"]))

    def test_layers_of_a_prefill_whose_ends_move_agree_too(self):
        """A layer's last store may come before or behind loads of the next: on tpu_v7 that is 0.4 % of a turn."""
        trace = ("llama3_8b", "--set", "workload.layers=16", "--set", "workload.q_len=512", "--set", "workload.kv_len=512")
        run = self.compare("tpu_v7", trace=trace)
        self.assertTrue(any(row["reused"] for row in run["layers"]))

    def test_short_turns_that_agree_by_chance_agree_too(self):
        """On tpu_v5e a turn takes seven refreshes, or eight: two in a row need not say how many most take."""
        for seq, layers in ((128, 48), (32, 32)):
            self.compare("tpu_v5e", trace=("gpt2", "--set", f"workload.seq={seq}", "--set", f"workload.layers={layers}"))

    def test_without_refresh_it_is_exact(self):
        whole_picoseconds = [word for clock in ("core", "memory") for word in ("--set", f"{clock}.clock=1 GHz")]
        run, whole = (self.result("tpu_v4", *whole_picoseconds, "--set", "memory.refresh=off", "--set",
                                  f"run.reuse={reuse}") for reuse in ("on", "off"))
        self.assertTrue(any(row["reused"] for row in run["layers"]))
        # Rows that stand open at the marks are opened once more, or not: activations, and their energy, by parts of 100,000.
        energy, of_whole = run["total"].pop("energy_pj"), whole["total"].pop("energy_pj")
        self.assertEqual(run["total"], whole["total"])
        for part in energy:
            self.assertAlmostEqual(energy[part], of_whole[part], delta=1e-4 * of_whole["total"])
        for part in ("matrix", "vector", "on_chip", "host"):
            self.assertEqual(energy[part], of_whole[part])

    def test_clocks_of_broken_picoseconds_cost_one_a_turn(self):
        run, whole = (self.result("tpu_v4", "--set", "memory.refresh=off", "--set", f"run.reuse={reuse}")
                      for reuse in ("on", "off"))
        for key in ("cycles", "macs", "bytes"):
            self.assertEqual(run["total"][key], whole["total"][key])
        self.assertTrue(any(row["reused"] for row in run["layers"]))
        left_out = len({row["name"].split(".")[1] for row in run["layers"] if row["reused"]})
        # Clock edges are rounded down to picoseconds, so equal turns differ by one.
        self.assertAlmostEqual(run["total"]["time_ns"], whole["total"]["time_ns"], delta=left_out / 1000)

    def mapping_of(self, *settings):
        self.answer("run", "tpu_v4", *BERT, *settings, "-o", "whole", "--set", "run.reuse=off")
        return self.read("whole/mapping.yaml").decode()

    def reused_with(self, mapping):
        answer = self.answer("run", "tpu_v4", *BERT, "--mapping", self.write("m.yaml", mapping), "--format", "json")
        return any(row["reused"] for row in json.loads(answer)["devices"][0]["layers"])

    def test_turns_that_are_mapped_otherwise_by_hand_are_all_simulated(self):
        mapping = self.mapping_of()
        self.assertTrue(self.reused_with(mapping))
        query = next(line for line in mapping.splitlines() if line.startswith("  encoder.12.query:"))
        other = query.replace("outer: n", "outer: m") if "outer: n" in query else query.replace("outer: m", "outer: n")
        self.assertFalse(self.reused_with(mapping.replace(query, other)))
        self.assertFalse(self.reused_with(mapping.replace(query + "\n", "")))  # left to the mapper in one turn

    def test_turns_that_keep_something_else_in_the_scratchpad_are_all_simulated(self):
        mapping = self.mapping_of()
        resident = next(line for line in mapping.splitlines() if line.startswith("resident: "))
        name = next(name for name in resident[len("resident: ["):-1].split(", ") if name.startswith("encoder.12."))
        self.assertFalse(self.reused_with(mapping.replace(resident, resident.replace(f"{name}, ", ""))))

    def test_a_timeline_shows_every_layer_simulated(self):
        self.answer("run", "tpu_v4", *BERT, "-o", "r", "--timeline", "t.json")
        layers = json.loads(self.read("r/result.json"))["devices"][0]["layers"]
        self.assertFalse(any(row["reused"] for row in layers))

    def test_steps_of_training_are_simulated_whole(self):
        """The way back reads what each turn made, and weights of each turn are read again and written."""
        net = self.write("deep.yaml", "trace: deep\ntraining: {optimizer: sgd}\ninputs: {x: {shape: [32, 64], dtype: bf16}}\n"
                         "layers:\n  - {name: first, op: matmul, n: 64}\n  - name: block\n    repeat: 24\n    layers:\n"
                         "      - {name: a, op: matmul, n: 64, activation: relu}\n"
                         "      - {name: o, op: elementwise, kind: add, in: [a, block_in]}\n"
                         "  - {name: head, op: matmul, n: 32}\noutputs: [head]\n")
        run, whole = (self.result("tpu_v4", "--set", f"run.reuse={reuse}", trace=(net,)) for reuse in ("on", "off"))
        self.assertFalse(any(row["reused"] for row in run["layers"]))
        self.assertEqual(run["total"], whole["total"])

    def test_the_switch_is_on_off_or_rough(self):
        refusal = self.refusal("run", "tpu_v4", *BERT, "--set", "run.reuse=perhaps")
        for word in ("reuse", "perhaps", "off, on, rough"):
            self.assertIn(word, refusal)


if __name__ == "__main__":
    unittest.main()
