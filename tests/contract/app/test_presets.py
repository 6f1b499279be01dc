# SPDX-License-Identifier: Apache-2.0
"""Every shipped device meets every shipped trace: it runs, or says clearly why it cannot."""

import fractions
import json
import unittest

from program import HOME, ProgramTest

ORIGINS = ("sourced", "derived", "assumed", "calibrated", "default")
TIMEOUT = 300  # seconds a run may take


def shelf(folder):
    return sorted(path.stem for path in (HOME / folder).rglob("*.yaml"))


# What is published of a chip, and how many devices like ours it has: TFLOP/s (or TOPS) by number format, GB/s.
CHIPS = {
    "tpu_v1": (1, {"int8": 92, "int16xint8": 46, "int8xint16": 46, "int16": 23}, 34),
    "tpu_v2": (2, {"bf16": 46}, 716),
    "tpu_v3": (2, {"bf16": 123}, 900),
    "tpu_v4i": (1, {"bf16": 138, "int8": 138}, 614),
    "tpu_v4": (2, {"bf16": 275, "int8": 275}, 1228),
    "tpu_v5e": (1, {"bf16": 197, "int8": 394, "int4": 788}, 819),
    "tpu_v5p": (2, {"bf16": 459, "fp8": 459, "int8": 918, "int4": 1840}, 2765),
    "tpu_v6e": (1, {"bf16": 918, "fp8": 918, "int8": 1836, "int4": 3680}, 1638),
    "tpu_v7": (2, {"bf16": 2307, "fp8": 4614}, 7380),
    "trainium1": (1, {"fp32": 47.5, "bf16": 190, "fp16": 190, "fp8": 190, "int8": 380}, 820),
    "trainium2": (1, {"fp32": 181, "bf16": 667, "fp16": 667, "fp8": 1299}, 2900),
    "inferentia1": (1, {"bf16": 64, "fp16": 64, "int8": 128}, 51.2),
    "inferentia2": (1, {"fp32": 47.5, "bf16": 190, "fp16": 190, "fp8": 190, "int8": 380}, 820),
    "groq_tsp": (1, {"fp16": 188, "int8": 750}, 80_000),
}
# Peaks that one clock and whole numbers of cycles do not reach both: of Trainium2 bf16 and fp8 by 2 %, fp32 (1/3.7) by 10.
NEAR = {"trainium2": {"fp32": 0.1, "bf16": 0.02, "fp16": 0.02, "fp8": 0.02}}
for whole in ("tpu_v2", "tpu_v3", "tpu_v4", "tpu_v5p"):
    CHIPS[f"{whole}_chip"] = (1, *CHIPS[whole][1:])
# TFLOP/s in fp32 (of M1 to M4 fp16, too) and GB/s that Apple names, which are rounded.
APPLE = {"m1": (2.6, 68), "m1_pro": (5.2, 200), "m1_max": (10.4, 400), "m1_ultra": (20.8, 800), "m2": (3.55, 100),
         "m2_pro": (6.8, 200), "m2_max": (13.6, 400), "m2_ultra": (27.2, 800), "m3": (4.1, 100), "m3_pro": (7.4, 150),
         "m3_max": (16.4, 400), "m3_ultra": (32.8, 819), "m4": (4.6, 120), "m4_pro": (9.3, 273), "m4_max": (18.6, 546)}
APPLES = [f"apple_{name}" for name in APPLE]
OUTLINES = sorted(["b100", "groq_tsp", "inferentia1", *APPLES])
# Published GB/s of a link to a neighbouring chip, each way.
LINKS = {"tpu_v2": 496 / 8, "tpu_v3": 656 / 8, "tpu_v4": 45, "tpu_v5e": 45, "tpu_v5p": 90, "tpu_v6e": 90,
         "tpu_v7": 1200 / 2 / 6}
LINKS |= {device: LINKS[device.removesuffix("_chip")] for device in CHIPS if device.endswith("_chip")}
# What a trace is asked for less of, where every device runs it: 175 G MACs take it half a minute otherwise.
SMALL = [f"workload.{what}" for what in ("layers=1", "kv_len=512", "hidden=512", "heads=4", "kv_heads=2", "ffn=1024",
                                         "vocabulary=1024")]
