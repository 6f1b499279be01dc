# SPDX-License-Identifier: Apache-2.0
"""Points that fail, each with its reason, while the others finish."""

import os
import resource
import signal
import subprocess
import sys
import time

import program
from program import DEVICE, PROGRAM
from sweeps import BASE, GRID, SweepTest, children


class TestFailures(SweepTest):
    def fails(self, folder, *options, **more):
        done = self.run_systole("sweep", "resume", folder, *options, **more)
        self.assertEqual(done.returncode, 4, done.stderr + done.stdout)
        return done

    def plan(self, text, folder="sweep"):
        self.answer("sweep", self.write(f"{folder}.yaml", text), "-o", folder, "--plan")

    def statuses(self, folder="sweep"):
        return [(row["status"], row["error"]) for row in self.points(folder)]

    def test_a_point_that_takes_too_long_fails_alone_and_can_be_run_later(self):
        self.plan("device: tpu_v4\ntrace: bert_base\naxes: {workload.batch: [1, 256, 2]}\nlimits: {time: 2 s}\n")
        self.fails("sweep")
        self.assertEqual(self.statuses(), [("done", ""), ("failed", "took longer than the limit of 2 s"), ("done", "")])
        self.assertIn("1 took longer", self.run_systole("sweep", "status", "sweep").stdout)
        self.assertEqual(len(list((self.directory / "sweep" / "failed").iterdir())), 1)

    def test_a_point_that_eats_memory_fails_alone(self):
        self.plan("device: tpu_v4\ntrace: bert_base\naxes: {workload.batch: [1, 256, 2]}\n")
        self.fails("sweep", "--memory-limit", "32 MiB")
        self.assertEqual(self.statuses()[1], ("failed", "asked for more memory than the limit of 32 MiB"))
        self.assertEqual([status for status, _ in self.statuses()], ["done", "failed", "done"])

    def test_what_a_device_refuses_is_told_for_its_point_and_never_tried_again(self):
        # Beside 7 MiB of weights, 6 and 6 are too many of 16.
        self.sweep("device: tpu_v4\ntrace: three_layers\n"
                   "axes: {placement.input_buffer: [3 MiB, 6 MiB], placement.activation_space: [1 MiB, 6 MiB]}\n",
                   code=4)
        statuses = self.statuses()
        self.assertEqual([status for status, _ in statuses], ["done", "done", "done", "refused"])
        self.assertIn("more than the scratchpad's", statuses[3][1])
        result = self.directory / "sweep" / "points" / self.points()[3]["id"][:2] / f"{self.points()[3]['id']}.json"
        before = result.stat().st_mtime_ns
        self.fails("sweep")
        self.assertEqual(result.stat().st_mtime_ns, before)

    def test_a_trace_that_is_gone_stops_its_own_points_only(self):
        trace = (program.HOME / "traces/teaching/three_layers.yaml").read_text()
        self.write("net.yaml", trace)
        self.plan(f"device: {DEVICE}\ntrace: [three_layers, ./net.yaml]\naxes: {{workload.batch: [1, 2]}}\n")
        (self.directory / "net.yaml").unlink()
        self.fails("sweep")
        self.assertEqual([status for status, _ in self.statuses()], ["done", "done", "failed", "failed"])
        self.assertIn("net.yaml", self.statuses()[2][1])
        self.write("net.yaml", trace.replace("filters: 4", "filters: 8"))
        self.fails("sweep")
        self.assertIn("has changed since the sweep was planned", self.statuses()[2][1])
        self.write("net.yaml", trace)
        self.answer("sweep", "resume", "sweep")
        self.assertEqual({status for status, _ in self.statuses()}, {"done"})
        self.assertEqual(list((self.directory / "sweep" / "failed").iterdir()), [])

    def test_a_full_disk_is_the_reason_of_each_point_that_it_stops(self):
        self.plan(GRID)
        # Results do not fit, their reasons do.
        self.write("limited.py", "import os, resource, sys\n"
                   "resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))\nos.execv(sys.argv[1], sys.argv[1:])\n")
        done = subprocess.run([sys.executable, "limited.py", PROGRAM, "sweep", "resume", "sweep"],
                              cwd=self.directory, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 4)
        self.assertRegex(done.stderr, "11 its result cannot be written: File too large")
        status = self.run_systole("sweep", "status", "sweep").stdout
        self.assertIn("11 failed", status)
        self.answer("sweep", "resume", "sweep")
        self.sweep(GRID, "undisturbed")
        self.assertEqual(self.merged("sweep"), self.merged("undisturbed"))

    def test_a_folder_that_takes_no_results_is_the_reason_of_each_point(self):
        self.plan(GRID)
        self.write("sweep/points", "a file where a folder should be")  # root may write into any folder
        self.fails("sweep")
        self.assertEqual({status for status, _ in self.statuses()}, {"failed"})
        self.assertEqual({error for _, error in self.statuses()}, {"its result cannot be written: Not a directory"})

    def test_a_read_only_folder_is_told_to_who_may_not_write_there(self):
        nobody = 65534 if os.geteuid() == 0 else None
        if nobody and subprocess.run(["test", "-x", PROGRAM], user=nobody, check=False).returncode != 0:
            self.skipTest("somebody else may not run the program where it lies")
        self.plan(GRID)
        self.directory.chmod(0o755)
        (self.directory / "sweep" / "points").mkdir()
        for folder, mode in (("sweep", 0o777), ("sweep/points", 0o555)):
            (self.directory / folder).chmod(mode)
        (self.directory / "sweep" / "lock").chmod(0o666)
        self.fails("sweep", user=nobody)
        self.assertEqual({error for _, error in self.statuses()}, {"its result cannot be written: Permission denied"})
        for file in (self.directory / "sweep" / "failed").iterdir():
            file.chmod(0o644)
        (self.directory / "sweep" / "lock").unlink()
        (self.directory / "sweep").chmod(0o555)
        done = self.run_systole("sweep", "resume", "sweep", user=nobody)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("cannot write 'sweep/lock': Permission denied", done.stderr)
        (self.directory / "sweep").chmod(0o755)

    def test_reasons_that_cannot_be_recorded_are_told(self):
        self.plan(GRID)
        self.write("sweep/points", "a file where a folder should be")
        self.write("sweep/failed", "another")
        done = self.fails("sweep")
        self.assertIn("11 not yet run", done.stdout)
        self.assertRegex(done.stderr, "11 its result cannot be written: Not a directory")

    def test_a_result_that_cannot_be_read_is_told_and_left(self):
        self.sweep(GRID)
        result = sorted((self.directory / "sweep" / "points").rglob("*.json"))[2]
        result.unlink()
        result.mkdir()
        for verb in ("status", "resume"):
            done = self.run_systole("sweep", verb, "sweep")
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertIn("1 its result cannot be read: Is a directory", done.stdout)
        self.assertTrue(result.is_dir())

    def test_many_points_at_once_do_not_run_out_of_files(self):
        self.plan(BASE + "axes: {workload.batch: {linear: [1, 40, 40]}}\n")
        self.write("limited.py", "import os, resource, sys\n"
                   "resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))\nos.execv(sys.argv[1], sys.argv[1:])\n")
        done = subprocess.run([sys.executable, "limited.py", PROGRAM, "sweep", "resume", "sweep", "-j", "64"],
                              cwd=self.directory, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, "40 points: 40 done.\n"), done.stderr)

    def test_closed_streams_do_not_become_files_of_the_sweep(self):
        self.plan(GRID)
        subprocess.run(["sh", "-c", 'exec "$0" sweep resume sweep >&- 2>&-', PROGRAM], cwd=self.directory,
                       timeout=60, check=False)
        self.assertEqual(self.read("sweep/lock"), b"")
        self.answer("sweep", "resume", "sweep")

    def test_a_crash_has_its_signal_and_its_last_words(self):
        # No configuration crashes it that we know of, so somebody else kills the first point.
        self.plan("device: tpu_v4\ntrace: bert_base\naxes: {workload.batch: [256, 1]}\n")
        process = subprocess.Popen([PROGRAM, "sweep", "resume", "sweep", "-j", "1"], cwd=self.directory,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not children(process.pid):
            time.sleep(0.01)
        os.kill(children(process.pid)[0], signal.SIGSEGV)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 4)
        self.assertEqual(self.statuses(), [("failed", "crashed by signal 11 (Segmentation fault)"), ("done", "")])
