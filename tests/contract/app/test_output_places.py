# SPDX-License-Identifier: Apache-2.0
"""Where answers go: places that cannot be written are refused before anything is, and nothing is left half
done. The tests may run as root, so what cannot be written lies below a plain file or is a device."""

import os
import signal
import subprocess
import unittest

from program import DEVICE, HOME, PROGRAM, TRACE, ProgramTest


class OutputPlaces(ProgramTest):
    def test_a_table_is_not_answered_onto_itself(self):
        self.write("rows.csv", "op,dtype,m,n,k\nmatmul,int8,4,4,4\n")
        self.assertIn("the table of questions itself", self.refusal("op", DEVICE, "--csv", "rows.csv", "-o", "rows.csv"))

    def test_a_timeline_in_the_place_of_a_result_file_is_refused(self):
        self.assertIn("is where -o writes", self.refusal("run", DEVICE, TRACE, "-o", "out", "--timeline",
                                                         "out/result.json"))

    def test_no_answer_goes_where_the_command_reads(self):
        device = (HOME / "configs/devices/teaching_4x4.yaml").read_text()
        trace = (HOME / "traces/teaching/three_layers.yaml").read_text()
        self.write("d.yaml", device)
        self.write("t.yaml", trace)
        (self.directory / "link.yaml").symlink_to("t.yaml")
        os.link(self.directory / "t.yaml", self.directory / "hard.yaml")
        self.answer("run", "d.yaml", "t.yaml", "-o", "out")
        self.answer("lower", "d.yaml", "t.yaml", "-o", "program.txt")
        before = {name: self.read(name) for name in self.files() if (self.directory / name).is_file()}
        for command in (("run", "d.yaml", "t.yaml", "--report", "t.yaml"), ("run", "d.yaml", "t.yaml", "--timeline", "./d.yaml"),
                        ("run", "d.yaml", "hard.yaml", "--report", "t.yaml"), ("run", "d.yaml", "link.yaml", "--timeline", "t.yaml"),
                        ("run", "d.yaml", "t.yaml", "--mapping", "out/mapping.yaml", "--report", "out/mapping.yaml"),
                        ("run", "d.yaml", "--program", "program.txt", "--report", "program.txt"),
                        ("compare", "t.yaml", "--device", "d.yaml", "--device", DEVICE, "--report", "t.yaml"),
                        ("compare", "t.yaml", "--device", "mine=d.yaml", "--device", DEVICE, "--timeline", "d.yaml"),
                        ("op", "d.yaml", "matmul", "m=4", "n=4", "k=4", "--timeline", "d.yaml"),
                        ("lower", "d.yaml", "t.yaml", "-o", "t.yaml"),
                        ("lower", "d.yaml", "t.yaml", "--mapping", "out/mapping.yaml", "-o", "out/mapping.yaml")):
            self.assertIn("is a file that is read; it needs another name", self.refusal(*command))
        for name, content in before.items():
            self.assertEqual(self.read(name), content, name)

    def test_no_report_goes_into_a_place_of_a_sweep(self):
        self.write("e.yaml", f"""experiment: two
device: {DEVICE}
trace: {TRACE}
axes:
  workload.batch: [1, 2]
""")
        self.assertIn("is a file that is read", self.refusal("sweep", "e.yaml", "-o", "s", "--report", "e.yaml"))
        self.assertIn("is the directory of -o", self.refusal("sweep", "e.yaml", "-o", "s", "--report", "s"))
        for own in ("points", "sweep.json", "lock", "front.csv"):
            self.assertIn("is where -o writes", self.refusal("sweep", "e.yaml", "-o", "s", "--report", f"s/{own}"))
        self.answer("sweep", "e.yaml", "-o", "s")
        for place in ("s/sweep.json", "s/points.csv", "out/../s/points/x.html"):
            self.assertIn("is where -o writes", self.refusal("report", "s", "-o", place))
        self.assertIn("is the directory of -o", self.refusal("report", "s", "-o", "s"))

    def test_a_file_in_the_place_of_the_directory_is_refused(self):
        for option in ("--report", "--timeline"):
            self.assertIn("is the directory of -o", self.refusal("run", DEVICE, TRACE, "-o", "new", option, "new"))
            self.assertIn("names no file", self.refusal("run", DEVICE, TRACE, "-o", "new", option, "new/"))
        self.assertIn("is the directory of -o",
                      self.refusal("compare", TRACE, "--device", DEVICE, "--device", "b=" + DEVICE, "-o", "new",
                                   "--report", "new"))

    def test_results_go_to_a_new_directory_and_replace_older_ones(self):
        for _ in range(2):
            done = self.run_systole("run", DEVICE, TRACE, "-o", "a/b", "--timeline", "a/b/trace.json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("a/b", done.stderr)
            names = ("effective.yaml", "layers.csv", "mapping.yaml", "result.json", "trace.json")
            self.assertEqual(self.files(), ["a", "a/b"] + [f"a/b/{name}" for name in names])

    def test_unwritable_places_are_refused_before_anything_is_written(self):
        self.write("file", "text")
        (self.directory / "folder").mkdir()
        (self.directory / "link").symlink_to("/dev/null")
        for place in ("file", "file/below", "/dev/full", "/proc/nowhere", "link", ""):
            self.refusal("run", DEVICE, TRACE, "-o", place)
        for place in ("file/below", "folder", "folder/", "nowhere/t.json", "/dev/full", "link", ""):
            self.refusal("run", DEVICE, TRACE, "-o", "out", "--timeline", place)
            self.refusal("lower", DEVICE, TRACE, "-o", place)
        self.assertEqual((self.directory / "file").read_text(), "text")

    def test_a_timeline_may_lie_in_the_directory_of_the_results(self):
        for timeline, directory in (("a/t.json", "a"), ("b/t.json", "b/")):
            self.answer("run", DEVICE, TRACE, "-o", directory, "--timeline", timeline)
        self.refusal("run", DEVICE, TRACE, "-o", "d", "--timeline", "c/../d/t.json")

    def test_a_wrong_place_is_noticed_before_a_wrong_table(self):
        self.write("ops.csv", "op,m,n,k\nmatmul,4,4,4\n")
        self.refusal("op", DEVICE, "--csv", "ops.csv", "-o", "ops.csv/below")

    def test_a_full_standard_output_is_an_error_and_writes_no_files(self):
        for words in (("run", DEVICE, TRACE, "-o", "out"), ("lower", DEVICE, TRACE), ("--help",),
                      ("list", "devices"), ("show", "trace", TRACE),
                      *((command, DEVICE, "matmul", "m=4", "n=4", "k=4", "dtype=int8") for command in ("op", "explain"))):
            with open("/dev/full", "w") as full:
                done = subprocess.run([PROGRAM, *words], cwd=self.directory, stdout=full,
                                      stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(b"standard output", done.stderr)
        self.assertEqual(self.files(), [])

    def test_a_reader_who_has_gone_is_told_nothing_and_leaves_no_files(self):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([PROGRAM, "run", DEVICE, TRACE, "-o", "out"], stdout=writing, stderr=subprocess.PIPE,
                              cwd=self.directory)
        os.close(writing)
        self.assertEqual((done.returncode, done.stderr), (128 + signal.SIGPIPE, b""))
        self.assertEqual(self.files(), [])

    def test_a_closed_standard_output_is_an_error(self):
        done = subprocess.run(["sh", "-c", 'exec "$0" list devices >&-', PROGRAM], cwd=self.directory,
                              stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"cannot write to the standard output", done.stderr)

    def test_a_dash_is_no_output(self):
        """By which somebody may mean the standard output."""
        for words in (("run", DEVICE, TRACE, "-o", "-"), ("run", DEVICE, TRACE, "--timeline", "-"), ("run", DEVICE, TRACE, "--report", "-"),
                      ("compare", TRACE, "--device", DEVICE, "--device", "tpu_v4", "-o", "-"), ("lower", DEVICE, TRACE, "-o", "-"),
                      ("op", DEVICE, "matmul", "m=4", "n=4", "k=4", "dtype=int8", "--timeline", "-"),
                      ("trace", "llm", "llama3_8b", "-o", "-"), ("dram", "teaching", "--pattern", "stream", "-o", "-"),
                      ("dram", "teaching", "--pattern", "stream", "--save-trace", "-"), ("sweep", "bandwidth", "-o", "-")):
            with self.subTest(words=words):
                self.assertIn("'./-'", self.refusal(*words))
        self.answer("lower", DEVICE, TRACE, "-o", "./-")
        self.assertEqual(self.files(), ["-"])

    def test_a_folder_that_is_gone_is_named(self):
        done = subprocess.run(["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$0" run teaching_4x4 three_layers -o x',
                               PROGRAM], cwd=self.directory, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, b"systole: error: 'x': No such file or directory\n")

    def test_progress_and_notes_keep_off_the_standard_output(self):
        self.assertEqual(self.answer("run", DEVICE, TRACE), self.answer("run", DEVICE, TRACE, "-o", "out"))
        self.assertEqual(self.run_systole("run", DEVICE, TRACE).stderr, "")


if __name__ == "__main__":
    unittest.main()