SMALLER = tuple(word for setting in SMALL for word in ("--set", setting))
# One that a device has, where some trace has another without being told.
FORMAT = {device: ("--set", "workload.dtype=fp16") for device in ("v100", "trainium2", "groq_tsp", *APPLES)}
LESS = {"tpu_v1_cnn1": ("--set", "workload.batch=2"), "llama3_8b": SMALLER, "llama3_70b": SMALLER,
        "unet": ("--set", "workload.bottom=4"), "dlrm": ("--set", "workload.batch=16")}
# Refused as tpu_v1_mlp0 is, only when 2^24 commands are written: half a minute each.
AS_LARGE = {("teaching_4x4", trace) for trace in ("bert_base", "resnet50", "resnet50_v1", "tpu_v1_mlp1", "unet")}
# Chips that differ from another in numbers, not in kind: each runs a third of the traces, three of them together all.
SIBLINGS = [*APPLES[1:], "a100_pcie", "h100_pcie", "h200", "b100", "gb200", "l4", "mi325x", "tpu_v2_chip", "tpu_v3_chip", "tpu_v4i",
            "tpu_v5p_chip", "inferentia2"]
SOME = {device: slice(number % 3, None, 3) for number, device in enumerate(SIBLINGS)}
TRANSFERS_A_CLOCK = {"DDR3": 2, "DDR4": 2, "LPDDR5": 8, "HBM2": 2, "HBM2E": 2, "HBM3": 4, "HBM3E": 4}
UNITS = {"Hz": 1, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9}

DEVICES, MEMORIES, TRACES = shelf("configs/devices"), shelf("configs/memory"), shelf("traces")


