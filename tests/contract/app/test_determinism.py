# SPDX-License-Identifier: Apache-2.0
"""Equal inputs give equal bytes: from process to process, with a timeline or without, however many run at once."""
import unittest

from program import ProgramTest

EXPERIMENT = """device: [teaching_4x4, a100]
trace: three_layers
set: {workload.dtype: int8}
axes: {workload.batch: [1, 2, 3], core.clock: [1 GHz, 1.1 GHz]}
"""


class Determinism(ProgramTest):
    def results(self, folder, *arguments):
        """The files that a run writes, by name."""
        self.answer("run", *arguments, "-o", folder)
        return {path.name: path.read_bytes() for path in (self.directory / folder).iterdir()}

    def test_processes_write_the_same_bytes(self):
        for device in ("teaching_4x4", "tpu_v4", "h100", "mi300x"):
            with self.subTest(device):
                question = (device, "three_layers", "--set", "workload.dtype=int8")
                first = self.results("first-" + device, *question)
                self.assertIn("result.json", first)
                self.assertEqual(self.results("second-" + device, *question), first)

    def test_a_timeline_changes_nothing_where_all_turns_are_simulated(self):
        for device in ("tpu_v4", "h100"):
            with self.subTest(device):
                question = (device, "three_layers", "--set", "workload.dtype=int8", "--set", "run.reuse=off")
                without = self.results("without-" + device, *question)
                traced = self.results("with-" + device, *question, "--timeline", f"{device}.json")
                self.assertTrue((self.directory / f"{device}.json").stat().st_size > 0)
                self.assertEqual(traced["result.json"], without["result.json"])

    def test_sweeps_write_the_same_bytes_with_one_two_and_four_processes(self):
        self.write("e.yaml", EXPERIMENT)
        written = []
        for jobs in ("1", "2", "4"):
            self.answer("sweep", "e.yaml", "-o", "jobs" + jobs, "--jobs", jobs)
            written.append({name: self.read(f"jobs{jobs}/{name}") for name in ("points.csv", "manifest.csv")})
            self.assertEqual(written[-1]["points.csv"].count(b"\n"), 13)
        self.assertEqual(written[1], written[0])
        self.assertEqual(written[2], written[0])


if __name__ == "__main__":
    unittest.main()
