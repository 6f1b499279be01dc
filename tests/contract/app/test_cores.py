# SPDX-License-Identifier: Apache-2.0
"""Chips of several cores: what they share, who does what, and that nobody is slower for it."""

import json
import re
import unittest

from program import ProgramTest

CHIP, CORE = "tpu_v4_chip", "tpu_v4"
SMALL_BERT = ("run", "{}", "bert_base", "--set", "workload.layers=2")  # one core does it
VGG = ("run", "{}", "vgg16", "--set", "placement.fuse=off")
RESNET = ("run", "{}", "resnet50")


def product(m, n, k, *more):
    return ("op", "{}", "matmul", f"m={m}", f"n={n}", f"k={k}", "dtype=bf16", *more)


class Cores(ProgramTest):
    def result(self, question, device, *settings):
        words = [word for setting in settings for word in ("--set", setting)]
        answer = self.answer(*(word.format(device) for word in question), *words, "--format", "json")
        return json.loads(answer)["devices"][0]

    def test_a_chip_has_every_unit_of_a_core_once_for_each_core_and_one_memory(self):
        paths = {stat["path"] for stat in self.result(product(512, 512, 512), CHIP)["stats"]}
        alone = {stat["path"] for stat in self.result(product(512, 512, 512), CORE)["stats"]}
        shared = {path for path in paths if not re.match(rf"{CHIP}\.core[01]\.", path)}
        for core in (0, 1):
            own = {path.replace(f"{CHIP}.core{core}", CORE) for path in paths if f".core{core}." in path}
            self.assertEqual(own - alone, set())
            self.assertEqual(own >= {path for path in alone if re.search(r"\.(mxu|load|store|vector|scratchpad)", path)}, True)
        self.assertTrue({f"{CHIP}.host_link", f"{CHIP}.chip_link"} < shared)
        self.assertEqual({path.split(".")[1] for path in shared}, {"dram", "host_link", "chip_link"})
        self.assertFalse(any("core" in path.split(".", 1)[1] for path in alone))

    def test_all_cores_work_on_large_products_however_they_lie(self):
        for m, n, k, over in ((4096, 4096, 1024, ""), (16, 8192, 1024, "N"), (8192, 16, 1024, "M")):
            with self.subTest(m=m, n=n):
                result = self.result(product(m, n, k), CHIP)
                self.assertIn(f"2 cores over {over}", result["layers"][0]["mapping"])
                macs = [sum(stat["value"] for stat in result["stats"] if re.search(rf"core{core}\.mxu\d$", stat["path"])
                            and stat["name"] == "macs") for core in (0, 1)]
                self.assertEqual(macs, [m * n * k // 2] * 2)
        batch = self.result(("op", "{}", "matmul", "m=128", "n=128", "k=128", "batch=16", "dtype=bf16"), CHIP)
        self.assertIn("2 cores over batch", batch["layers"][0]["mapping"])

    def test_what_cannot_be_shared_is_the_first_cores(self):
        result = self.result(product(1, 64, 64), CHIP)
        self.assertIn("one of 2 cores", result["layers"][0]["mapping"])
        self.assertEqual(result["total"]["macs"], 64 * 64)

    def test_a_chip_is_never_slower_than_one_core_with_half_of_its_bandwidth(self):
        for question in (RESNET, (*RESNET, "--set", "workload.batch=8"), SMALL_BERT, product(4096, 4096, 512),
                         product(512, 512, 512), product(1, 4096, 4096), product(128, 1024, 4096), product(8192, 1024, 64),
                         ("op", "{}", "conv2d", "n=1", "h=56", "w=56", "c=64", "k=64", "r=3", "s=3", "pad=1", "dtype=bf16"),
                         ("op", "{}", "softmax", "rows=4096", "cols=1024", "dtype=bf16")):
            with self.subTest(question=question):
                chip, core = (self.result(question, device)["total"] for device in (CHIP, CORE))
                self.assertLessEqual(chip["time_ns"], core["time_ns"])
                self.assertEqual(chip["macs"], core["macs"])

    def test_large_work_takes_half_the_time(self):
        for question in (product(4096, 4096, 1024), product(8192, 2048, 512)):
            chip, core = (self.result(question, device)["total"]["time_ns"] for device in (CHIP, CORE))
            self.assertLess(chip, 0.56 * core)

    def test_a_lowered_program_names_cores_and_runs_as_lowered(self):
        question = [word.format(CHIP) for word in VGG]
        text = self.answer("lower", *question[1:])
        self.assertIn("array dataflow=ws cores=2\n", text)
        self.assertRegex(text, r"\ncore1\.load .* after=core0\.store:\d+")
        self.assertNotRegex(text, r"\n(load|mxu0|vector) ")
        self.write("p.txt", text)
        again = json.loads(self.answer("run", CHIP, "--program", "p.txt", "--format", "json"))["devices"][0]["total"]
        first = self.result(VGG, CHIP)["total"]
        for key in ("cycles", "class_slots", "bytes"):
            self.assertEqual(again[key], first[key])
        self.assertIn("the program is for 2 cores, and this machine has 1 (core.count)",
                      self.refusal("run", CORE, "--program", "p.txt"))
        self.assertNotIn("core", self.answer("lower", CORE, *question[2:]).split("mapping=", 1)[0])

    def test_a_program_keeps_the_dataflow_that_was_chosen_for_it(self):
        trace = self.write("one.yaml", "trace: one\ninputs: {x: {shape: [128, 4096], dtype: bf16}}\n"
                                       "layers: [{name: out, op: matmul, n: 256}]\noutputs: [out]\n")
        cycles = {}
        for dataflow in ("ws", "os", "is"):
            text = self.answer("lower", CHIP, trace, "--set", f"mxu.dataflow={dataflow}")
            self.assertIn(f"array dataflow={dataflow} cores=2\n", text)
            self.write("p.txt", text)
            ran = (self.answer("run", CHIP, "--program", "p.txt", "--set", f"mxu.dataflow={asked}", "--format", "json")
                   for asked in (dataflow, "auto"))
            fixed, chosen = (json.loads(answer)["devices"][0]["total"]["cycles"] for answer in ran)
            self.assertEqual(fixed, chosen)
            cycles[dataflow] = fixed
        self.assertEqual(len(set(cycles.values())), 3)

    def test_tensors_stay_in_the_scratchpads_where_all_cores_share_them_evenly(self):
        batch = self.result((*RESNET, "--set", "workload.batch=8"), CHIP)
        resident = {tensor["name"]: tensor for tensor in batch["tensors"] if tensor["space"] == "scratchpad"}
        self.assertGreater(len(resident), 20)
        self.assertEqual(resident["stage4.1.add"]["bytes"], 8 * 14 * 14 * 1024 * 2 // 2)  # what each core has
        single = {tensor["name"]: tensor["space"] for tensor in self.result(VGG, CHIP)["tensors"]}
        self.assertEqual(single["conv5_1"], "dram")  # a 3 x 3 kernel reads it: halos
        on_chip = self.result(product(512, 512, 512), CHIP, "run.inputs_at=onchip", "run.outputs_to=onchip")
        self.assertIn("2 cores over M", on_chip["layers"][0]["mapping"])
        odd = self.result(product(513, 512, 512), CHIP, "run.inputs_at=onchip", "run.outputs_to=onchip")
        self.assertIn("one of 2 cores", odd["layers"][0]["mapping"])  # has all of the tensors

    def test_a_mapping_that_was_written_says_what_cores_deal(self):
        for question, said in ((VGG, ", cores: n}"), (SMALL_BERT, "\ncores: 1\n"),
                               ((*RESNET, "--set", "workload.batch=8"), ", cores: m}")):
            words = [word.format(CHIP) for word in question]
            self.answer(*words, "-o", "first")
            self.assertIn(said, self.read("first/mapping.yaml").decode())
            self.answer(*words, "-o", "again", "--mapping", "first/mapping.yaml")
            for name in ("result.json", "mapping.yaml"):
                self.assertEqual(self.read(f"first/{name}"), self.read(f"again/{name}"))

    def by_hand(self, device, cores, rows=256, columns=512):
        layer = f"{{rows: {rows}, columns: {columns}, depth: 512, over_m: 1, over_n: 4, cores: {cores}}}"
        mapping = self.write("m.yaml", f"mapping: by hand\nlayers:\n  matmul: {layer}\n")
        return self.run_systole(*(word.format(device) for word in product(512, 1024, 512)), "--mapping", mapping,
                                "--set", "placement.activations=dram", "--format", "json")

    def test_a_mapping_by_hand_deals_cores(self):
        for cores, over in (("m", "M"), ("n", "N")):
            done = self.by_hand(CHIP, cores, columns=128)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(json.loads(done.stdout)["devices"][0]["layers"][0]["mapping"].startswith(
                f"2 cores over {over}, each 4 MXUs: 1 over M x 4 over N; blocks 256 x 128 x 512"))
        for device, cores, reason in (
                (CORE, "m", "m.yaml:3:3: error: the mapping of 'matmul' does not fit: one core is at work"),
                (CHIP, "batch", "2 cores cannot share its 1 batch items (cores: batch)"),
                (CHIP, "k", "'cores'")):
            done = self.by_hand(device, cores, columns=128)
            self.assertEqual(done.returncode, 2)
            self.assertIn(reason, done.stderr)

    def test_a_resident_tensor_that_cores_cannot_share_is_refused(self):
        mapping = self.write("m.yaml", "mapping: x\ncores: 3\nlayers: {}\n")
        self.assertIn("m.yaml:2:8: error: 3 cores are neither one nor all 2 of this machine",
                      self.refusal("run", CHIP, "resnet50", "--mapping", mapping))
        mapping = self.write("m.yaml", "mapping: x\nresident: [stage2_reduce]\nlayers: {}\n")
        self.assertIn("m.yaml:2:11: error: 'stage2_reduce' cannot stay in the scratchpad: 2 cores",
                      self.refusal("run", CHIP, "resnet50", "--mapping", mapping))

    def test_settings_that_no_chip_can_have_are_refused(self):
        operator = ("op", CORE, "matmul", "m=8", "n=8", "k=8")
        for settings, reason in ((("core.count=0",), "core.count"), (("core.count=9",), "core.count"),
                                 (("core.count=two",), "core.count"), (("cores=2",), "unknown key 'cores'"),
                                 (("core.count=2", "placement.activations=scratchpad"), "write auto or dram")):
            with self.subTest(settings=settings):
                words = [word for setting in settings for word in ("--set", setting)]
                self.assertIn(reason, self.refusal(*operator, *words))

    def test_explain_and_waveforms_know_the_cores(self):
        text = self.answer(*(word.format(CHIP) for word in ("explain", "{}", "matmul", "m=1024", "n=1024", "k=1024", "dtype=bf16")))
        self.assertIn("2 cores of 4 MXUs", text)
        self.assertIn("8 of 8 MXUs work. Mapping: 2 cores over", " ".join(text.split()))
        self.assertIn("core0.mxu0", text)
        text = self.answer("explain", CHIP, "matmul", "m=1024", "n=1024", "k=1024", "dtype=bf16", "--set",
                           "placement.activations=dram")
        self.assertRegex(" ".join(text.split()), r"The best estimates of what cores can deal: [mn] [\d,]+, [mn] [\d,]+, nothing")
        signals = self.answer("wave", "teaching_4x4", "matmul", "m=8", "n=8", "k=8", "--set", "core.count=2", "--list-signals")
        for signal in ("core0.mxu0.streaming", "core1.mxu0.streaming", "core1.sequencer.state", "core1.vector.busy"):
            self.assertIn(f"teaching_4x4.{signal}", signals)

    def test_more_cores_are_no_slower_where_their_operands_lie_alike(self):
        """Rows of an eighth of 4096 are all 4 MiB apart: cores ask for the same channels of the memory at the same time."""
        times = [self.result(product(4096, 4096, 4096), "trainium2", f"core.count={count}", "placement.trials=1")["total"]["cycles"]
                 for count in (4, 7, 8)]
        self.assertEqual(times, sorted(times, reverse=True))
        few, more = (self.result(product(m, 4096, 4096), "tpu_v5p_chip", "placement.trials=1")["total"]["cycles"] for m in (1024, 1536))
        self.assertLess(more, 1.6 * few)

    def test_timelines_have_a_track_for_every_unit_of_every_core(self):
        self.answer("run", CHIP, "vgg16", "--timeline", "t.json")
        text = self.read("t.json").decode()
        for track in ("core0.mxu0", "core1.mxu3", "core1.load"):
            self.assertIn(f"{CHIP}.{track}", text)

    def test_small_layers_are_left_to_one_core(self):
        chip = self.result(SMALL_BERT, CHIP)
        self.assertTrue(all(layer["mapping"].startswith("one of 2 cores") for layer in chip["layers"]))
        self.assertEqual({stat["value"] for stat in chip["stats"] if ".core1." in stat["path"]}, {0})
        mapping = self.write("m.yaml", "mapping: x\nlayers: {}\n")
        shared = self.result((*SMALL_BERT, "--mapping", mapping), CHIP)
        self.assertLess(chip["total"]["time_ns"], shared["total"]["time_ns"])

    def test_a_reused_block_is_as_if_simulated(self):
        long = ("run", "{}", "bert_base", "--set", "workload.layers=24", "--set", "workload.seq=256")
        reused, whole = (self.result(long, CHIP, f"run.reuse={on}")["total"] for on in ("on", "off"))
        self.assertEqual(reused["bytes"], whole["bytes"])
        self.assertAlmostEqual(reused["time_ns"] / whole["time_ns"], 1, delta=0.001)


if __name__ == "__main__":
    unittest.main()
