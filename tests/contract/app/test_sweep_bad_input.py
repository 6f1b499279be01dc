# SPDX-License-Identifier: Apache-2.0
"""What systole sweep refuses before anything runs or is made."""

import pathlib
import resource
import subprocess

from program import PROGRAM
from sweeps import BASE, GRID, SweepTest


class TestBadInput(SweepTest):
    MISTAKES = [
        ("axes: {}", "3:7", "'axes' must be a map of paths and values"),
        ("axes: {mxu.rows: []}", "3:18", "the axis 'mxu.rows' has no values"),
        ("axes: {mxu.row: [4, 8]}", "3:18", "unknown key 'mxu.row' (did you mean 'mxu.rows'?)"),
        ("axes: {rows: [4, 8]}", "3:8", "'rows' is no path of a key"),
        ("axes: {mxu.rows: [4, eight]}", "3:22", "mxu.rows: 'eight' is not a whole number"),
        ("axes: {mxu.rows: [4, 4]}", "3:22", "the axis 'mxu.rows' has the value 4 twice"),
        ("axes: {mxu.rows: 4}", "3:18", "'4' is one value, and an axis has several"),
        ("axes: {core.clock: [100, 200]}", "3:21", "core.clock: '100' has no unit"),
        ("axes: {mxu.dataflow: [ws, xs]}", "3:27", "'xs' is not one of ws, os, is, auto"),
        ("axes: {workload.bach: [1, 2]}", "3:24", "no parameter 'bach' (did you mean 'batch'?)"),
        ("axes: {workload.batch: [1, x]}", "3:28", "parameter 'batch' must be an integer, not 'x'"),
        ("axes: {run.repeat: [1, many]}", "3:24", "run.repeat: 'many' is not a whole number"),
        ("axes: {mxu.rows: {log2: [4, 12]}}", "3:25", "doubling 4 does not lead to 12; 16 would be next"),
        ("axes: {mxu.rows: {log2: [8, 1]}}", "3:25", "goes up, and 1 is less than 8"),
        ("axes: {mxu.rows: [4]}\nderive: {area: {value: mxu.rows, unit: mm}}", "4:40", "'area' is no key"),
        ("axes: {mxu.rows: {linear: [1, 3, 5]}}", "3:27", "5 values from 1 to 3 are not all different"),
        ("axes: {mxu.rows: {linear: [1, 8]}}", "3:8", "a grid needs them: {linear: [1, 8, COUNT]}"),
        ("axes: {mxu.rows: {linear: [1, 8 MHz, 3]}}", "3:27", "'1' and '8 MHz' are not of one kind"),
        ("axes: {mxu.rows: {log: [4, 16]}}", "3:19", "there is no range 'log' (did you mean 'log2'?)"),
        ("axes: {both: {zip: {mxu.rows: [4, 8], mxu.cols: [4]}}}", "3:39", "'mxu.cols' has 1 values and 'mxu.rows' 2"),
        ("axes: {mxu.rows: [4], both: {zip: {mxu.rows: [8]}}}", "3:36", "'mxu.rows' is on two axes"),
        ("axes: {\"a100:mxu.rows\": [4]}", "3:8", "'a100' is none of this experiment's devices"),
        ("axes: {mxu.rows: [4]}\nset: {mxu.rows: 8}", "3:8", "'mxu.rows' has its values from another place, too"),
        ("axes: {mxu.rows: [4, 8]}\nwhere: mxu.rows > 100", "4:8", "'where' excludes all 2 combinations"),
        ("axes: {mxu.rows: [4, 8]}\nwhere: mxu.rows = 4", "4:8", "assigns at character 10"),
        ("axes: {mxu.rows: [4, 8]}\nwhere: mxu.row < 4", "4:8", "'mxu.row' is no axis"),
        ("axes: {mxu.rows: [4, 8]}\nwhere: mxu.dataflow == 1", "4:8", "uses 'mxu.dataflow', which is no number"),
        ("axes: {mxu.rows: [4, 8]}\nwhere: exec(1)", "4:8", "'exec(1)' has '(' where it cannot be"),
        ("axes: {mxu.rows: [4, 8]}\nwhere: '\"a\" == \"a\"'", "4:8", "holds text"),
        ("axes: {mxu.rows: [4, 8]}\nwhere: mxu.dataflow == ws", "4:8", "formulas compare numbers only, and 'mxu.dataflow' is"),
        ("axes: {mxu.rows: [4, 8]}\nwhere: mxu.rows KiB > 4", "4:8", "has 'KiB' behind a name, at character 10"),
        ("axes: {mxu.rows: [4, 8]}\nwhere: {tpu: mxu.rows > 4}", "4:9", "'tpu' is none of this experiment's devices"),
        ("axes: {mxu.rows=4: [1]}", "3:8", "'mxu.rows=4' is no path of a key"),
        ("axes: {workload.dtype: [int8, fp16]}", "3:31", "the matrix units of teaching_4x4 do not take fp16"),
        ("axes: {run.repeat: [1, 2]}", "3:24", "teaching_4x4 runs every network once, from the start; expected"),
        ("axes: {run.protocol: [none, graph_replay]}", "3:29", "run.protocol=graph_replay: teaching_4x4 runs every"),
        ("axes: {mxu.rows: [4, 8]}\nwhere: 1 / (mxu.rows - 4)", "4:8", "is no finite number where mxu.rows = 4"),
        ("axes: {mxu.rows: [4, 8]}\nderive: {time_ns: 1}", "4:10", "'time_ns' is the name of a column"),
        ("axes: {mxu.rows: [4, 8]}\nderive: {mxu.cols: mxu.rows / 3}", "4:20", "is not a whole number"),
        ("axes: {mxu.rows: [4, 8]}\nderive: {mxu.cols: mxu.cols + 1}", "4:20", "'mxu.cols' is derived from itself"),
        ("axes: {mxu.rows: [4, 8]}\nderive: {scratchpad.capacity: mxu.rows}", "4:31", ": {value: FORMULA, unit: B}"),
        ("axes: {mxu.rows: [4, 8]}\nobjectives: [time]", "4:14", "'time' is no figure of a result"),
        ("axes: {mxu.rows: [4, 8]}\nobjectives: [time_ns * mxu.cols]", "4:14", "'derive: {NAME: mxu.cols}' makes one"),
        ("axes: {mxu.rows: [4, 8]}\nobjectives: [{best: cycles}]", "4:15", "an objective has no key 'best'"),
        ("axis: {mxu.rows: [4, 8]}", "3:1", "an experiment has no key 'axis' (did you mean 'axes'?)"),
        ("sample: {method: sobol, count: 3}", "3:18", "there is no method 'sobol'"),
        ("sample: {method: random, count: 0}", "3:33", "the least is 1"),
        ("limits: {time: 5}", "3:16", "'5' has no unit"),
    ]

    def test_every_mistake_is_told_at_its_place_before_anything_runs(self):
        for text, place, message in self.MISTAKES:
            with self.subTest(text=text):
                self.write("e.yaml", BASE + text + "\n")
                messages = self.refusal("sweep", "e.yaml", "-o", "sweep")
                self.assertIn(f"e.yaml:{place}: error: ", messages)
                self.assertIn(message, messages)

    def test_what_only_one_of_two_devices_has_is_said_for_it(self):
        two = "device: [tpu_v4, a100]\ntrace: bert_base\nset: {workload.layers: 1}\n"
        self.write("e.yaml", two + "axes: {mxu.rows: [64, 128]}\n")
        messages = self.refusal("sweep", "e.yaml", "-o", "sweep")
        self.assertIn("e.yaml:4:19: error: a100: unknown key 'mxu.rows'; for one device write 'tpu_v4:mxu.rows'", messages)
        self.write("e.yaml", two + "axes: {'tpu_v4:mxu.rows': [64, 128]}\nwhere: mxu.rows > 64\n")
        self.assertIn("e.yaml:5:8: error: a100 has no key 'mxu.rows'; a condition of one device is written {tpu_v4: …}",
                      self.refusal("sweep", "e.yaml", "-o", "sweep"))
        rows = self.sweep(two + "axes: {'tpu_v4:mxu.rows': [64, 128]}\nderive: {'tpu_v4:pes': mxu.rows ^ 2}\n"
                          "where: {tpu_v4: mxu.rows > 64}\n")
        self.assertEqual([(row["device"], row["tpu_v4:mxu.rows"], row["tpu_v4:pes"], row["status"]) for row in rows],
                         [("tpu_v4", "128", "16384", "done"), ("a100", "", "", "done")])

    def test_what_one_of_two_devices_does_not_run_is_its_point(self):
        rows = self.sweep("device: [tpu_v4, a100]\ntrace: bert_base\nset: {workload.layers: 1}\n"
                          "axes: {run.repeat: [2, 1]}\n", code=4)
        self.assertEqual([row["status"] for row in rows], ["refused", "done", "done", "done"])
        self.assertEqual(rows[0]["error"],
                         "run.repeat: tpu_v4 runs every network once, from the start; expected run.repeat=1")

    def test_unknown_devices_traces_and_experiments_are_told(self):
        self.write("e.yaml", "device: teaching_5x5\ntrace: [three_layers, four]\naxes: {mxu.rows: [4]}\n")
        messages = self.refusal("sweep", "e.yaml", "-o", "sweep")
        self.assertIn("e.yaml:1:9: error: there is no device 'teaching_5x5' (did you mean", messages)
        self.assertIn("e.yaml:2:23: error: there is no trace 'four'", messages)
        self.assertIn("did you mean 'tpu_v4_array'?", self.refusal("sweep", "tpu_v4_arry", "-o", "sweep"))

    def test_millions_of_points_must_be_meant(self):
        self.write("e.yaml", BASE + "axes: {mxu.rows: {linear: [1, 1024, 1024]}, workload.batch: {linear: [1, 1024, "
                   "1024]}}\nwhere: mxu.rows == 8 && workload.batch <= 2\n")
        self.assertIn("1,048,576 combinations; --yes says that more than 1,000,000 are meant",
                      self.refusal("sweep", "e.yaml", "-o", "sweep"))
        self.assertEqual(self.answer("sweep", "e.yaml", "-o", "sweep", "--plan", "--yes"), "2 points, 1 chunk of 100\n")

    def test_a_folder_of_something_else_is_left_alone(self):
        self.write("e.yaml", GRID)
        (self.directory / "other").mkdir()
        self.write("other/thesis.tex", "x")
        self.assertIn("'other' holds other files ('thesis.tex')", self.refusal("sweep", "e.yaml", "-o", "other"))
        self.answer("sweep", "e.yaml", "-o", "sweep")
        self.write("f.yaml", GRID.replace("8]}", "16]}"))
        self.assertIn("'sweep' belongs to another experiment", self.refusal("sweep", "f.yaml", "-o", "sweep"))
        self.assertIn("'other' is no folder of a sweep", self.refusal("sweep", "status", "other"))
        manifest = self.directory / "sweep" / "manifest.csv"
        manifest.write_text(manifest.read_text().replace(",4,", ",5,", 1))
        self.assertIn("it is not as it was planned", self.refusal("sweep", "resume", "sweep"))

    def test_options_of_other_verbs_are_refused_before_anything_is_made(self):
        self.write("e.yaml", GRID)
        self.answer("sweep", "e.yaml", "-o", "sweep")
        for words in (["resume", "sweep", "--plan"], ["resume", "sweep", "-o", "x"], ["merge", "sweep", "-j", "2"],
                      ["status", "sweep", "--executor", "slurm"], ["chunk", "sweep", "0", "--chunk-points", "3"],
                      ["e.yaml", "-o", "new", "--format", "json"], ["e.yaml", "-o", "new", "-j", "0"],
                      ["e.yaml", "-o", "new", "--executor", "pbs"], ["e.yaml", "-o", "new", "--sbatch=--x"]):
            with self.subTest(words=words):
                self.refusal("sweep", *words)

    def test_what_is_no_verb_is_named_beside_those_that_are(self):
        self.assertIn("'sweep' is one argument too many behind an experiment, and 'statsu' is no verb (did you mean 'status'?); "
                      "expected status, resume, merge, chunk", self.refusal("sweep", "statsu", "sweep"))

    def test_somebody_elses_manifest_is_not_written_over(self):
        (self.directory / "proj").mkdir()
        self.write("proj/manifest.csv", "mine\n")
        self.assertIn("'proj' holds other files ('manifest.csv')",
                      self.refusal("sweep", self.write("e.yaml", GRID), "-o", "proj"))

    def test_objectives_without_a_value_are_told(self):
        text = BASE + "axes: {workload.batch: [1, 2]}\nobjectives: [tokens_per_s]\n"
        self.assertIn("No point has a value of 'tokens_per_s'",
                      self.answer("sweep", self.write("e.yaml", text), "-o", "sweep"))

    def test_another_build_goes_on_only_if_it_is_told_to(self):
        self.sweep(GRID)
        other = self.directory / "other"
        other.write_bytes(pathlib.Path(PROGRAM).read_bytes() + b"\0")  # runs as before, and is another file
        other.chmod(0o755)
        words = [str(other), "sweep", "resume", "sweep"]
        done = subprocess.run(words, cwd=self.directory, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("was planned by another build of systole", done.stderr)
        done = subprocess.run([*words, "--any-build"], cwd=self.directory, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_wrong_use_is_told_with_an_example(self):
        self.write("e.yaml", GRID)
        for words, message in [
                (["sweep"], "missing"), (["sweep", "e.yaml"], "-o out/sweep"), (["sweep", "resume"], "resume out/sweep"),
                (["sweep", "resum", "sweep"], "did you mean 'resume'?"), (["sweep", "chunk", "x"], "number of the chunk"),
                (["sweep", "e.yaml", "-o", "sweep", "-j", "0"], "--jobs: error: '0' is too small"),
                (["sweep", "e.yaml", "-o", "sweep", "--time-limit", "5"], "--time-limit: error: '5' has no unit"),
                (["sweep", "e.yaml", "-o", "sweep", "--executor", "pbs"], "local"),
                (["sweep", "e.yaml", "-o", "/proc/nowhere"], "/proc/nowhere")]:
            with self.subTest(words=words):
                before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
                done = self.run_systole(*words)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(message, done.stderr if "missing" != message else done.stderr.lower())
                self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, 5)
