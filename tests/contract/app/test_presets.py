# SPDX-License-Identifier: Apache-2.0
"""Every shipped device meets every shipped trace: it runs, or says clearly why it cannot."""

import json
import unittest

from program import HOME, ProgramTest

ORIGINS = ("sourced", "derived", "assumed", "calibrated", "default")
TIMEOUT = 300  # seconds a run may take


def shelf(folder):
    return sorted(path.stem for path in (HOME / folder).rglob("*.yaml"))


DEVICES, TRACES = shelf("configs/devices"), shelf("traces")


class Presets(ProgramTest):
    def test_every_value_of_every_device_has_an_origin_and_a_meaning(self):
        for device in DEVICES:
            values = json.loads(self.answer("show", "device", device, "--format", "json"))["values"]
            for value in values:
                with self.subTest(device=device, path=value["path"]):
                    self.assertTrue(value["meaning"])
                    if value["path"] != "kind":
                        self.assertIn(value["origin"], ORIGINS)

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
