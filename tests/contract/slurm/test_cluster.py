# SPDX-License-Identifier: Apache-2.0
"""What Slurm 22.05 does with arrays when a node or the controller dies, on the cluster of other tests."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SUPPORT = pathlib.Path(__file__).resolve().parents[2] / "support"
sys.path.insert(0, str(SUPPORT))
from slurm_cluster import SlurmCluster, descendants, missing  # noqa: E402

TASK = """\
echo "$SLURMD_NODENAME $$" >> start.$SLURM_ARRAY_TASK_ID
sleep {seconds}
echo "${{SLURM_RESTART_COUNT:-0}}" >> done.$SLURM_ARRAY_TASK_ID
"""


def lives(process):
    return pathlib.Path("/proc", str(process)).exists()


@unittest.skipIf(missing(), f"not there: {', '.join(missing())}")
class Cluster(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.cluster = SlurmCluster()
        self.addCleanup(self.cluster.stop)
        self.cluster.start()

    def submit(self, script, *options):
        """The job's number."""
        path = self.directory / "job.sh"  # Slurm keeps a copy
        path.write_text(f"#!/bin/sh\n{script}")
        return self.cluster.run("sbatch", "--parsable", f"--chdir={self.directory}", "--output=/dev/null",
                                *options, str(path))

    def array(self, seconds, *options, tasks=6):
        return self.submit(TASK.format(seconds=seconds), f"--array=0-{tasks - 1}", "--requeue", *options)

    def lines(self, kind):
        """Of each task that has written a file of this kind its lines."""
        files = self.directory.glob(f"{kind}.*")
        return {int(file.suffix[1:]): file.read_text().splitlines() for file in files}

    def wait_for_starts(self, count):
        self.cluster.wait_until(lambda: len(self.lines("start")) >= count, f"{count} tasks that run", 20)

    def wait_for_a_save(self, name):
        """Until the state that the controller keeps in a file has a job of this name."""
        file = self.cluster.directory / "state" / "job_state"
        self.cluster.wait_until(lambda: file.exists() and name.encode() in file.read_bytes(),
                                "the controller to save its state", 20, pause=0.02)

    def states(self, job):
        lines = self.cluster.completions()
        return sorted(line["JobState"] for line in lines if line.get("ArrayJobId") == job)

    def test_an_array_runs_and_then_the_job_that_waits_for_it(self):
        job = self.array(0)
        self.submit("ls > seen\n", f"--dependency=afterany:{job}")
        self.cluster.wait_until_idle(30)
        self.assertEqual(self.lines("done"), {task: ["0"] for task in range(6)})
        seen = (self.directory / "seen").read_text().split()
        self.assertLessEqual({f"done.{task}" for task in range(6)}, set(seen))
        self.assertEqual(self.states(job), ["COMPLETED"] * 6)

    def test_tasks_of_a_node_that_dies_run_again_on_another(self):
        job = self.array(2)
        self.submit("ls > seen\n", f"--dependency=afterok:{job}", "--kill-on-invalid-dep=yes")
        self.wait_for_starts(4)
        on_node1 = {task: int(line.split()[1]) for task, (line,) in self.lines("start").items()
                    if line.startswith("node1 ")}
        lost, processes = on_node1.keys(), on_node1.values()
        self.assertEqual(len(lost), 2)
        self.cluster.kill_node("node1")
        self.assertFalse(any(map(lives, processes)))
        self.cluster.wait_until_idle(60)
        # The death costs a task its first run alone: it has not failed for what depends on it.
        self.assertEqual(self.lines("done"), {task: ["1" if task in lost else "0"] for task in range(6)})
        self.assertEqual([self.lines("start")[task][1].split()[0] for task in lost], ["node2"] * 2)
        self.assertEqual(self.states(job), ["COMPLETED"] * 6 + ["NODE_FAIL"] * 2)
        self.assertTrue((self.directory / "seen").exists())
        self.assertEqual(self.cluster.node_states(), {"node1": "down*", "node2": "idle"})
        self.cluster.restart_node("node1")
        self.cluster.wait_until_ready(20)

    def test_a_controller_that_dies_has_forgotten_what_it_had_not_saved(self):
        # It saves when something has changed, but not within 5 s of the last time.
        kept = self.array(0, "--hold", "--job-name=kept_array")
        self.wait_for_a_save("kept_array")
        forgotten = self.array(0, "--hold")
        self.cluster.kill_controller()
        self.cluster.restart_controller()
        self.cluster.wait_until_ready(20)
        self.assertEqual(set(self.cluster.jobs()), {f"{kept}_{task}" for task in range(6)})
        self.assertEqual(self.submit("true\n"), forgotten)  # the number is another job's now
        self.cluster.run("scontrol", "release", kept)
        self.cluster.wait_until_idle(30)
        self.assertEqual(self.lines("done"), {task: ["0"] for task in range(6)})

    def test_a_controller_without_its_state_ends_what_runs(self):
        self.array(60)
        self.wait_for_starts(4)
        processes = [int(line.split()[1]) for (line,) in self.lines("start").values()]
        self.assertTrue(all(map(lives, processes)))
        self.cluster.restart_controller(clean=True)
        self.cluster.wait_until_ready(20)
        self.assertEqual(self.cluster.jobs(), {})
        self.cluster.wait_until(lambda: not any(map(lives, processes)), "an end of tasks nobody knows", 20)

    def test_cancelling_an_array_ends_its_tasks_and_what_they_have_started(self):
        job = self.submit("setsid sleep 60 &\necho $! > start.$SLURM_ARRAY_TASK_ID\nwait\n", "--array=0-9%2")
        self.wait_for_starts(2)
        self.cluster.run("scancel", job)
        self.cluster.wait_until_idle(20)
        self.assertFalse(any(lives(int(line)) for (line,) in self.lines("start").values()))
        self.assertEqual(len(self.lines("start")), 2)

    def test_stopping_leaves_nothing(self):
        self.submit("setsid sleep 60 &\necho $! > start.$SLURM_ARRAY_TASK_ID\nwait\n", "--array=0-3")
        self.wait_for_starts(4)
        directory, processes = self.cluster.directory, [int(line) for (line,) in self.lines("start").values()]
        self.cluster.stop()
        self.assertFalse(directory.exists() or any(map(lives, processes)) or descendants(os.getpid()))

    def test_a_start_that_fails_says_why_and_leaves_nothing(self):
        self.cluster.stop()
        cluster = SlurmCluster(memory_mb="none")
        with self.assertRaisesRegex(RuntimeError, "(?s)has ended with exit code 1.*RealMemory"):
            cluster.start()
        self.assertIsNone(cluster.directory)
        self.assertEqual(descendants(os.getpid()), [])

    def test_a_cluster_ends_with_the_process_that_started_it(self):
        text = ("import os, signal, slurm_cluster\ncluster = slurm_cluster.SlurmCluster()\ncluster.start()\n"
                "print(cluster.directory, *slurm_cluster.descendants(os.getpid()), flush=True)\n"
                "os.kill(os.getpid(), signal.SIGKILL)\n")
        done = subprocess.run([sys.executable, "-c", text], cwd=SUPPORT, stdout=subprocess.PIPE, text=True,
                              timeout=60, check=False)
        directory, *processes = done.stdout.split()
        self.addCleanup(subprocess.run, ["rm", "-rf", directory], check=True)
        self.assertGreaterEqual(len(processes), 8)
        self.cluster.wait_until(lambda: not any(map(lives, processes)), "the daemons to end", 10)


if __name__ == "__main__":
    unittest.main()
