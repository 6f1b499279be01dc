# SPDX-License-Identifier: Apache-2.0
"""Energy and power of whole devices: held to themselves, to published power, and to mistakes."""

import csv
import io
import json
import unittest

from program import HOME, ProgramTest

PARTS = ["matrix", "vector", "instructions", "on_chip", "memory", "host", "chips", "static"]
# Of presets with the section `energy`, one of each kind of machine.
DEVICES = (("tpu_v1", "tpu_v1_mlp0"), ("tpu_v4", "resnet50"), ("a100", "resnet50"), ("b200", "bert_base"),
           ("mi300x", "bert_base"))


class Energy(ProgramTest):
    def run_of(self, *arguments):
        (run,) = json.loads(self.answer(*arguments, "--format", "json"))["devices"]
        return run

    def watts(self, *arguments):
        return self.run_of(*arguments)["power"]["average_w"]

    def test_parts_layers_and_entries_sum_to_the_total(self):
        for device, trace in DEVICES:
            with self.subTest(device=device, trace=trace):
                run = self.run_of("run", device, trace)
                energy, total = run["energy"], run["total"]["energy_pj"]
                self.assertEqual(energy["covers"], "device")
                self.assertEqual(list(total), ["total", *PARTS])
                self.assertAlmostEqual(sum(total[part] for part in PARTS) / total["total"], 1)
                self.assertAlmostEqual(energy["total_pj"] / total["total"], 1)
                for part in PARTS:
                    of_layers = sum(layer["energy_pj"][part] for layer in run["layers"])
                    of_entries = sum(entry["energy_pj"] for entry in energy["entries"] if entry["part"] == part)
                    self.assertAlmostEqual(of_layers, total[part], delta=1e-9 * total["total"] + 1)
                    self.assertAlmostEqual(of_entries, total[part], delta=1e-9 * total["total"] + 1)
                for entry in energy["entries"]:
                    self.assertAlmostEqual(entry["energy_pj"], entry["count"] * entry["each_fj"] / 1000,
                                           delta=1e-9 * total["total"])
                for part in ("matrix", "on_chip", "memory", "static"):
                    self.assertGreater(total[part], 0, part)

    def test_bytes_of_the_ledger_times_their_energies_are_the_energy_of_transfers(self):
        for device, trace in DEVICES:
            with self.subTest(device=device, trace=trace):
                run = self.run_of("run", device, trace)
                moved, root = run["total"]["bytes"]["moved"], run["device"]
                places = {entry["path"].removeprefix(root + ".") for entry in run["energy"]["entries"]
                          if entry["event"] in ("read", "write") and entry["unit"] == "B"}
                self.assertTrue({"host"} < places, places)
                for entry in run["energy"]["entries"]:
                    place = entry["path"].removeprefix(root + ".")
                    if place not in places:
                        continue
                    end = {"read": "from", "write": "to"}[entry["event"]]
                    self.assertEqual(entry["count"], sum(cell["bytes"] for cell in moved if cell[end] == place),
                                     f"{place} {entry['event']}")

    def test_every_multiplication_takes_energy(self):
        for device, trace in DEVICES[:2]:
            run = self.run_of("run", device, trace)
            macs = sum(entry["count"] for entry in run["energy"]["entries"] if entry["event"].endswith(" mac"))
            self.assertEqual(macs, run["total"]["matrix_macs"])

    def test_a_tpu_v1_draws_what_was_measured_on_cnn0(self):
        # 40 W busy (Jouppi et al., ISCA 2017, table 2).
        watts = self.watts("run", "tpu_v1", "tpu_v1_cnn0")
        self.assertTrue(0.75 * 40 < watts < 1.25 * 40, watts)

    def test_gpus_draw_their_boards_limit_on_large_products(self):
        # Boards that run large products for long are held by their limit: 400 and 700 W.
        for device, limit in (("a100", 400), ("h100", 700)):
            watts = self.watts("op", device, "matmul", "m=8192", "n=8192", "k=8192", "--set", "run.protocol=graph_replay")
            self.assertTrue(0.75 * limit < watts < 1.25 * limit, (device, watts))

    def test_half_the_bits_take_less_than_half_of_the_multipliers_energy(self):
        def of(dtype, part):
            run = self.run_of("op", "tpu_v4", "matmul", "m=1024", "n=1024", "k=1024", f"dtype={dtype}")
            return run["total"]["energy_pj"][part]
        self.assertLess(of("int8", "matrix"), 0.5 * of("bf16", "matrix"))

    def test_a_bit_between_two_chips_takes_energy_once(self):
        """Half at either end: what arrives has been sent by another chip."""
        for device, elements, chips, picojoules in (("tpu_v4", 65536, 2, 6), ("h100", 1048576, 8, 1.3)):
            run = self.run_of("op", device, "collective", "kind=all_gather", f"elements={elements}", f"chips={chips}", "dtype=bf16")
            sent = (chips - 1) * elements * 2  # by each chip
            self.assertAlmostEqual(run["total"]["energy_pj"]["chips"], 8 * sent * picojoules, delta=1e-6 * 8 * sent * picojoules)

    def test_replays_have_the_energy_of_the_last_run(self):
        product = ("op", "a100", "matmul", "m=1024", "n=1024", "k=1024")
        once, last = self.run_of(*product), self.run_of(*product, "--set", "run.repeat=3")
        for part in ("matrix", "instructions"):
            self.assertEqual(last["total"]["energy_pj"][part], once["total"]["energy_pj"][part])
        self.assertLess(last["total"]["energy_pj"]["memory"], once["total"]["energy_pj"]["memory"],
                        "what was left in the L2 is not read again")

    def test_a_device_without_figures_says_so(self):
        run = self.run_of("run", "teaching_4x4", "three_layers")
        self.assertEqual((run["energy"]["covers"], run["power"], run["total"]["energy_pj"]), ("nothing", None, None))
        with_memory = self.run_of("run", "teaching_4x4", "three_layers", "--set", "memory.preset=hbm2_2400")
        self.assertEqual((with_memory["energy"]["covers"], with_memory["power"]), ("memory", None))
        text = self.answer("run", "teaching_4x4", "three_layers", "--set", "memory.preset=hbm2_2400")
        self.assertIn("Of the memory only", text)

    def test_a_memory_without_figures_leaves_the_device_without_any(self):
        for device in ("tpu_v4", "a100"):
            run = self.run_of("run", device, "bert_base", "--set", "memory.preset=ideal")
            self.assertEqual((run["energy"]["covers"], run["energy"]["total_pj"], run["power"]), ("nothing", None, None))

    def test_text_and_table_tell_energy_by_layer(self):
        text = self.answer("run", "tpu_v4", "three_layers").splitlines()
        self.assertTrue(text[2].endswith("energy"), text[2])
        self.assertRegex(text[-1], r"^Energy [0-9.]+ [num]J: .*; [0-9.]+ W on average, [0-9.]+ W at most .*TOPS/W\.$")
        rows = list(csv.DictReader(io.StringIO(self.answer("run", "tpu_v4", "three_layers", "--format", "csv"))))
        for row in rows:
            self.assertAlmostEqual(float(row["energy_pj"]), sum(float(row[f"energy_{part}_pj"]) for part in PARTS))
        self.assertIn("TOPS/W", self.answer("compare", "--device", "tpu_v4", "--device", "a100", "bert_base"))

    def test_mistakes_are_told_by_their_entry(self):
        machine = (HOME / "configs/devices/tpu_v4.yaml").read_text()
        self.assertEqual(machine.count("  preset: energy_7nm\n"), 1)
        table = (HOME / "configs/energy/energy_7nm.yaml").read_text()
        self.write("broken.yaml", table.replace("  bf16: {", "  bf61: {"))
        for old, new, words in (
                ("  preset: energy_7nm\n", "  preset: energy_9nm\n", ("there is no preset 'energy_9nm'", "did you mean")),
                ("  preset: energy_7nm\n", "", ("energy.add.int32: is missing",)),
                ("  preset: energy_7nm\n", "  preset: broken.yaml\n", ("energy.mul.bf16: is missing (a multiplication in bf16", "energy.mul.bf61")),
                ("  preset: energy_7nm\n", "  preset: energy_7nm\n  sram: {8KiB: 0 pJ}\n", ("energy.sram.8KiB: expected more than nothing",)),
                ("  preset: energy_7nm\n", "  preset: energy_7nm\n  wire_bit_mm: -80 fJ\n", ("energy.wire_bit_mm",))):
            with self.subTest(new=new):
                self.write("machine.yaml", machine.replace(old, new))
                message = self.refusal("run", "./machine.yaml", "resnet50")
                for word in words:
                    self.assertIn(word, message)
        for setting, words in (("energy.idle=0 W", "expected more than 0 W"), ("energy.idle=10 mW", "its memory draws in the background"),
                               ("energy.host_bit=0 pJ", "expected more than nothing"), ("energy.wire_mm=-1", "energy.wire_mm")):
            with self.subTest(setting=setting):
                self.assertIn(words, self.refusal("run", "tpu_v4", "resnet50", "--set", setting))
        self.assertIn("power.idle", self.refusal("run", "a100", "resnet50", "--set", "power.idle=0 W"))


if __name__ == "__main__":
    unittest.main()
