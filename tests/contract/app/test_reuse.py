# SPDX-License-Identifier: Apache-2.0
"""Reuse of repeated blocks: a network of many equal layers takes as long, within 0.1 %, as if all were simulated."""
import json
import unittest

from program import ProgramTest

BERT = ("bert_base", "--set", "workload.layers=24")


class Reuse(ProgramTest):
    def result(self, device, *settings):
        answer = self.answer("run", device, *BERT, *settings, "--format", "json")
        return json.loads(answer)["devices"][0]

    def compare(self, device, *settings):
        """Answers the run with reuse, compared with the one without."""
        reused, whole = self.result(device, *settings), self.result(device, *settings, "--set", "run.reuse=off")
        total, other = reused["total"], whole["total"]
        self.assertLessEqual(abs(total["cycles"] - other["cycles"]), other["cycles"] / 1000)
        for key in ("macs", "matrix_macs", "bytes"):
            self.assertEqual(total[key], other[key])
        for name, share in total["classes"].items():
            self.assertAlmostEqual(share, other["classes"][name], delta=0.005)
        self.assertEqual([row["name"] for row in reused["layers"]], [row["name"] for row in whole["layers"]])
        self.assertFalse(any(row["reused"] for row in whole["layers"]))
        counts = {(stat["path"], stat["name"]): stat["value"] for stat in whole["stats"]}
        for stat in reused["stats"]:
            if stat["unit"] in ("B", "bursts", "MACs", "passes", "descriptors") and stat["name"] != "row_hits":
                self.assertEqual(stat["value"], counts[stat["path"], stat["name"]], stat["path"] + stat["name"])
        self.assertEqual(sum(row["cycles"] for row in reused["layers"]), total["cycles"])
        self.assertAlmostEqual(sum(step["time_ns"] for step in reused["critical_path"]), total["time_ns"])
        return reused

    def test_a_deep_network_is_taken_over_from_its_middle_layers(self):
        run = self.compare("tpu_v4")
        reused = {row["name"].split(".")[1] for row in run["layers"] if row["reused"]}
        self.assertGreaterEqual(len(reused), 24 - 9)
        self.assertFalse(reused & {"0", "1", "22", "23"})  # the first and the last two are simulated
        self.assertIn(" *", self.answer("run", "tpu_v4", *BERT))

    def test_other_machines_and_protocols_agree_too(self):
        self.compare("tpu_v4", "--set", "placement.activations=dram")
        self.compare("tpu_v5e", "--set", "run.inputs_at=dram", "--set", "run.refresh_phase=1.3 us")

    def test_without_refresh_it_is_exact(self):
        run, whole = (self.result("tpu_v4", "--set", "memory.refresh=off", "--set", f"run.reuse={reuse}")
                      for reuse in ("on", "off"))
        self.assertEqual(run["total"], whole["total"])

    def test_a_timeline_shows_every_layer_simulated(self):
        self.answer("run", "tpu_v4", *BERT, "-o", "r", "--timeline", "t.json")
        layers = json.loads(self.read("r/result.json"))["devices"][0]["layers"]
        self.assertFalse(any(row["reused"] for row in layers))

    def test_the_switch_is_on_or_off(self):
        self.assertIn("reuse", self.refusal("run", "tpu_v4", *BERT, "--set", "run.reuse=perhaps"))


if __name__ == "__main__":
    unittest.main()
