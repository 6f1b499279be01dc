# SPDX-License-Identifier: Apache-2.0
"""Timelines of both kinds of devices: what they promise, and that they hold to the result they are of."""

import json
import unittest

from program import DEVICE, TRACE, ProgramTest
from timelines import Timeline, check_timeline, counted

MATMUL = ("matmul", "m=512", "n=512", "k=512")


class Timelines(ProgramTest):
    def traced(self, *arguments):
        """The timeline of a command, and its answer as JSON."""
        answer = json.loads(self.answer(*arguments, "--format", "json", "--timeline", "t.json", timeout=300))
        return Timeline((self.directory / "t.json").read_text()), answer

    def checked(self, *arguments):
        timeline, answer = self.traced(*arguments)
        check_timeline(self, timeline, answer["devices"])
        return timeline, answer["devices"][0]

    def test_sums_equal_the_accounts_of_accelerators(self):
        for arguments in ((DEVICE, TRACE), ("tpu_v4", "resnet50"), ("tpu_v1", "tpu_v1_mlp0"),
                          ("tpu_v4", "bert_base", "--set", "core.count=2"), (DEVICE, TRACE, "--set", "mxu.engine=grid"),
                          (DEVICE, TRACE, "--set", "mxu.dataflow=os"), ("tpu_v4", TRACE, "--set", "memory.kind=ideal")):
            with self.subTest(arguments):
                self.checked("run", *arguments)

    def test_sums_equal_the_accounts_of_gpus(self):
        for arguments in (("h100", "resnet50"), ("a100", "bert_base"), ("mi300x", TRACE), ("b200", "bert_base"),
                          ("h100", TRACE, "--set", "sm.engine=warps"), ("v100", "resnet50", "--set", "workload.dtype=fp16", "--set", "run.repeat=2")):
            with self.subTest(arguments):
                self.checked("run", *arguments)

    def test_operators_and_comparisons_have_timelines_too(self):
        self.checked("op", "tpu_v4", *MATMUL)
        self.checked("op", "h100", *MATMUL)
        self.answer("compare", "resnet50", "--device", "tpu_v4", "--device", "gpu=h100", "--timeline", "t.json")
        timeline = Timeline((self.directory / "t.json").read_text())
        alone = [json.loads(self.answer("run", device, "resnet50", "--format", "json"))["devices"][0]
                 for device in ("tpu_v4", "h100")]
        alone[1]["device"] = "gpu"
        check_timeline(self, timeline, alone)

    def test_results_are_the_same_with_and_without(self):
        for device in ("tpu_v4", "h100"):
            _, answer = self.traced("run", device, "resnet50")
            self.assertEqual(answer, json.loads(self.answer("run", device, "resnet50", "--format", "json")))

    def test_equal_turns_are_all_there(self):
        timeline, result = self.checked("run", "tpu_v4", "bert_base", "--set", "run.reuse=on")
        self.assertFalse(any(layer["reused"] for layer in result["layers"]))
        seen = {event["args"]["layer"] for spans in timeline.threads.values() for _, _, event in spans
                if "layer" in event.get("args", {})}
        self.assertEqual(seen, set(range(len(result["layers"]))))

    def test_no_memory_is_faster_than_its_peak(self):
        for device, network in (("tpu_v4", "resnet50"), ("h100", "resnet50"), ("tpu_v5e", "bert_base")):
            timeline, result = self.checked("run", device, network)
            peak = result["ceilings"]["memory_bytes_per_s"] / 1e9
            for way in ("read", "write"):
                for _, values in timeline.counters[1, f"{device}.dram {way}"]:
                    self.assertLessEqual(float(values["GB/s"]), peak * (1 + 1e-6), (device, way))

    def test_a_stretch_is_called_by_what_it_has_most_of(self):
        for device in ("tpu_v4", "h100"):
            timeline, _ = self.checked("run", device, "resnet50")
            several = 0
            for spans in timeline.accounts(1).values():
                for _, _, event in spans:
                    slots = event["args"].get("slots", {})
                    if event["args"].get("spans", 1) == 1 and len(slots) > 1:
                        several += 1
                        self.assertEqual(slots[event["args"]["class"]], max(slots.values()), event)
            self.assertGreater(several, 10)

    def test_the_memorys_bandwidth_carries_the_memorys_bytes(self):
        for device in ("tpu_v4", "h100"):
            timeline, result = self.checked("run", device, "resnet50")
            stats = {(stat["path"], stat["name"]): stat["value"] for stat in result["stats"]}
            for way, name in (("read", "bytes_read"), ("write", "bytes_written")):
                expected = stats[f"{device}.dram", name]
                self.assertAlmostEqual(counted(timeline, 1, f"{device}.dram {way}"), expected,
                                       delta=1e-4 * expected + 1)

    def test_a_command_waits_for_the_one_that_released_it(self):
        timeline, _ = self.checked("run", "tpu_v4", "resnet50")
        run = timeline.runs[1]
        self.assertGreater(run["flows"], 1000)
        self.assertEqual(run["flows"], run["flows_written"])

    def test_matrix_units_have_names_of_passes_and_reasons(self):
        timeline, _ = self.checked("run", "tpu_v4", "resnet50")
        names = {event["name"] for _, _, event in timeline.accounts(1)["tpu_v4.mxu0"]}
        self.assertTrue(any(name.startswith("memory: weights of ") for name in names), names)
        self.assertTrue(any(" m 0+" in name and " k 0+" in name for name in names), names)

    def test_the_same_run_gives_the_same_bytes(self):
        for device in (DEVICE, "a100"):
            first, _ = self.traced("run", device, TRACE)
            self.assertEqual(self.traced("run", device, TRACE)[0].text, first.text)


