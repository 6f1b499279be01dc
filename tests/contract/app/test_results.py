# SPDX-License-Identifier: Apache-2.0
"""What a run writes, held against docs/formats.md and against itself."""

import csv
import io
import json
import unittest

from program import DEVICE, HOME, TRACE, ProgramTest

CLASSES = ["useful", "padding", "ramp", "host", "memory", "on_chip", "dependency", "vector", "launch", "tail"]
ROW = ["cycles", "time_ns", "macs", "matrix_macs", "lane_cycles", "utilization", "compute_cycles", "classes", "class_slots",
       "bytes", "roofline_cycles", "roofline_bound", "roofline", "bound_by",
       "energy_pj"]
LEVELS = ["compute", "vector", "on_chip", "memory", "host", "chips"]
PARTS = ["matrix", "vector", "instructions", "on_chip", "memory", "host", "chips", "static"]
LAYER = ["name", "op", "mapping", "reused"]
RUN = ["device", "trace", "fidelity", "memory", "parameters", "serving", "batch_of", "protocol", "clock_hz", "peak_macs_per_cycle", "ceilings", "total",
       "critical_path", "layers", "reuse", "tensors", "choices", "stats", "memory_bus", "energy", "power", "cost", "config"]


class Results(ProgramTest):
    def result(self, *options):
        return json.loads(self.answer("run", DEVICE, TRACE, "--format", "json", *options))

    def check_row(self, row):
        self.assertEqual(list(row["classes"]), CLASSES)
        self.assertEqual(list(row["class_slots"]), CLASSES)
        self.assertEqual(list(row["bytes"]), ["dram_read", "dram_written", "compulsory_dram", "moved"])
        for moved in row["bytes"]["moved"]:
            self.assertEqual(list(moved), ["from", "to", "operand", "bytes"])
        capacity = sum(row["class_slots"].values())
        if capacity:
            self.assertAlmostEqual(sum(row["classes"].values()), 1)
            self.assertAlmostEqual(row["utilization"], row["class_slots"]["useful"] / capacity)
            worked = sum(row["class_slots"][key] for key in ("useful", "padding", "ramp"))
            self.assertAlmostEqual(row["compute_cycles"], row["cycles"] * worked / capacity)
        for key, slots in row["class_slots"].items():
            self.assertIsInstance(slots, int)
            self.assertTrue(0 <= row["classes"][key] <= 1)

    def test_json_has_the_keys_of_the_page_in_their_order(self):
        result = self.result()
        self.assertEqual(list(result), ["schema", "program", "devices"])
        self.assertEqual(result["schema"], 1)
        self.assertEqual(result["program"], self.answer("--version").split(" (")[0])
        (run,) = result["devices"]
        self.assertEqual(list(run), RUN)
        self.assertEqual((run["device"], run["trace"]), (DEVICE, TRACE))
        self.assertEqual(run["parameters"], {"batch": 1, "dtype": "int8"})
        self.assertEqual(list(run["protocol"]), ["inputs_at", "outputs_to", "launch", "refresh_phase", "reuse"])
        self.assertEqual(list(run["total"]), ROW)
        self.check_row(run["total"])
        for layer in run["layers"]:
            self.assertEqual(list(layer), LAYER + ROW)
            self.check_row(layer)
        for part, keys in (("tensors", ["name", "space", "layout", "address", "bytes"]),
                           ("critical_path", ["class", "time_ns"]),
                           ("stats", ["path", "name", "unit", "value", "meaning"])):
            self.assertTrue(run[part], part)
            for item in run[part]:
                self.assertEqual(list(item), keys)
        self.assertEqual(run["energy"], {"covers": "nothing", "total_pj": None, "entries": []})  # its memory has no figures

    def test_activations_that_stay_on_the_chip_spare_their_traffic(self):
        def moved(*options):
            (run,) = json.loads(self.answer("run", "tpu_v4", TRACE, "--format", "json", *options))["devices"]
            self.assertEqual(run["total"]["matrix_macs"], here["total"]["matrix_macs"])
            return run["total"]["bytes"]["dram_read"], run["total"]["bytes"]["dram_written"]

        (here,) = json.loads(self.answer("run", "tpu_v4", TRACE, "--format", "json"))["devices"]
        resident, staged = moved(), moved("--set", "placement.activations=dram")
        self.assertEqual(resident[1], 0, "every result stays, and leaves for the host from the scratchpad")
        self.assertGreater(staged[1], 0)
        self.assertLess(resident[0], staged[0])

    def test_layers_sum_to_the_total(self):
        (run,) = self.result()["devices"]
        total, layers = run["total"], run["layers"]
        self.assertEqual([layer["name"] for layer in layers], ["conv", "pool", "classes"])
        for key in ("cycles", "macs", "matrix_macs"):
            self.assertEqual(sum(layer[key] for layer in layers), total[key], key)
        for key in CLASSES:
            slots = sum(layer["class_slots"][key] for layer in layers)
            self.assertEqual(slots, total["class_slots"][key], key)
        for key in ("dram_read", "dram_written"):
            self.assertEqual(sum(layer["bytes"][key] for layer in layers), total["bytes"][key], key)
        self.assertAlmostEqual(sum(layer["time_ns"] for layer in layers), total["time_ns"])
        self.assertAlmostEqual(sum(step["time_ns"] for step in run["critical_path"]), total["time_ns"])
        self.assertEqual(total["macs"], 624, "as the comment of the trace counts them")
        self.assertGreaterEqual(total["cycles"], total["roofline_cycles"])

    def test_the_table_of_layers_says_what_json_says(self):
        (run,) = self.result()["devices"]
        rows = list(csv.DictReader(io.StringIO(self.answer("run", DEVICE, TRACE, "--format", "csv"))))
        self.assertEqual(list(rows[0]), ["name", "op", "cycles", "time_ns", "utilization"] + CLASSES +
                         ["dram_read", "dram_written", "roofline_cycles", "roofline_bound"] +
                         [f"roofline_{level}" for level in LEVELS] + ["energy_pj"] +
                         [f"energy_{part}_pj" for part in PARTS] + ["bound_by", "mapping", "fidelity"])
        self.assertEqual([row["name"] for row in rows], ["conv", "pool", "classes", "total"])
        for row, there in zip(rows, run["layers"] + [run["total"]]):
            self.assertEqual(int(row["cycles"]), there["cycles"])
            self.assertEqual(float(row["time_ns"]), there["time_ns"])
            for key in CLASSES:
                self.assertEqual(float(row[key]), there["classes"][key])

    def check_roofline(self, row, run):
        """Cycles of every level from what the row moved and did, and what the device can do, in exact fractions."""
        ceilings, clock = run["ceilings"], run["clock_hz"]

        def moved(**ends):
            return sum(cell["bytes"] for cell in row["bytes"]["moved"] if ends.items() <= cell.items())

        def cycles(amount, rate):
            return -(-amount // rate) if amount and rate else 0

        reads, writes = moved(**{"from": "scratchpad"}), moved(to="scratchpad")
        banks = ceilings["on_chip"]
        dram = row["bytes"]["dram_read"] + row["bytes"]["dram_written"]
        link = max(moved(**{"from": "host"}), moved(to="host"))
        chips = max(moved(**{"from": "chip_link"}), moved(to="chip_link"))
        expected = {
            "compute": cycles(row["matrix_macs"], run["peak_macs_per_cycle"]),
            "vector": cycles(row["lane_cycles"], ceilings["lanes"]),
            "on_chip": cycles(max(reads, writes) if banks["each_way"] else reads + writes,
                              banks["bytes_per_cycle"]) if banks else 0,
            "memory": cycles(dram * clock, ceilings["memory_bytes_per_s"]),
            "host": cycles(link * clock, ceilings["host_bytes_per_s_each_way"]),
            "chips": cycles(chips * clock, ceilings["chips_bytes_per_s_each_way"])}
        self.assertEqual(row["roofline"], expected)
        self.assertEqual(list(row["roofline"]), LEVELS)
        self.assertEqual(row["roofline_cycles"], max(expected.values()))
        bound = max(expected, key=expected.get)  # of equals the first
        self.assertEqual(row["roofline_bound"], bound if expected[bound] else "none")

    def test_every_level_has_its_roofline(self):
        bounds = set()
        for settings in ((), ("scratchpad.bank_access=split",),
                         ("scratchpad.bank_access=shared", "memory.preset=hbm2_tpu_v4")):
            words = [word for setting in settings for word in ("--set", setting)]
            (run,) = self.result(*words)["devices"]
            self.assertEqual(list(run["ceilings"]), ["macs_per_cycle", "lanes", "on_chip", "memory_bytes_per_s",
                                                     "host_bytes_per_s_each_way", "chips_bytes_per_s_each_way"])
            self.assertEqual(run["ceilings"]["on_chip"] is None, not settings)
            self.assertEqual(run["ceilings"]["memory_bytes_per_s"] is None, len(settings) < 2)
            self.assertEqual(max(run["ceilings"]["macs_per_cycle"].values()), run["peak_macs_per_cycle"])
            for row in run["layers"] + [run["total"]]:
                self.check_roofline(row, run)
                bounds.add(row["roofline_bound"])
        self.assertGreater(len(bounds), 1)

    def test_the_text_names_every_layer(self):
        text = self.answer("run", DEVICE, TRACE)
        for name in ("conv", "pool", "classes", "total"):
            self.assertRegex(text, rf"(?m)^{name} ")

    def test_the_same_input_gives_the_same_bytes(self):
        for directory in ("a", "b"):
            self.answer("run", DEVICE, TRACE, "-o", directory, "--timeline", f"{directory}.json")
        for name in ("result.json", "layers.csv", "effective.yaml"):
            self.assertEqual(self.read(f"a/{name}"), self.read(f"b/{name}"))
        self.assertEqual(self.read("a.json"), self.read("b.json"))

    def test_results_hold_no_place_of_this_machine(self):
        device, out = HOME / f"configs/devices/{DEVICE}.yaml", self.directory / "out"
        self.answer("run", str(device), TRACE, "-o", str(out))
        for path in out.iterdir():
            for place in (str(HOME), str(self.directory)):
                self.assertNotIn(place, path.read_text())

    def test_the_effective_configuration_loads_again_and_gives_the_same_bytes(self):
        # Results name the device by its file, so the copy keeps the name.
        self.answer("run", DEVICE, TRACE, "--set", "mxu.rows=2", "-o", "first")
        (self.directory / "first/effective.yaml").rename(self.directory / f"{DEVICE}.yaml")
        self.answer("run", f"./{DEVICE}.yaml", TRACE, "-o", "again")
        self.assertEqual(self.read("again/effective.yaml"), self.read(f"{DEVICE}.yaml"))
        for name in ("result.json", "layers.csv"):
            self.assertEqual(self.read(f"again/{name}"), self.read(f"first/{name}"))


class Programs(ProgramTest):
    def test_a_lowered_program_runs_as_its_trace_does(self):
        self.answer("lower", DEVICE, TRACE, "-o", "net.program")
        self.assertEqual((self.directory / "net.program").read_text(), self.answer("lower", DEVICE, TRACE))
        by_trace = json.loads(self.answer("run", DEVICE, TRACE, "--format", "json"))["devices"][0]
        for words in ((), (TRACE,)):
            answer = self.answer("run", DEVICE, *words, "--program", "net.program", "--format", "json")
            by_program = json.loads(answer)["devices"][0]
            self.assertEqual(by_program["total"], by_trace["total"])
            self.assertEqual(by_program["layers"], by_trace["layers"])

    def test_a_program_of_another_trace_is_refused(self):
        self.answer("lower", DEVICE, TRACE, "-o", "net.program")
        self.assertIn(TRACE, self.refusal("run", DEVICE, "tpu_v1_mlp0", "--program", "net.program"))
        message = self.refusal("run", DEVICE, "--program", "net.program", "--set", "workload.batch=2")
        self.assertIn("workload", message)


class Shown(ProgramTest):
    def test_a_device_is_shown_with_the_origin_of_every_value(self):
        values = json.loads(self.answer("show", "device", DEVICE, "--format", "json"))["values"]
        text = self.answer("show", "device", DEVICE)
        for value in values:
            self.assertEqual(list(value), ["path", "value", "origin", "note", "range", "meaning", "limits"])
            self.assertTrue(value["meaning"], value["path"])
            self.assertRegex(text, rf"(?m)^{value['path']} ")
        rows = next(value for value in values if value["path"] == "mxu.rows")
        self.assertEqual((rows["value"], rows["origin"]), ("4", "assumed"))

    def test_the_limits_that_are_shown_are_those_that_hold(self):
        shown = json.loads(self.answer("show", "device", DEVICE, "--format", "json"))["values"]
        limits = {value["path"]: value["limits"] for value in shown}
        self.assertEqual(limits["mxu.shadow_register"], "on, off")
        self.assertEqual(limits["scratchpad.bank_access"], "private, split, shared")
        self.assertEqual(limits["sequencer.launch_latency"], "0 ps or more")
        low, high = map(int, limits["vector.startup"].split(".."))
        for value in (low, high):
            self.answer("show", "device", DEVICE, "--set", f"vector.startup={value}")
        for value in (low - 1, high + 1):
            self.refusal("show", "device", DEVICE, "--set", f"vector.startup={value}")
        self.assertIn(f"({limits['vector.startup']})", self.answer("show", "device", DEVICE))

    def test_what_a_device_is_and_its_sources_stand_above_its_values(self):
        shown = self.answer("show", "device", "scalesim")
        self.assertRegex(shown, r"(?m)^Source: \[S\] A\. Samajdar")
        self.assertLess(max(map(len, shown.splitlines())), 180)
        self.assertIn("[S]", json.loads(self.answer("show", "device", "scalesim", "--format", "json"))["about"])

    def test_a_trace_is_shown_layer_by_layer(self):
        shown = json.loads(self.answer("show", "trace", TRACE, "--format", "json"))
        self.assertEqual((shown["trace"], shown["macs"], shown["weight_bytes"]), (TRACE, 624, 84))
        self.assertEqual(shown["params"], {"batch": "1", "dtype": "int8"})
        shapes = [layer["output"]["shape"] for layer in shown["layers"]]
        self.assertEqual(shapes, [[1, 4, 4, 4], [1, 2, 2, 4], [1, 3]])
        text = self.answer("show", "trace", TRACE)
        for word in ("workload.batch", "[1, 4, 4, 4] int8", "624", "84"):
            self.assertIn(word, text)

    def test_weights_that_a_layer_of_their_own_makes_numbers_of_are_shown_with_it(self):
        self.write("t.yaml", "trace: t\ninputs:\n  x: {shape: [4, 256], dtype: bf16}\nlayers:\n"
                   "  - {name: a, op: matmul, n: 128, weight_dtype: int4, scales: channel, fused: false}\noutputs: [a]\n")
        shown = json.loads(self.answer("show", "trace", "./t.yaml", "--format", "json"))
        made, product = shown["layers"]
        self.assertEqual((made["name"], made["inputs"], made["weight_bytes"]), ("a.dequantize", [], 256 * 128 // 2 + 128 * 2))
        self.assertEqual(made["weights"], {"name": "a.weights", "shape": [256, 128], "dtype": "int4"})
        self.assertEqual((product["weights"], product["weight_bytes"]), (None, 0))
        self.assertEqual(shown["weight_bytes"], made["weight_bytes"])
        self.assertRegex(self.answer("show", "trace", "./t.yaml"), r"(?m)^a\.dequantize .*\[256, 128\] int4 +16,640$")

    def test_four_bits_in_rows_of_odd_length_are_counted_as_they_are_stored(self):
        for n in (1, 3, 129):
            run = json.loads(self.answer("op", "tpu_v5e", "matmul", "m=8", f"n={n}", "k=256", "dtype_b=int4", "scales=channel", "--format", "json"))
            weights = 256 * n // 2 + 2 * n  # and a scale each column
            self.assertEqual(run["devices"][0]["total"]["bytes"]["compulsory_dram"], 8 * 256 * 2 + 8 * n * 2 + weights)

    def test_inputs_and_outputs_that_stay_on_chip_must_still_pass_the_memorys_bus(self):
        def bytes_at(place):
            (run,) = json.loads(self.answer("run", "tpu_v4", TRACE, "--set", f"run.inputs_at={place}", "--set",
                                            f"run.outputs_to={place}", "--format", "json"))["devices"]
            places = {tensor["name"]: tensor["space"] for tensor in run["tensors"]}
            # An output that has to be in DRAM in the end saves nothing in the scratchpad.
            self.assertEqual((places["image"], places["classes"]), ("scratchpad", "dram" if place == "dram" else "scratchpad"))
            layers = [layer["bytes"]["compulsory_dram"] for layer in run["layers"]]
            self.assertLessEqual(run["total"]["bytes"]["compulsory_dram"],
                                 run["total"]["bytes"]["dram_read"] + run["total"]["bytes"]["dram_written"])
            return run["total"]["bytes"]["compulsory_dram"], layers

        onchip, of_layers = bytes_at("onchip")
        self.assertEqual(bytes_at("host"), (onchip, of_layers))
        image, classes = 36, 3  # bytes of int8: read by the first layer, written by the last
        self.assertEqual(bytes_at("dram"), (onchip + image + classes,
                                            [of_layers[0] + image, *of_layers[1:-1], of_layers[-1] + classes]))


if __name__ == "__main__":
    unittest.main()
