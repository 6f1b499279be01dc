# SPDX-License-Identifier: Apache-2.0
"""The program under test ($SYSTOLE) as a process in an empty directory of its own."""

import os
import pathlib
import stat
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["SYSTOLE"]
HOME = pathlib.Path(os.environ["SYSTOLE_HOME"])

# Of tests whose runs are long: under sanitizers, where each takes some twenty times as long, short ones reach the same code.
LONG = unittest.skipIf(int(os.environ.get("SYSTOLE_SEED_SHARE", "1")) > 1, "too long under sanitizers")

# The machine and the network of most tests: small enough to run in milliseconds.
DEVICE, TRACE = "teaching_4x4", "three_layers"


class ProgramTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def run_systole(self, *arguments, timeout=60, **options):
        return subprocess.run([PROGRAM, *arguments], cwd=self.directory, capture_output=True, text=True,
                              errors="replace", timeout=timeout, **options)

    def answer(self, *arguments, **options):
        """The standard output of a run that must succeed."""
        done = self.run_systole(*arguments, **options)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stderr}")
        return done.stdout

    def refusal(self, *arguments, **options):
        """The messages of a run that must be refused: exit code 2, every line an error, no answer, and every file as
        it was."""
        before = self.snapshot()
        done = self.run_systole(*arguments, **options)
        self.assertEqual(done.returncode, 2, f"{arguments}: {done.stdout[:2000]}{done.stderr[:2000]}")
        self.assertEqual(done.stdout, "", arguments)
        self.assertEqual(self.snapshot(), before, arguments)
        self.assertTrue(done.stderr, arguments)
        for line in done.stderr.splitlines():
            self.assertIn("error: ", line, arguments)
        return done.stderr

    def files(self):
        return sorted(str(path.relative_to(self.directory)) for path in self.directory.rglob("*"))

    def snapshot(self):
        """What lies in the directory, and who would tell if it were written anew: of files their inode, size and time.
        (That of a directory tells of a file that was made and is gone, as the program tries whether it may write.)"""
        def state(path):
            status = path.lstat()
            if stat.S_ISDIR(status.st_mode):
                return (status.st_mode,)
            return (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns)
        return {name: state(self.directory / name) for name in self.files()}

    def read(self, name):
        return (self.directory / name).read_bytes()

    def write(self, name, text):
        path = self.directory / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    def variant(self, name, shelf, old, new):
        """A copy of a preset in which `old` is replaced; tests name the line they break by its text."""
        text = (HOME / shelf).read_text()
        self.assertEqual(text.count(old), 1, f"{shelf} must contain '{old}' once")
        line = text[:text.index(old)].count("\n") + 1
        return self.write(name, text.replace(old, new)), line
