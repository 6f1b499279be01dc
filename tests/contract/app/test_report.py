# SPDX-License-Identifier: Apache-2.0
"""Reports as files: what is in the page, what is refused, and what is written then (nothing)."""

import json
import re
import unittest

from program import DEVICE, HOME, TRACE, ProgramTest


def data_of(html):
    """What the page draws."""
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', html, re.DOTALL)
    return json.loads(found.group(1))


class Reports(ProgramTest):
    def page(self, name="r.html"):
        return data_of((self.directory / name).read_text())

    def result(self):
        self.answer("run", DEVICE, TRACE, "-o", "out")
        return json.loads((self.directory / "out" / "result.json").read_text())

    def test_a_run_has_its_result_and_its_timeline_in_one_file(self):
        self.answer("run", DEVICE, TRACE, "-o", "out", "--report", "out/r.html")
        result = json.loads((self.directory / "out" / "result.json").read_text())["devices"][0]
        page = self.page("out/r.html")
        self.assertEqual(page["title"], f"{TRACE} on {DEVICE}")
        self.assertEqual(page["command"], f"systole run {DEVICE} {TRACE}")
        run = page["runs"][0]
        self.assertEqual(run["total"]["cycles"], result["total"]["cycles"])
        self.assertEqual([layer["classes"] for layer in run["layers"]], [layer["classes"] for layer in result["layers"]])
        self.assertEqual(run["timeline"]["end_ps"], round(1000 * result["total"]["time_ns"]))
        slots = [sum(unit["bins"][i][k] for unit in run["timeline"]["activity"] for i in range(len(unit["bins"])))
                 for k in range(10)]
        self.assertEqual(slots, list(result["total"]["class_slots"].values()))

    def test_the_command_is_what_one_would_type_again(self):
        self.answer("run", DEVICE, TRACE, "--set", "mxu.rows=8", "--format", "json", "-o", "a b", "--report", "r.html",
                    "--set=memory.kind=ideal", "--timeline", "t.json")
        self.assertEqual(self.page()["command"],
                         f"systole run {DEVICE} {TRACE} --set mxu.rows=8 --set=memory.kind=ideal")

    def test_a_timeline_of_equal_turns_says_that_all_of_them_ran(self):
        turns = ("run", "tpu_v4", "bert_base", "--set", "workload.layers=16", "--set", "workload.seq=8")
        done = self.run_systole(*turns, "--timeline", "t.json", "--report", "r.html", "--format", "json")
        self.assertIn("all turns of bert_base are simulated for the timeline (run.reuse=off)", done.stderr)
        result = json.loads(done.stdout)["devices"][0]
        self.assertEqual(result["protocol"]["reuse"], "off")
        again = "--set run.reuse=off"
        self.assertEqual(self.page()["command"], f"systole {' '.join(turns)} {again}")
        self.assertEqual(json.loads(self.answer(*turns, *again.split(), "--format", "json"))["devices"][0], result)

        for other in ("run.reuse=rough", "run.reuse=on"):
            self.answer(*turns, "--set", other, "--timeline", "t.json", "--report", "r.html")
            self.assertEqual(self.page()["command"], f"systole {' '.join(turns)} {again}")

    def test_the_command_holds_no_place_of_this_machine(self):
        self.answer("run", str(HOME / f"configs/devices/{DEVICE}.yaml"), TRACE, "--report", "r.html")
        self.assertEqual(self.page()["command"], f"systole run {DEVICE}.yaml {TRACE}")
        self.assertNotIn(str(HOME), (self.directory / "r.html").read_text())

    def test_reports_do_not_take_the_place_of_what_else_is_written(self):
        compare = ("compare", TRACE, "--device", DEVICE, "--device", f"wide={DEVICE}")
        self.write("s.yaml", f"device: {DEVICE}\ntrace: {TRACE}\naxes: {{mxu.rows: [4, 8]}}\n")
        (self.directory / "out").mkdir()
        for words in ((*compare, "-o", "out", "--report", "out/comparison.json"),
                      (*compare, "-o", "out", "--timeline", "out/../out/comparison.csv"),
                      (*compare, "--timeline", "x", "--report", "./x"),
                      ("sweep", "s.yaml", "-o", "out", "--report", "out/points.csv")):
            self.refusal(*words)

    def test_a_comparison_has_all_its_devices(self):
        self.answer("compare", TRACE, "--device", DEVICE, "--device", f"wide={DEVICE}", "--set", "wide:mxu.cols=8",
                    "--report", "r.html")
        self.assertEqual([run["device"] for run in self.page()["runs"]], [DEVICE, "wide"])

    def test_a_comparison_has_its_reasons_from_the_run_and_from_its_file(self):
        self.answer("compare", TRACE, "--device", DEVICE, "--device", f"wide={DEVICE}", "--set", "wide:mxu.cols=8",
                    "-o", "c", "--report", "r.html")
        self.answer("report", "c/comparison.json", "-o", "again.html")
        told = json.loads((self.directory / "c" / "comparison.json").read_text())["comparisons"][0]
        for name in ("r.html", "again.html"):
            one = self.page(name)["comparisons"][0]
            self.assertEqual(one["devices"], [DEVICE, "wide"])
            self.assertEqual([layer["why"] for layer in one["layers"]], [layer["why"] for layer in told["layers"]])
            self.assertEqual([one["devices"][layer["fastest"]] for layer in one["layers"]],
                             [layer["fastest"] for layer in told["layers"]])
            self.assertEqual(one["total"]["times_ns"], list(told["total"]["time_ns"].values()))

    def test_comparisons_of_several_files_know_their_runs(self):
        self.answer("run", DEVICE, TRACE, "-o", "a")
        self.answer("compare", TRACE, "--device", DEVICE, "--device", f"wide={DEVICE}", "-o", "b")
        self.answer("report", "a/result.json", "b/comparison.json", "b/comparison.json", "-o", "r.html")
        self.assertEqual([one["first_run"] for one in self.page()["comparisons"]], [1, 3])

    def test_results_of_several_files_stand_side_by_side(self):
        self.answer("run", DEVICE, TRACE, "-o", "a")
        self.answer("compare", TRACE, "--device", DEVICE, "--device", f"wide={DEVICE}", "-o", "b")
        self.answer("report", "a/result.json", "b/comparison.json", "-o", "r.html")
        self.assertEqual([run["device"] for run in self.page()["runs"]], [DEVICE, DEVICE, "wide"])
        self.assertIsNone(self.page()["command"])  # results do not say how they were asked for

    def test_the_same_results_make_the_same_bytes(self):
        self.result()
        for name in ("a.html", "b.html"):
            self.answer("report", "out/result.json", "-o", name)
        self.assertEqual((self.directory / "a.html").read_bytes(), (self.directory / "b.html").read_bytes())

    def test_a_sweep_has_its_points(self):
        self.write("s.yaml", f"device: {DEVICE}\ntrace: {TRACE}\naxes: {{mxu.rows: [4, 8]}}\nobjectives: [time_ns]\n")
        self.answer("sweep", "s.yaml", "-o", "s", "--report", "s/r.html")
        self.answer("report", "s", "-o", "again.html")
        self.assertEqual(self.page("s/r.html"), self.page("again.html"))
        sweep = self.page("again.html")["sweep"]
        self.assertEqual([row[3] for row in sweep["rows"]], [4, 8])
        self.assertEqual(sweep["experiment"], (self.directory / "s.yaml").read_text())
        self.assertEqual(sweep["objectives"], [{"name": "time_ns", "more_is_better": False}])
        self.assertEqual((sweep["tally"]["points"], sweep["tally"]["done"]), (2, 2))

    def test_a_sweep_without_a_result_is_refused(self):
        self.write("s.yaml", f"device: {DEVICE}\ntrace: {TRACE}\naxes: {{mxu.rows: [4, 8]}}\n")
        self.answer("sweep", "s.yaml", "-o", "s", "--plan")
        self.assertIn("'s' has 2 points, and none has a result yet", self.refusal("report", "s", "-o", "r.html"))
        self.refusal("sweep", "s.yaml", "-o", "t", "--plan", "--report", "r.html")

    def test_files_that_are_no_results_are_refused(self):
        result = self.result()
        text = (self.directory / "out" / "result.json").read_text()
        self.write("cut.json", text[:5000])
        self.assertIn("cut.json:", self.refusal("report", "cut.json", "-o", "r.html"))
        self.write("empty.json", "")
        self.assertIn("empty.json: error: the file is empty", self.refusal("report", "empty.json", "-o", "r.html"))
        result["schema"] = 7
        self.write("old.json", json.dumps(result))
        self.assertIn("old.json: error: result/7 was written by or for a newer systole; this one reads result/1", self.refusal("report", "old.json", "-o", "r.html"))
        for source in ("out/effective.yaml", "nowhere.json", "out"):
            self.refusal("report", source, "-o", "r.html")
        self.refusal("report", "out/result.json", "out", "-o", "r.html")

    def test_places_that_cannot_be_written_are_refused_before_the_run(self):
        self.result()
        self.assertIn("out/result.json is a file that is read",
                      self.refusal("report", "out/result.json", "-o", "out/result.json"))
        for place in ("nowhere/r.html", "/dev/full", "out", ""):
            self.refusal("report", "out/result.json", "-o", place)
            self.refusal("run", DEVICE, TRACE, "--report", place)
        self.assertIn("--report", self.refusal("run", DEVICE, TRACE, "-o", "out", "--report", "out/result.json"))
        self.assertIn("--timeline", self.refusal("run", DEVICE, TRACE, "--timeline", "x", "--report", "./x"))
        self.assertIn("missing -o FILE", self.refusal("report", "out/result.json"))

    def test_thousands_of_layers_are_fewer_rows_and_the_page_says_so(self):
        result = self.result()
        layers = result["devices"][0]["layers"]
        result["devices"][0]["layers"] = [dict(layers[i % len(layers)], name=f"layer {i}") for i in range(3000)]
        self.write("many.json", json.dumps(result))
        self.answer("report", "many.json", "-o", "r.html")
        run = self.page()["runs"][0]
        self.assertEqual(len(run["layers"]), 1000)
        self.assertEqual(run["layers"][-1]["name"], "2,001 further layers")
        self.assertIn("has 3,000 layers: the 999 that take the most time", self.page()["notes"][0])


if __name__ == "__main__":
    unittest.main()
