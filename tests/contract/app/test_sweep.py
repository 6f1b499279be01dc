# SPDX-License-Identifier: Apache-2.0
"""systole sweep as a process: what a sweep answers, what it survives, and what it refuses before anything runs."""

import csv
import io
import json
import os
import pathlib
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time

import program
from program import DEVICE, PROGRAM, TRACE, ProgramTest

SEED = int(os.environ.get("SYSTOLE_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 32)

BASE = f"device: {DEVICE}\ntrace: {TRACE}\n"
GRID = BASE + """axes:
  mxu.rows: [2, 4, 8]
  workload.batch: {log2: [1, 8]}
derive:
  mxu.cols: mxu.rows
  pes: mxu.rows * mxu.cols
where: mxu.rows <= 4 * workload.batch
objectives: [time_ns, pes, {max: utilization}]
"""
GRID_POINTS = [(rows, batch) for rows in (2, 4, 8) for batch in (1, 2, 4, 8) if rows <= 4 * batch]


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


class SweepTest(ProgramTest):
    def sweep(self, text, folder="sweep", *options, code=0):
        """Runs an experiment into a folder; its merged rows."""
        done = self.run_systole("sweep", self.write(f"{folder}.yaml", text), "-o", folder, *options)
        self.assertEqual(done.returncode, code, done.stderr)
        return self.points(folder) if (self.directory / folder / "points.csv").exists() else done

    def points(self, folder="sweep"):
        return rows_of(self.read(f"{folder}/points.csv").decode())

    def merged(self, folder):
        return [self.read(f"{folder}/{name}") for name in ("points.csv", "front.csv", "points.sqlite")]


class TestAnswers(SweepTest):
    def test_every_combination_that_is_wanted_is_a_row_in_the_order_of_the_axes(self):
        rows = self.sweep(GRID)
        self.assertEqual([(int(row["mxu.rows"]), int(row["workload.batch"])) for row in rows], GRID_POINTS)
        self.assertEqual({row["status"] for row in rows}, {"done"})
        self.assertEqual(list(rows[0])[:8], ["id", "device", "trace", "mxu.rows", "workload.batch", "mxu.cols", "pes",
                                             "status"])
        for row in rows:
            self.assertEqual((row["mxu.cols"], int(row["pes"])), (row["mxu.rows"], int(row["mxu.rows"]) ** 2))

    def test_a_row_says_what_run_says_of_the_same_settings(self):
        for row in self.sweep(GRID):
            words = [f"{key}={row[key]}" for key in ("mxu.rows", "mxu.cols", "workload.batch")]
            answer = self.answer("run", DEVICE, TRACE, "--format", "json", *[w for s in words for w in ("--set", s)])
            total = json.loads(answer)["devices"][0]["total"]
            self.assertEqual(int(row["cycles"]), total["cycles"])
            for key in ("time_ns", "utilization"):
                self.assertEqual(float(row[key]), total[key])
            for key in ("dram_read", "dram_written", "compulsory_dram"):
                self.assertEqual(int(row[key]), total["bytes"][key])
            for key, share in total["classes"].items():
                self.assertEqual(float(row[key]), share)
            self.assertEqual(row["bound_by"], total["bound_by"])

    def test_the_front_is_what_comparing_all_with_all_finds(self):
        rows = self.sweep(GRID)
        costs = [(float(r["time_ns"]), float(r["pes"]), -float(r["utilization"])) for r in rows]
        on_front = [not any(all(x <= y for x, y in zip(other, own)) and other != own for other in costs)
                    for own in costs]
        self.assertEqual([row["pareto"] == "1" for row in rows], on_front)
        front = rows_of(self.read("sweep/front.csv").decode())
        self.assertEqual(sorted(r["id"] for r in front), sorted(r["id"] for r in rows if r["pareto"] == "1"))
        self.assertEqual([float(r["time_ns"]) for r in front], sorted(float(r["time_ns"]) for r in front))

    def test_the_database_has_the_table_with_numbers_as_numbers(self):
        rows = self.sweep(GRID)
        with sqlite3.connect(self.directory / "sweep" / "points.sqlite") as database:
            found = database.execute('SELECT id, "mxu.rows", time_ns, bound_by, energy_pj FROM points').fetchall()
        database.close()
        expected = {r["id"]: (int(r["mxu.rows"]), float(r["time_ns"]), r["bound_by"],
                              float(r["energy_pj"]) if r["energy_pj"] else None) for r in rows}
        self.assertEqual({row[0]: row[1:] for row in found}, expected)

    def test_equal_sweeps_are_equal_bytes_however_many_points_run_at_once(self):
        for folder, jobs in (("one", "1"), ("three", "3")):
            self.sweep(GRID, folder, "-j", jobs)
        self.assertEqual(self.merged("one"), self.merged("three"))
        self.assertEqual(self.read("one/manifest.csv"), self.read("three/manifest.csv"))

    def test_a_point_has_one_id_in_every_sweep_that_has_it(self):
        by_axis = {(r["mxu.rows"], r["workload.batch"]): r["id"] for r in self.sweep(GRID)}
        other = BASE + "set: {mxu.rows: 8, mxu.cols: 8}\naxes: {workload.batch: [4]}\n"
        self.assertEqual(self.sweep(other, "other")[0]["id"], by_axis["8", "4"])

    def test_samples_are_as_many_as_they_should_be_and_the_same_again(self):
        text = BASE + ("axes: {core.clock: {linear: [1 GHz, 2 GHz]}, workload.batch: {log2: [1, 1024]}}\n"
                       "sample: {method: METHOD, count: 16, seed: 7}\n")
        for method in ("random", "latin_hypercube"):
            rows = self.sweep(text.replace("METHOD", method), method)
            again = self.sweep(text.replace("METHOD", method), method + "2")
            self.assertEqual(len(rows), 16)
            self.assertEqual(rows, again)
        units = {"Hz": 1, "kHz": 10**3, "MHz": 10**6, "GHz": 10**9}
        clocks = [int(number) * units[unit] for number, unit in (row["core.clock"].split() for row in rows)]
        self.assertEqual(sorted((clock - 10**9) * 16 // 10**9 for clock in clocks), list(range(16)))

    def test_keys_of_one_device_leave_others_one_point(self):
        text = (f"device: [{DEVICE}, a100]\ntrace: {TRACE}\nset: {{workload.dtype: int8}}\n"
                f"axes: {{\"{DEVICE}:mxu.rows\": [2, 4]}}\n")
        rows = self.sweep(text)
        self.assertEqual([(r["device"], r[f"{DEVICE}:mxu.rows"]) for r in rows],
                         [(DEVICE, "2"), (DEVICE, "4"), ("a100", "")])

    def test_files_beside_the_experiment_are_found_from_everywhere(self):
        (self.directory / "mine").mkdir()
        self.write("mine/net.yaml", (program.HOME / "traces/teaching/three_layers.yaml").read_text())
        self.write("mine/e.yaml", f"device: {DEVICE}\ntrace: ./net.yaml\naxes: {{workload.batch: [1, 2]}}\n")
        self.answer("sweep", "mine/e.yaml", "-o", "out")
        (self.directory / "elsewhere").mkdir()
        done = subprocess.run([PROGRAM, "sweep", "resume", "../out"], cwd=self.directory / "elsewhere",
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, "2 points: 2 done.\n"))

    def test_shipped_experiments_can_be_planned(self):
        shipped = sorted((program.HOME / "configs" / "experiments").glob("*.yaml"))
        self.assertTrue(shipped)
        listed = self.answer("list", "experiments")
        for experiment in shipped:
            self.assertIn(experiment.stem, listed)
            self.answer("sweep", experiment.stem, "-o", experiment.stem, "--plan")


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
        lost = sorted((self.directory / "sweep" / "points").rglob("*.json"))[2:5]
        for result in lost:
            result.write_bytes(b"")
        self.assertEqual(self.run_systole("sweep", "resume", "sweep").returncode, 0)
        self.assertEqual(self.merged("sweep"), merged)

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
            children = self.children(process.pid)
            victim = generator.choice([process.pid, *children])
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

    @staticmethod
    def children(pid):
        try:
            with open(f"/proc/{pid}/task/{pid}/children") as file:
                return [int(child) for child in file.read().split()]
        except (FileNotFoundError, ProcessLookupError):
            return []

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
        while not TestGoingOn.children(process.pid):
            time.sleep(0.01)
        os.kill(TestGoingOn.children(process.pid)[0], signal.SIGSEGV)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 4)
        self.assertEqual(self.statuses(), [("failed", "crashed by signal 11 (Segmentation fault)"), ("done", "")])


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

    def test_interrupted_while_it_measures_it_submits_nothing(self):
        self.write("e.yaml", "device: tpu_v4\ntrace: bert_base\naxes: {workload.batch: {linear: [128, 512, 4]}}\n")
        process = subprocess.Popen([PROGRAM, "sweep", "e.yaml", "-o", "sweep", "--executor", "slurm"],
                                   cwd=self.directory, env=self.environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        while not TestGoingOn.children(process.pid):
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
