# SPDX-License-Identifier: Apache-2.0
"""What the program shows on a terminal, and that nothing of it gets into pipes and files."""

import fcntl
import os
import re
import struct
import subprocess
import termios
import time
import unittest

from program import DEVICE, LONG, PROGRAM, TRACE, ProgramTest

ESCAPE = re.compile("\033\\[[0-9;]*m")
BARS = "▁▂▃▄▅▆▇█"


def read_all(descriptor):
    answer = b""
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # the other side is gone
            return answer
        if not part:
            return answer
        answer += part


class Terminal(ProgramTest):
    def environment(self, **changes):
        names = ("NO_COLOR", "CLICOLOR_FORCE", "TERM", "LC_ALL", "LC_CTYPE", "LANG")
        kept = {name: value for name, value in os.environ.items() if name not in names}
        return {**kept, "TERM": "xterm-256color", "LANG": "C.UTF-8", **changes}

    def shown(self, *arguments, width=200, **changes):
        """What a terminal of `width` columns gets."""
        ours, theirs = os.openpty()
        self.addCleanup(os.close, ours)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
        with subprocess.Popen([PROGRAM, *arguments], cwd=self.directory, stdin=theirs, stdout=theirs, stderr=theirs,
                              env=self.environment(**changes)) as process:
            os.close(theirs)
            text = read_all(ours).decode().replace("\r\n", "\n")
        self.code = process.returncode
        return text

    def piped(self, *arguments, **changes):
        return self.answer(*arguments, env=self.environment(**changes))

    def test_tables_are_coloured_on_a_terminal_and_plain_in_a_pipe(self):
        for command in (("run", DEVICE, TRACE), ("op", DEVICE, "matmul", "m=4", "n=4", "k=4"),
                        ("compare", TRACE, "--device", DEVICE, "--device", "tpu_v4"), ("list", "devices"),
                        ("show", "device", DEVICE), ("show", "trace", TRACE)):
            with self.subTest(command[0]):
                plain = self.piped(*command)
                self.assertNotIn("\033", plain)
                shown = self.shown(*command, width=1000)
                self.assertRegex(shown, ESCAPE)
                # The same words in the same places, but for the pictures.
                lines = [line for line in ESCAPE.sub("", shown).splitlines() if not any(bar in line for bar in BARS)]
                self.assertLessEqual(set(plain.splitlines()), set(lines))

    def test_who_wants_no_colours_has_none(self):
        for changes in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn("\033", self.shown("run", DEVICE, TRACE, **changes))
        self.assertIn("\033", self.shown("run", DEVICE, TRACE, NO_COLOR=""))

    def test_a_pipe_is_coloured_if_that_is_forced(self):
        self.assertIn("\033", self.piped("run", DEVICE, TRACE, CLICOLOR_FORCE="1"))
        self.assertNotIn("\033", self.piped("run", DEVICE, TRACE, CLICOLOR_FORCE="0"))
        self.assertNotIn("\033", self.piped("run", DEVICE, TRACE, CLICOLOR_FORCE="1", NO_COLOR="1"))

    def test_utilization_over_time_is_a_sparkline_where_the_terminal_has_its_characters(self):
        line = re.compile(f"^Utilization over time: [{BARS}]{{60}} ", re.MULTILINE)
        self.assertRegex(self.shown("run", DEVICE, TRACE, NO_COLOR="1"), line)
        for changes in ({"LANG": "C"}, {"LC_ALL": "de_DE.ISO-8859-1"}, {"TERM": "dumb"}):
            text = self.shown("run", DEVICE, TRACE, **changes)
            self.assertFalse(any(bar in text for bar in BARS), changes)
        self.assertNotIn("Utilization over time", self.piped("run", DEVICE, TRACE))

    def test_a_comparison_has_a_sparkline_of_each_device(self):
        text = self.shown("compare", TRACE, "--device", DEVICE, "--device", "tpu_v4", NO_COLOR="1")
        for device in (DEVICE, "tpu_v4"):
            self.assertRegex(text, re.compile(f"^{device} +[{BARS}]{{40}} +[0-9.]+$", re.MULTILINE))

    def test_tables_fit_into_80_columns(self):
        for command in (("run", "tpu_v4", "resnet50"),
                        ("compare", TRACE, "--device", DEVICE, "--device", "tpu_v4")):
            text = self.shown(*command, width=80, NO_COLOR="1")
            rows = [line for line in text.splitlines() if line.count("  ") > 2]
            self.assertGreater(len(rows), 4)
            title = 1 if command[0] == "run" else 0  # it is a sentence, which the terminal breaks
            self.assertLessEqual(max(map(len, rows[title:])), 80, text)
            self.assertIn("Left out for the terminal's width of 80: ", text)

    def test_an_error_is_red_on_a_terminal_only(self):
        shown = self.shown("run", "no_such_device", TRACE)
        self.assertEqual(self.code, 2)
        self.assertIn("\033[1;38;5;160merror:\033[0m", shown)
        self.assertNotIn("\033", self.refusal("run", "no_such_device", TRACE, env=self.environment()))

    def test_files_are_plain_whatever_the_terminal_is(self):
        self.shown("run", DEVICE, TRACE, "-o", "shown", CLICOLOR_FORCE="1")
        self.piped("run", DEVICE, TRACE, "-o", "piped")
        for name in ("result.json", "layers.csv", "effective.yaml", "mapping.yaml"):
            self.assertEqual(self.read(f"shown/{name}"), self.read(f"piped/{name}"))

    def test_a_sweeps_files_are_plain_and_its_points_are_drawn(self):
        self.write("e.yaml", f"experiment: batches\ndevice: {DEVICE}\ntrace: {TRACE}\n"
                             "axes: {workload.batch: {log2: [1, 4096]}}\nobjectives: [time_ns, utilization]\n")
        shown = self.shown("sweep", "e.yaml", "-o", "shown")
        self.assertEqual(self.code, 0, shown)
        self.assertRegex(shown, ESCAPE)
        for objective in ("time_ns", "utilization"):
            self.assertRegex(shown, re.compile(f"^points by {objective}: [{BARS}]{{30}} from ", re.MULTILINE))
        piped = self.piped("sweep", "e.yaml", "-o", "piped")
        self.assertFalse(any(mark in piped for mark in ("\033", *BARS)))
        for name in ("summary.json", "points.csv", "front.csv"):
            self.assertEqual(self.read(f"shown/{name}"), self.read(f"piped/{name}"), name)
        self.assertEqual(self.piped("sweep", "resume", "shown"), piped)

    @LONG
    def test_what_takes_long_says_how_far_it_is(self):
        for words in (("tpu_v4", "resnet50", "--set", "workload.batch=48"), ("h100", "llama3_8b")):
            with self.subTest(words[0]):
                begin = time.monotonic()
                shown = self.shown("run", *words, "-o", f"of_{words[0]}")
                self.assertEqual(self.code, 0, shown)
                if time.monotonic() - begin < 2.5:
                    self.skipTest("a machine so fast that there is nothing to tell")
                line = rf"running {words[1]} on {words[0]} \.\.\. \d+ s, (?:run \d+: )?(\d+) %\r"
                shares = [int(share) for share in re.findall(line, shown)]
                self.assertTrue(shares, shown)  # kernels may be chosen for a second before there is one
                self.assertLessEqual(max(shares), 100)

    def test_formats_for_programs_are_plain_on_a_terminal(self):
        for form in ("json", "csv"):
            self.assertNotIn("\033", self.shown("run", DEVICE, TRACE, "--format", form))


if __name__ == "__main__":
    unittest.main()
