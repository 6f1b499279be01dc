# SPDX-License-Identifier: Apache-2.0
"""Every shipped device meets every shipped trace: it runs, or says clearly why it cannot."""

import json
import unittest

from program import HOME, ProgramTest

ORIGINS = ("sourced", "derived", "assumed", "calibrated", "default")
TIMEOUT = 300  # seconds a run may take


def shelf(folder):
    return sorted(path.stem for path in (HOME / folder).rglob("*.yaml"))


DEVICES, MEMORIES, TRACES = shelf("configs/devices"), shelf("configs/memory"), shelf("traces")


class Presets(ProgramTest):
    def test_every_value_of_every_device_has_an_origin_and_a_meaning(self):
        for device in DEVICES:
            values = json.loads(self.answer("show", "device", device, "--format", "json"))["values"]
            for value in values:
                with self.subTest(device=device, path=value["path"]):
                    self.assertTrue(value["meaning"])
                    if value["path"] != "kind":
                        self.assertIn(value["origin"], ORIGINS)

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
            ran = [trace for trace in TRACES if self.runs(device, trace)]
            self.assertTrue(ran, f"{device} runs nothing")

    def runs(self, device, trace):
        with self.subTest(device=device, trace=trace):
            done = self.run_systole("run", device, trace, "--format", "json", timeout=TIMEOUT)
            self.assertIn(done.returncode, (0, 2), done.stderr)
            if done.returncode == 2:
                self.assertRegex(done.stderr, r"error: \S+ \S+")
                self.assertEqual(done.stdout, "")
                return False
            (run,) = json.loads(done.stdout)["devices"]
            shown = json.loads(self.answer("show", "trace", trace, "--format", "json"))
            self.assertEqual(run["total"]["macs"], shown["macs"])
            self.assertEqual(sum(layer["cycles"] for layer in run["layers"]), run["total"]["cycles"])
            self.assertGreaterEqual(run["total"]["cycles"], run["total"]["roofline_cycles"])
            return True
        return False


if __name__ == "__main__":
    unittest.main()
