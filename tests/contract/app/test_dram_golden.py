# SPDX-License-Identifier: Apache-2.0
"""systole dram against three DRAM simulators (tests/golden/dram). Tolerances are in tests/support/dram_rows.py; the
whole table is in docs/validation.md, which tools/validation writes."""

import collections
import csv
import hashlib
import io
import pathlib
import subprocess
import sys
import unittest

from program import HOME, PROGRAM, ProgramTest

sys.path.insert(0, str(HOME / "tests" / "support"))
import dram_rows  # noqa: E402


class Golden(ProgramTest):
    def outside(self, rows):
        """The rows whose cycles are not where they should be, and by how much."""
        found = []
        for row in rows:
            cycles = dram_rows.answer(PROGRAM, row.arguments())["cycles"]
            expected = dram_rows.expectation(row)
            if not expected.holds(cycles):
                found.append(f"{row.name}: {cycles}, not {expected.low:.0f}..{expected.high:.0f} ({expected.rule})")
        return found

    def test_one_pseudo_channel_agrees_with_the_other_tools(self):
        rows = [row for row in dram_rows.rows() if row.scope == "1pc" and row.mapping == "M1"]
        self.assertEqual(len(rows), 51)
        self.assertEqual(self.outside(rows), [])

    def test_the_full_stack_lies_in_the_range_of_the_other_tools(self):
        rows = [row for row in dram_rows.rows() if row.scope == "stack"]
        self.assertEqual(len(rows), 37)
        self.assertEqual(self.outside(rows), [])

    def test_random_reads_of_the_full_stack_reach_28_to_33_percent(self):
        rows = [row for row in dram_rows.rows() if row.scope == "stack" and row.pattern == "e_rand_read"
                and row.refresh == "ref"]
        self.assertGreater(len(rows), 2)
        for row in rows:
            result = dram_rows.answer(PROGRAM, row.arguments())
            self.assertTrue(28 <= result["bandwidth_pct_peak"] <= 33, (row.name, result["bandwidth_pct_peak"]))
            # What it reaches less than a pseudo-channel alone is what the shared row bus costs.
            alone = dram_rows.answer(PROGRAM, ["dram", "hbm2_golden_1pc", "--pattern", "random"])
            self.assertLess(alone["loss"]["command_bus"], 0.01)
            self.assertGreater(alone["loss"]["faw_rrd"], 0.4, "FAW alone limits it")
            less = (alone["bandwidth_pct_peak"] - result["bandwidth_pct_peak"]) / 100
            self.assertAlmostEqual(result["loss"]["command_bus"], less, delta=0.04)

    def test_single_requests_take_as_long_as_elsewhere(self):
        golden = collections.defaultdict(dict)
        for row in dram_rows.table("latencies.csv.gz"):
            if row["tool"] in dram_rows.PAIR:
                latency = int(row["done_clk"]) - int(row["accept_clk"])
                golden[row["scope"], row["pattern"]].setdefault(int(row["request"]), []).append(latency)
        self.assertEqual(len(golden), 12)
        for (scope, pattern), requests in golden.items():
            self.answer("dram", f"hbm2_golden_{scope}", str(dram_rows.FOLDER / "traces" / f"{scope}.{pattern}.trace.gz"),
                        "--window", "1", "--set", "refresh=off", "--set", f"address_map={pattern[-2:]}",
                        "--latencies", "latencies.csv")
            ours = {int(row["request"]): int(row["latency"])
                    for row in csv.DictReader(io.StringIO(self.read("latencies.csv").decode()))}
            self.assertEqual(set(ours), set(requests))
            for request, theirs in requests.items():
                self.assertTrue(min(theirs) - 1 <= ours[request] <= max(theirs) + 1,
                                f"{scope} {pattern} request {request}: {ours[request]} against {theirs}")

    def test_generated_traces_are_those_that_the_tools_ran(self):
        for trace, row in dram_rows.GENERATED.items():
            self.answer("dram", f"hbm2_golden_{trace.partition('.')[0]}", *row["arguments"].split(), "--save-trace", "t")
            self.assertEqual(hashlib.sha256(self.read("t")).hexdigest(), row["sha256"], trace)

    def test_the_published_table_is_up_to_date(self):
        done = subprocess.run([sys.executable, str(HOME / "tools" / "validation"), PROGRAM, "--check"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
