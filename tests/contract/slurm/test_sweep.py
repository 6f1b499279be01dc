# SPDX-License-Identifier: Apache-2.0
"""systole sweep --executor slurm: whatever dies, every point is in the merged table exactly once."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SUPPORT = pathlib.Path(__file__).resolve().parents[2] / "support"
sys.path.insert(0, str(SUPPORT))
from slurm_cluster import SlurmCluster, missing  # noqa: E402

PROGRAM = os.environ["SYSTOLE"]

# Twelve points of some tenths of a second, two a task.
EXPERIMENT = """\
device: tpu_v4
trace: bert_base
axes: {mxu.rows: [64, 128], workload.batch: {linear: [1, 6, 6]}}
objectives: [time_ns]
"""
POINTS, CHUNKS = 12, 6
MERGED = ("points.csv", "front.csv", "points.sqlite")


@unittest.skipIf(missing(), f"not there: {', '.join(missing())}")
class SlurmSweep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """What the sweep answers on this machine, without a cluster."""
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        (pathlib.Path(directory.name) / "e.yaml").write_text(EXPERIMENT)
        subprocess.run([PROGRAM, "sweep", "e.yaml", "-o", "sweep"], cwd=directory.name, check=True,
                       capture_output=True)
        cls.undisturbed = [(pathlib.Path(directory.name) / "sweep" / name).read_bytes() for name in MERGED]

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        (self.directory / "e.yaml").write_text(EXPERIMENT)
        self.cluster = SlurmCluster()
        self.addCleanup(self.cluster.stop)
        self.cluster.start()

    def systole(self, *words, code=0):
        done = subprocess.run([PROGRAM, "sweep", *words], cwd=self.directory, env=self.cluster.environment,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr + self.cluster.logs())
        return done.stdout + done.stderr

    def submit(self, *options):
        return self.systole("e.yaml", "-o", "sweep", "--executor", "slurm", "--chunk-points", "2", *options)

    def results(self):
        return list((self.directory / "sweep" / "points").rglob("[0-9a-f]*.json"))

    def wait_for_results(self, count):
        self.cluster.wait_until(lambda: len(self.results()) >= count, f"{count} results", 60)

    def assert_merged(self):
        self.assertEqual([(self.directory / "sweep" / name).read_bytes() for name in MERGED], self.undisturbed)

    def words_of_tasks(self):
        return "".join(file.read_text() for file in (self.directory / "sweep" / "slurm").glob("*.txt"))

    def test_a_sweep_is_the_same_there_as_here_and_is_submitted_once(self):
        self.assertIn(f"submitted {CHUNKS} tasks", self.submit())
        self.assertIn("nothing to submit", self.systole("resume", "sweep", "--executor", "slurm"))
        self.assertIn("are in Slurm's queue.", self.systole("status", "sweep", code=4))
        self.cluster.wait_until_idle(90)
        self.assert_merged()
        self.assertIn(f"{POINTS} points: {POINTS} done.", self.words_of_tasks())
        jobs = self.cluster.jobs()
        self.systole("resume", "sweep", "--executor", "slurm")  # finished: merges, submits nothing
        self.assertEqual(self.cluster.jobs().keys(), jobs.keys())
        self.assert_merged()

    def test_a_node_that_dies_costs_no_point(self):
        self.submit()
        self.wait_for_results(2)
        self.cluster.kill_node("node1")
        self.cluster.wait_until_idle(120)
        if "not yet run" in self.run_status():
            self.systole("resume", "sweep", "--executor", "slurm")
            self.cluster.wait_until_idle(120)
        self.assert_merged()

    def test_a_controller_that_forgets_everything_costs_no_point(self):
        self.submit()
        self.wait_for_results(1)
        self.cluster.kill_controller()
        self.assertIn("Slurm does not say what is in its queue", self.systole("status", "sweep", code=4))
        self.cluster.restart_controller(clean=True)
        self.cluster.wait_until_ready(60)
        self.systole("resume", "sweep", "--executor", "slurm")
        self.cluster.wait_until(self.is_idle, "the sweep to end", 120, pause=1)
        self.assert_merged()

    def is_idle(self):
        """Tasks that the controller knows nothing of may still run: it then takes a node out of service, and holds
        what was to run there, until an operator looks. This one does."""
        self.cluster.resume()
        return not self.cluster.run("squeue", "--noheader")

    def test_what_slurm_refuses_is_told_in_its_words(self):
        self.assertIn("sbatch refuses the job: sbatch: error: invalid partition specified: nowhere",
                      self.submit_refused("--sbatch=--partition=nowhere"))
        self.cluster.kill_controller()
        self.assertIn("Slurm does not", self.submit_refused())

    def submit_refused(self, *options):
        return self.systole("e.yaml", "-o", "sweep", "--executor", "slurm", "--chunk-points", "2", *options, code=2)

    def test_without_a_size_chunks_are_measured(self):
        message = self.systole("e.yaml", "-o", "sweep", "--executor", "slurm")
        self.assertIn("a point takes", message)
        self.assertIn("submitted 1 task to Slurm", message)
        self.assertEqual(len(self.results()), 4)
        self.cluster.wait_until_idle(90)
        self.assert_merged()

    def run_status(self):
        return subprocess.run([PROGRAM, "sweep", "status", "sweep"], cwd=self.directory,
                              env=self.cluster.environment, capture_output=True, text=True, timeout=60).stdout


if __name__ == "__main__":
    unittest.main()
