# SPDX-License-Identifier: Apache-2.0
"""Where answers go: places that cannot be written are refused before anything is, and nothing is left half
done. The tests may run as root, so what cannot be written lies below a plain file or is a device."""

import os
import subprocess
import unittest

from program import DEVICE, PROGRAM, TRACE, ProgramTest


class OutputPlaces(ProgramTest):
    def test_a_table_is_not_answered_onto_itself(self):
        self.write("rows.csv", "op,dtype,m,n,k\nmatmul,int8,4,4,4\n")
        self.assertIn("the table of questions itself", self.refusal("op", DEVICE, "--csv", "rows.csv", "-o", "rows.csv"))

    def test_a_timeline_in_the_place_of_a_result_file_is_refused(self):
        self.assertIn("is where -o writes", self.refusal("run", DEVICE, TRACE, "-o", "out", "--timeline",
                                                         "out/result.json"))

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

    def test_a_closed_pipe_is_an_error_not_a_signal(self):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([PROGRAM, "run", DEVICE, TRACE], stdout=writing, stderr=subprocess.PIPE)
        os.close(writing)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"standard output", done.stderr)

    def test_progress_and_notes_keep_off_the_standard_output(self):
        self.assertEqual(self.answer("run", DEVICE, TRACE), self.answer("run", DEVICE, TRACE, "-o", "out"))
        self.assertEqual(self.run_systole("run", DEVICE, TRACE).stderr, "")


if __name__ == "__main__":
    unittest.main()
