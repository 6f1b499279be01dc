# SPDX-License-Identifier: Apache-2.0
"""systole sweep broken off, killed, gone on with: nothing is lost, nothing runs twice."""

import json
import os
import random
import signal
import subprocess
import time

import program
from program import DEVICE, PROGRAM
from sweeps import BASE, GRID, SweepTest, children

SEED = int(os.environ.get("SYSTOLE_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)


class TestGoingOn(SweepTest):
    def test_what_is_finished_never_runs_again(self):
        self.sweep(GRID)
        results = sorted((self.directory / "sweep" / "points").rglob("*.json"))
        before = [(path, path.stat().st_mtime_ns, path.stat().st_ino) for path in results]
        merged = self.merged("sweep")
        results[3].unlink()
        self.answer("sweep", "resume", "sweep")
        self.answer("sweep", "sweep.yaml", "-o", "sweep")
        after = [(path, path.stat().st_mtime_ns, path.stat().st_ino) for path in results]
        self.assertEqual(after[:3] + after[4:], before[:3] + before[4:])
        self.assertEqual(self.merged("sweep"), merged)

    def test_a_result_that_is_not_whole_is_made_again(self):
        self.sweep(GRID)
        merged = self.merged("sweep")
        broken = sorted((self.directory / "sweep" / "points").rglob("*.json"))[2]
        broken.write_bytes(broken.read_bytes()[:40])
        done = self.run_systole("sweep", "merge", "sweep")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("1 not yet run", done.stdout)
        self.answer("sweep", "resume", "sweep")
        self.assertEqual(self.merged("sweep"), merged)

    def test_results_that_a_disk_lost_are_made_again_at_once(self):
        self.sweep(GRID)
        merged = self.merged("sweep")
        time.sleep(0.05)  # files know when they were written to some milliseconds
        lost = sorted((self.directory / "sweep" / "points").rglob("*.json"))[2:5]
        for result in lost:
            result.write_bytes(b"")
        self.assertEqual(self.run_systole("sweep", "resume", "sweep").returncode, 0)
        for result in lost:
            self.assertEqual(json.loads(result.read_text())["id"], result.stem)
        self.assertEqual(self.merged("sweep"), merged)

    def test_what_somebody_wrote_into_a_result_is_what_is_told(self):
        self.sweep(GRID)
        time.sleep(0.05)
        changed = sorted((self.directory / "sweep" / "points").rglob("*.json"))[4]
        result = json.loads(changed.read_text())
        result["figures"]["macs"] = "4711"
        changed.write_text(json.dumps(result))
        self.answer("sweep", "resume", "sweep")
        self.assertEqual([row["macs"] for row in self.points("sweep") if row["id"] == changed.stem], ["4711"])

    def test_a_finished_sweep_is_not_merged_again_but_told_again(self):
        self.sweep(GRID)
        time.sleep(0.05)
        self.answer("sweep", "merge", "sweep")
        said = self.answer("sweep", "resume", "sweep")
        self.assertIn("11 points: 11 done.", said)
        before = (self.directory / "sweep" / "points.csv").stat().st_ino
        self.assertEqual(self.answer("sweep", "resume", "sweep"), said)
        self.assertEqual((self.directory / "sweep" / "points.csv").stat().st_ino, before)
        merged = self.merged("sweep")
        next((self.directory / "sweep" / "points").rglob("*.json")).unlink()
        (self.directory / "sweep" / "front.csv").unlink()
        self.answer("sweep", "resume", "sweep")
        self.assertEqual(self.merged("sweep"), merged)

    def test_a_summary_of_what_no_merge_writes_is_written_again(self):
        self.sweep(GRID)
        time.sleep(0.05)
        self.answer("sweep", "merge", "sweep")
        summary = self.read("sweep/summary.json")
        for key in ("exit_code", "finished"):
            for strange in (5.5e113, 7, -1, "0", None):
                with self.subTest(key=key, strange=strange):
                    self.write("sweep/summary.json", json.dumps({**json.loads(summary), key: strange}))
                    self.answer("sweep", "resume", "sweep")
                    self.assertEqual(self.read("sweep/summary.json"), summary)

    def test_what_was_merged_before_the_last_chunk_is_merged_again(self):
        self.sweep(GRID, "whole")
        self.answer("sweep", self.write("e.yaml", GRID), "-o", "sweep", "--plan", "--chunk-points", "6")
        self.answer("sweep", "chunk", "sweep", "0")
        self.assertEqual(self.run_systole("sweep", "merge", "sweep").returncode, 4)
        summary = self.read("sweep/summary.json")
        self.answer("sweep", "chunk", "sweep", "1")
        self.write("sweep/summary.json", summary)  # as late as if the merge had been slow
        self.answer("sweep", "resume", "sweep")
        self.assertEqual(self.merged("sweep"), self.merged("whole"))

    def test_a_folder_behind_a_link_finds_the_experiments_files(self):
        (self.directory / "mine").mkdir()
        (self.directory / "far" / "away").mkdir(parents=True)
        (self.directory / "link").symlink_to("far/away")
        self.write("mine/net.yaml", (program.HOME / "traces/teaching/three_layers.yaml").read_text())
        self.write("mine/e.yaml", f"device: {DEVICE}\ntrace: ./net.yaml\naxes: {{workload.batch: [1, 2]}}\n")
        self.answer("sweep", "mine/e.yaml", "-o", "link/s", "--plan")
        self.answer("sweep", "resume", "link/s/")
        self.assertEqual({row["status"] for row in self.points("link/s")}, {"done"})

    def test_numbers_of_chunks_that_were_told_stay_what_they_are(self):
        self.answer("sweep", self.write("e.yaml", GRID), "-o", "sweep", "--plan")
        for words in (["e.yaml", "-o", "sweep", "--plan", "--chunk-points", "2"], ["resume", "sweep", "--chunk-points", "2"]):
            self.assertIn("chunks of 'sweep' have 100 points", self.refusal("sweep", *words))
        self.answer("sweep", "e.yaml", "-o", "sweep", "--plan", "--chunk-points", "100")

    def test_chunks_make_the_whole(self):
        self.sweep(GRID, "whole")
        plan = self.answer("sweep", self.write("e.yaml", GRID), "-o", "sweep", "--plan", "--chunk-points", "4")
        self.assertEqual(plan, "11 points, 3 chunks of 4\n")
        for chunk in ("2", "0", "1"):
            self.answer("sweep", "chunk", "sweep", chunk)
        self.answer("sweep", "merge", "sweep")
        self.assertEqual(self.merged("sweep"), self.merged("whole"))

    def test_status_tells_what_is_there(self):
        self.answer("sweep", self.write("e.yaml", GRID), "-o", "sweep", "--plan", "--chunk-points", "4")
        self.answer("sweep", "chunk", "sweep", "1")
        done = self.run_systole("sweep", "status", "sweep", "--format", "json")
        self.assertEqual(done.returncode, 4)
        self.assertEqual(json.loads(done.stdout), {"schema": 1, "points": 11, "done": 4, "refused": 0, "failed": 0,
                                                   "missing": 7, "chunk_points": 4, "reasons": []})
        self.assertEqual(self.run_systole("sweep", "status", "sweep").stdout, "11 points: 4 done, 7 not yet run.\n")

    def test_killed_twenty_times_at_random_it_loses_and_doubles_nothing(self):
        text = BASE + ("axes: {mxu.rows: [2, 4, 8], mxu.cols: [2, 4, 8], workload.batch: {linear: [1, 30, 30]}}\n"
                       "objectives: [time_ns, {min: mxu.rows * mxu.cols}]\n")
        self.sweep(text, "undisturbed")
        self.write("e.yaml", text)
        generator = random.Random(SEED)
        finished = 0
        for turn in range(20):
            process = subprocess.Popen([PROGRAM, "sweep", "e.yaml", "-o", "sweep", "-j", "2"], cwd=self.directory,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(generator.uniform(0.005, 0.12))
            victim = generator.choice([process.pid, *children(process.pid)])
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass  # a point that has just ended
            if victim != process.pid:
                time.sleep(generator.uniform(0, 0.05))
                process.kill()
            process.wait()
            for path in (self.directory / "sweep" / "points").rglob("[0-9a-f]*.json"):
                json.loads(path.read_text())  # never half of one
            left = len(list((self.directory / "sweep" / "points").rglob("[0-9a-f]*.json")))
            self.assertGreaterEqual(left, finished, f"seed {SEED}, turn {turn}")
            finished = left
        done = self.run_systole("sweep", "e.yaml", "-o", "sweep")
        self.assertEqual(done.returncode, 0, f"seed {SEED}: {done.stderr}")
        self.assertEqual(self.merged("sweep"), self.merged("undisturbed"), f"seed {SEED}")
        ids = [row["id"] for row in self.points("sweep")]
        self.assertEqual((len(ids), len(set(ids))), (270, 270))

    def test_interrupted_it_ends_soon_and_says_how_to_go_on(self):
        text = "device: tpu_v4\ntrace: bert_base\naxes: {workload.batch: {linear: [1, 64, 64]}}\n"
        self.write("e.yaml", text)
        process = subprocess.Popen([PROGRAM, "sweep", "e.yaml", "-o", "sweep", "-j", "2"], cwd=self.directory,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not list((self.directory / "sweep").rglob("points/*/*.json")):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, messages = process.communicate(timeout=10)
        self.assertEqual((process.returncode, out), (130, ""))
        self.assertIn("go on with 'systole sweep resume sweep'", messages)
        self.assertEqual(list((self.directory / "sweep").rglob("points/*/.*")), [])

    def test_one_sweep_works_in_a_folder_at_a_time(self):
        import fcntl
        self.sweep(GRID)
        with open(self.directory / "sweep" / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.assertIn("another 'systole sweep' is working in 'sweep'", self.refusal("sweep", "resume", "sweep"))
