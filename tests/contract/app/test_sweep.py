# SPDX-License-Identifier: Apache-2.0
"""systole sweep as a process: what a sweep answers."""

import json
import sqlite3
import subprocess

import program
from program import DEVICE, PROGRAM, TRACE
from sweeps import BASE, GRID, GRID_POINTS, SweepTest, rows_of


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