class Presets(ProgramTest):
    macs = {}

    def test_every_value_of_every_device_has_an_origin_and_a_meaning(self):
        for device in DEVICES:
            values = json.loads(self.answer("show", "device", device, "--format", "json"))["values"]
            for value in values:
                with self.subTest(device=device, path=value["path"]):
                    self.assertTrue(value["meaning"])
                    if value["path"] != "kind":
                        self.assertIn(value["origin"], ORIGINS)

    def values(self, device):
        shown = json.loads(self.answer("show", "device", device, "--format", "json"))["values"]
        return {value["path"]: value["value"] for value in shown}

    def hertz(self, text):
        number, unit = text.split()
        return float(number) * UNITS[unit]

    def bandwidth(self, device):
        """Of its memory, GB/s."""
        values = {path[7:]: value for path, value in self.values(device).items() if path.startswith("memory.")}
        if values["kind"] == "sram":
            number, unit = values["bandwidth"].split()
            return float(number) * {"GB/s": 1, "TB/s": 1000}[unit]
        pins = int(values["channels"]) * int(values["pseudo_channels"]) * int(values["data_bits"])
        return pins / 8 * TRANSFERS_A_CLOCK[values["standard"]] * self.hertz(values["clock"]) / 1e9

    def test_every_array_reaches_its_published_peak_in_the_formats_it_has(self):
        families = ("tpu_", "trainium", "inferentia", "groq_")
        self.assertEqual(sorted(CHIPS), [device for device in DEVICES if device.startswith(families)])
        for device, (share, peaks, _) in CHIPS.items():
            values = self.values(device)
            pes = int(values["core.count"])
            for factor in ("count", "rows", "cols"):
                pes *= int(values[f"mxu.{factor}"])
            rates = {path.split(".")[-1]: fractions.Fraction(rate) for path, rate in values.items() if path.startswith("mxu.rate.")}
            self.assertEqual({name for name, rate in rates.items() if rate}, set(peaks), device)
            for name, peak in peaks.items():
                with self.subTest(device=device, dtype=name):
                    reached = 2 * pes * rates[name] * self.hertz(values["core.clock"]) / 1e12
                    near = NEAR.get(device, {}).get(name, 0.01)
                    self.assertAlmostEqual(share * reached / peak, 1, delta=near)

    def test_every_apple_gpu_has_the_lanes_and_the_memory_that_apple_names(self):
        self.assertEqual(sorted(APPLES), [device for device in DEVICES if device.startswith("apple_")])
        for name, (peak, published) in APPLE.items():
            with self.subTest(device=name):
                values = self.values(f"apple_{name}")
                lanes = int(values["sm.count"]) * int(values["sm.sub_cores"]) * 32 / int(values["sm.fp32.interval"])
                reached = 2 * lanes * self.hertz(values["core.clock"]) / 1e12
                self.assertAlmostEqual(reached / peak, 1, delta=0.025)
                self.assertAlmostEqual(self.bandwidth(f"apple_{name}") / published, 1, delta=0.025)
                product = ("op", f"apple_{name}", "matmul", "m=64", "n=64", "k=64", "--format", "json")
                (run,) = json.loads(self.answer(*product, "dtype=fp16"))["devices"]
                clock, rates = run["clock_hz"], run["ceilings"]["macs_per_cycle"]
                self.assertEqual(set(rates), {"fp32", "fp16"})
                self.assertIn("there are none; FP32 pipelines: ", self.refusal(*product, "dtype=bf16"))
                for rate in rates.values():
                    self.assertAlmostEqual(2 * rate * clock / 1e12 / reached, 1)

    def test_outlines_say_that_they_are_some(self):
        listed = {line.split()[0]: line.split()[2] for line in self.answer("list", "devices").splitlines()[2:] if line}
        self.assertEqual(sorted(name for name, fidelity in listed.items() if fidelity == "outline"), OUTLINES)
        self.assertEqual({listed[name] for name in DEVICES if name not in OUTLINES}, {"detailed"})
        said = "Outline: published facts do not carry a detailed model of this chip"
        words = ("matmul", "m=64", "n=64", "k=64", "dtype=fp16")
        for device in ("apple_m1", "groq_tsp"):
            for command in ("op", "explain"):
                self.assertIn(said, self.answer(command, device, *words))
            self.assertIn(said, self.answer("run", device, "three_layers", *FORMAT[device]))
            (run,) = json.loads(self.answer("op", device, *words, "--format", "json"))["devices"]
            self.assertEqual(run["fidelity"], "outline")
            self.assertTrue(self.answer("op", device, *words, "--format", "csv").endswith(",outline,\n"))
            self.assertEqual(self.values(device)["fidelity"], "outline")
        compared = self.answer("compare", "three_layers", "--device", "groq_tsp", "--device", "tpu_v4")
        self.assertIn("do not carry a detailed model of groq_tsp;", compared)
        self.assertNotIn("model of tpu_v4", compared)
        self.assertNotIn("Outline", self.answer("op", "tpu_v4", *words[:-1]))
        self.assertIn("outline", self.refusal("op", "tpu_v4", *words[:-1], "--set", "fidelity=sketch"))

    def test_a_chip_without_dram_says_sram_and_refuses_what_does_not_fit(self):
        (run,) = json.loads(self.answer("run", "groq_tsp", "three_layers", "--format", "json"))["devices"]
        places = {moved[end] for moved in run["total"]["bytes"]["moved"] for end in ("from", "to")}
        self.assertIn("sram", places)
        self.assertNotIn("dram", places)
        self.assertEqual(run["memory"], "sram")
        # Its bytes take the energy of SRAM: nothing is opened, refreshed or kept alive.
        entries = run["energy"]["entries"]
        self.assertFalse({"activate", "refresh", "background"} & {entry["event"] for entry in entries})
        (read,) = (entry for entry in entries if (entry["path"], entry["event"]) == ("groq_tsp.sram", "read"))
        self.assertEqual(read["count"], sum(moved["bytes"] for moved in run["total"]["bytes"]["moved"] if moved["from"] == "sram"))
        self.assertIn("SRAM read", self.answer("run", "groq_tsp", "three_layers"))
        self.assertIn("expected a DRAM", self.refusal("dram", "sram_groq_tsp", "--pattern", "stream"))
        message = self.refusal("run", "groq_tsp", "gpt2", *FORMAT["groq_tsp"])
        self.assertRegex(message, r"the network needs .* of memory: .* weights.*groq_tsp's memory has")

    def test_every_tpu_has_its_share_of_the_published_bandwidth(self):
        for device, (share, _, published) in CHIPS.items():
            with self.subTest(device=device):
                self.assertAlmostEqual(share * self.bandwidth(device) / published, 1, delta=0.01)

    def test_every_tpu_has_its_share_of_a_link_to_its_neighbour(self):
        for device, published in LINKS.items():
            with self.subTest(device=device):
                number, unit = self.values(device)["chip_link.bandwidth"].split()
                self.assertEqual((CHIPS[device][0] * float(number), unit), (published, "GB/s"))
        self.assertNotIn("chip_link.bandwidth", self.values("tpu_v1"))

    def test_every_value_of_every_memory_has_an_origin_and_a_meaning(self):
        for memory in MEMORIES:
            shown = json.loads(self.answer("show", "memory", memory, "--format", "json"))
            self.assertEqual(shown["memory"], memory)
            for value in shown["values"]:
                with self.subTest(memory=memory, path=value["path"]):
                    self.assertTrue(value["meaning"])
                    self.assertIn(value["origin"], ORIGINS)
        self.assertIn("\ntiming.CL ", self.answer("show", "memory", "ddr4_3200"))
        self.assertIn("did you mean 'memory'?", self.refusal("show", "memry", "ddr4_3200"))
        self.assertIn("'systole list memories'", self.refusal("show", "memory", "nothing_like_it"))

    def test_a_device_takes_every_memory_from_the_command_line(self):
        operator = ("op", "teaching_4x4", "matmul", "m=16", "n=16", "k=16", "dtype=int8", "--format", "json")
        for memory in MEMORIES:
            with self.subTest(memory=memory):
                taken = json.loads(self.answer(*operator, "--set", f"memory.preset={memory}"))["devices"][0]
                text = f"device: Mine\nkind: systolic\nextends: teaching_4x4\nmemory: {{preset: {memory}}}\n"
                self.write("teaching_4x4.yaml", text)
                written = json.loads(self.answer(operator[0], "./teaching_4x4.yaml", *operator[2:]))["devices"][0]
                for key in ("total", "memory_bus", "energy"):
                    self.assertEqual(taken[key], written[key], key)
        settings = ("--set", "memory.channels=2", "--set", "memory.preset=hbm3_6400")  # in any order
        bus = json.loads(self.answer(*operator, *settings))["devices"][0]
        self.assertIn("channels: {value: 2, set:", bus["config"])
        self.assertIn("did you mean 'hbm3_6400'?", self.refusal(*operator, "--set", "memory.preset=hbm3_640"))

    def test_every_trace_can_be_shown(self):
        for trace in TRACES:
            self.assertGreater(json.loads(self.answer("show", "trace", trace, "--format", "json"))["macs"], 0)

    def test_every_device_runs_every_trace_or_says_why_not(self):
        for device in DEVICES:
            traces = TRACES[SOME.get(device, slice(None))]
            ran = [trace for trace in traces if (device, trace) not in AS_LARGE and self.runs(device, trace)]
            self.assertTrue(ran, f"{device} runs nothing")

    def test_the_first_tpu_runs_the_networks_of_its_paper_at_their_batch(self):
        networks = [trace for trace in TRACES if trace.startswith("tpu_v1_")]
        self.assertEqual(len(networks), 6)
        for trace in networks:
            (run,) = json.loads(self.answer("run", "tpu_v1", trace, "--format", "json"))["devices"]
            shown = json.loads(self.answer("show", "trace", trace, "--format", "json"))
            self.assertEqual(run["total"]["macs"], shown["macs"], trace)

    def macs_of(self, trace, settings):
        """That a trace itself has, whoever runs it."""
        key = (trace, *settings)
        if key not in self.macs:
            self.macs[key] = json.loads(self.answer("show", "trace", trace, "--format", "json", *settings))["macs"]
        return self.macs[key]

    def runs(self, device, trace):
        with self.subTest(device=device, trace=trace):
            less = (*LESS.get(trace, ()), *FORMAT.get(device, ()))
            done = self.run_systole("run", device, trace, "--format", "json", *less, timeout=TIMEOUT)
            self.assertIn(done.returncode, (0, 2), done.stderr)
            if done.returncode == 2:
                self.assertRegex(done.stderr, r"error: \S+ \S+")
                self.assertEqual(done.stdout, "")
                return False
            (run,) = json.loads(done.stdout)["devices"]
            self.assertEqual(run["total"]["macs"], self.macs_of(trace, less))
            self.assertEqual(sum(layer["cycles"] for layer in run["layers"]), run["total"]["cycles"])
            self.assertGreaterEqual(run["total"]["cycles"], run["total"]["roofline_cycles"])
            return True
        return False


if __name__ == "__main__":
    unittest.main()