class Merged(ProgramTest):
    def test_files_stay_below_the_number_of_events_and_keep_their_sums(self):
        for device, most in (("tpu_v4", 20_000), ("tpu_v4", 5_000), ("tpu_v4", 1_000), ("h100", 1_000)):
            done = self.run_systole("run", device, "bert_base", "--format", "json", "--timeline", "t.json",
                                    "--timeline-events", str(most))
            self.assertEqual(done.returncode, 0, done.stderr)
            timeline = Timeline((self.directory / "t.json").read_text())
            check_timeline_merged(self, timeline, json.loads(done.stdout)["devices"][0], most)
            self.assertRegex(done.stderr, r"[\d,]+ spans merged into [\d,]+")

    def test_a_hundred_thousand_events_are_the_most_unless_asked_otherwise(self):
        self.answer("run", "tpu_v5e", "llama3_8b", "--set", "workload.layers=6", "--timeline", "t.json", timeout=300)
        timeline = Timeline((self.directory / "t.json").read_text())
        self.assertLess(timeline.runs[1]["spans_written"], timeline.runs[1]["spans"])
        drawn = sum(event["ph"] != "M" for event in timeline.events)
        self.assertTrue(50_000 < drawn <= 100_000, drawn)

    def test_numbers_of_events_that_are_none_are_refused(self):
        for words, message in ((("--timeline", "t.json", "--timeline-events", "999"), "--timeline-events: "),
                               (("--timeline", "t.json", "--timeline-events", "many"), "--timeline-events: "),
                               (("--timeline-events", "5000"), "--timeline-events goes with --timeline")):
            self.assertIn(message, self.refusal("run", DEVICE, TRACE, *words))
        self.write("q.csv", "op,m,n,k\nmatmul,4,4,4\n")
        self.assertIn("of one operator", self.refusal("op", DEVICE, "--csv", "q.csv", "--timeline", "t.json"))
        for command in (("op", DEVICE, *MATMUL), ("compare", TRACE, "--device", DEVICE, "--device", "b=" + DEVICE)):
            self.refusal(*command, "--timeline", "nowhere/t.json")


def check_timeline_merged(test, timeline, result, most):
    """As any other; activity may be left out where it says so."""
    run = timeline.runs[1]
    if not run["activity"]:
        test.assertTrue(any("activity" in note for note in run["notes"]), run["notes"])
        slots = sum(result["total"]["class_slots"].values())
        timeline.runs[1]["activity"] = [{"name": "none", "units": 1, "bins": 1, "slots": [slots]}]
        timeline.counters[1, "none"] = [(0, result["total"]["classes"]), (run["end_ps"], {})]
    check_timeline(test, timeline, [result])
    test.assertLessEqual(sum(event["ph"] != "M" for event in timeline.events), most)
    test.assertLess(run["spans_written"], run["spans"])
    spans = sum(event.get("args", {}).get("spans", 1) for spans in timeline.threads.values() for _, _, event in spans)
    test.assertEqual(spans, run["spans"])


if __name__ == "__main__":
    unittest.main()
