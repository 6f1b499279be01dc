# SPDX-License-Identifier: Apache-2.0
"""What systole sweep asks of Slurm."""

import json
import os
import signal
import subprocess
import time

from program import PROGRAM
from sweeps import GRID, SweepTest, children


class TestFakeSlurm(SweepTest):
    """What is asked of Slurm, by programs that only take notes. tests/contract/slurm has a real one."""

    def setUp(self):
        super().setUp()
        tools = self.directory / "tools"
        tools.mkdir()
        self.environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
        self.tool("scontrol", "echo 'MaxArraySize = 4'")
        self.tool("squeue", "true")
        self.tool("sbatch", 'echo "$@" >> "$(dirname "$0")/../asked"; cat >> "$(dirname "$0")/../scripts"; echo 17')

    def tool(self, name, text):
        self.write(f"tools/{name}", f"#!/bin/sh\n{text}\n")
        (self.directory / "tools" / name).chmod(0o755)

    def submit(self, *words, code=0):
        done = self.run_systole("sweep", *words, "--executor", "slurm", env=self.environment)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def asked(self):
        return (self.directory / "asked").read_text().splitlines()

    def test_chunks_beyond_the_largest_array_are_arrays_of_their_own(self):
        self.submit(self.write("e.yaml", GRID), "-o", "sweep", "--chunk-points", "2")
        arrays = [line.split()[2] for line in self.asked()]
        self.assertEqual(arrays[:2], ["--array=0-3", "--array=0-1"])
        bases = [line.split()[1].rsplit(".", 1)[1] for line in self.asked()[:2]]
        self.assertEqual(bases, ["0", "4"])
        self.assertIn("--dependency=afterany:17:17", self.asked()[2])
        self.assertIn("$((SLURM_ARRAY_TASK_ID + 4))", (self.directory / "scripts").read_text())

    def test_a_folder_has_one_name_however_it_is_written(self):
        (self.directory / "link").symlink_to("sweep")
        self.submit(self.write("e.yaml", GRID), "-o", "sweep/", "--chunk-points", "20")
        for folder in ("sweep", "sweep/", "link", "./sweep/../sweep"):
            self.submit("resume", folder)
        names = {line.split()[1] for line in self.asked() if "--array" in line}
        self.assertEqual(len(names), 1, names)

    def test_what_is_queued_is_not_submitted_and_the_merge_waits_for_it(self):
        self.submit(self.write("e.yaml", GRID), "-o", "sweep", "--chunk-points", "3")
        name = self.asked()[0].split()[1].removeprefix("--job-name=")
        self.tool("squeue", f"echo '{name} 1 23'; echo '{name} 3 23'; echo 'other.0 2 24'")
        self.submit("resume", "sweep")
        again = self.asked()[2:]
        self.assertIn("--array=0,2 ", again[0])
        self.assertIn("--dependency=afterany:17:23", again[1])

    def test_limits_go_along(self):
        self.submit(self.write("e.yaml", GRID), "-o", "sweep", "--chunk-points", "3", "-j", "2", "--memory-limit", "1 GiB",
                    "--time-limit", "90 s", "--sbatch=--partition=long")
        for option in ("--cpus-per-task=2", "--mem=2304M", "--partition=long"):
            self.assertIn(option, self.asked()[0])
        self.assertIn("'--jobs=2' '--time-limit=90 s' '--memory-limit=1 GiB'", (self.directory / "scripts").read_text())

    def test_chunks_take_three_minutes_by_the_points_that_were_run(self):
        self.write("e.yaml", "device: tpu_v4\ntrace: bert_base\naxes: {core.clock: {linear: [1 GHz, 1.4 GHz, 4000]}}\n")
        self.submit("e.yaml", "-o", "sweep", "-j", "2")
        ran = [json.loads(path.read_text()) for path in (self.directory / "sweep" / "points").rglob("*.json")]
        self.assertEqual(len(ran), 4)
        points = json.loads(self.read("sweep/sweep.json"))["chunk_points"]
        self.assertEqual(points, int(180 * 2 / (sum(point["wall_s"] for point in ran) / 4)))
        self.assertIn("--time=72 ", self.asked()[0])  # four times three minutes, and a point's hour

    def test_interrupted_while_it_measures_it_submits_nothing(self):
        self.write("e.yaml", "device: tpu_v4\ntrace: bert_base\naxes: {workload.batch: {linear: [128, 512, 4]}}\n")
        process = subprocess.Popen([PROGRAM, "sweep", "e.yaml", "-o", "sweep", "--executor", "slurm"],
                                   cwd=self.directory, env=self.environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        while not children(process.pid):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130, messages)
        self.assertFalse((self.directory / "asked").exists())

    def test_what_cannot_be_run_or_says_nothing_is_told(self):
        self.tool("sbatch", "kill -9 $$")
        self.assertIn("sbatch refuses the job: ended by signal 9",
                      self.submit(self.write("e.yaml", GRID), "-o", "sweep", "--chunk-points", "3", code=2))
        (self.directory / "tools" / "squeue").write_text("no program")
        (self.directory / "tools" / "squeue").chmod(0o755)
        self.assertIn("Slurm does not say what is in its queue: squeue: Exec format error",
                      self.submit("resume", "sweep", code=2))
