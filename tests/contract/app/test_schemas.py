# SPDX-License-Identifier: Apache-2.0
"""Every document may state its schema; one that this program does not read is refused in one line that tells what to do;
and every document that is written states its own."""

import json
import unittest

from program import DEVICE, HOME, TRACE, ProgramTest

ENERGY = "energy: {preset: own.yaml, idle: 9 W, wire_mm: 10, host_bit: 5 pJ, chip_bit: 5 pJ}"
EXPERIMENT = f"device: {DEVICE}\ntrace: {TRACE}\naxes:\n  mxu.rows: [2, 4]\n"
# Kind of document → a preset of it, and the command that reads a file of it.
DOCUMENTS = {
    "device": (f"configs/devices/{DEVICE}.yaml", ["show", "device", "own.yaml"]),
    "memory": ("configs/memory/hbm2_tpu_v4.yaml", ["dram", "own.yaml", "--pattern", "stream", "--requests", "100"]),
    "energy": ("configs/energy/energy_7nm.yaml", ["show", "device", "with_energy.yaml"]),
    "cost": ("configs/cost/data_center.yaml", ["show", "device", "with_cost.yaml"]),
    "trace": (f"traces/teaching/{TRACE}.yaml", ["run", DEVICE, "own.yaml"]),
    "lesson": ("configs/lessons/dataflows.yaml", ["explore", "--lesson", "own.yaml", "-o", "page.html"]),
}


class Schemas(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("with_energy.yaml", f"device: Mine\nextends: tpu_v4i\n{ENERGY}\n")
        self.write("with_cost.yaml", "device: Mine\nextends: tpu_v4i\ncost: {preset: own.yaml}\n")

    def stating(self, text, schema):
        """The document with `schema` as its last key, and the line of it."""
        text = text.rstrip("\n") + "\n"
        self.write("own.yaml", f"{text}schema: {schema}\n")
        return text.count("\n") + 1

    def expect_newer(self, kind, read, line, *command):
        message = self.refusal(*command)
        self.assertTrue(message.startswith(f"{line}: error: {kind}/7 was written by or for a newer systole; this one reads "
                                           f"{kind}/{read}: take a newer one, or "), message)
        self.assertEqual(message.count("\n"), 1, message)

    def test_a_document_may_state_the_schema_that_is_read_and_no_newer_one(self):
        for kind, (file, command) in DOCUMENTS.items():
            with self.subTest(kind):
                text = (HOME / file).read_text()
                self.stating(text, 1)
                self.answer(*command)
                (self.directory / "page.html").unlink(missing_ok=True)
                line = self.stating(text, 7)
                self.expect_newer(kind, 1, f"own.yaml:{line}:9", *command)

    def test_an_experiment_and_its_folder(self):
        line = self.stating(EXPERIMENT, 7)
        self.expect_newer("experiment", 1, f"own.yaml:{line}:9", "sweep", "own.yaml", "-o", "sweep")
        self.stating(EXPERIMENT, 1)
        self.answer("sweep", "own.yaml", "-o", "sweep")
        for name in ("sweep.json", "summary.json"):
            self.assertEqual(json.loads(self.read(f"sweep/{name}"))["schema"], 1, name)
        newer = self.read("sweep/sweep.json").replace(b'"schema": 1', b'"schema": 7')
        (self.directory / "sweep/sweep.json").write_bytes(newer)
        self.expect_newer("sweep", 1, "sweep/sweep.json", "sweep", "status", "sweep")

    def test_what_a_run_writes_states_its_schema_and_is_read_again(self):
        self.answer("run", DEVICE, TRACE, "-o", "out")
        result = json.loads(self.read("out/result.json"))
        self.assertEqual(result["schema"], 1)
        for name in ("effective.yaml", "mapping.yaml"):
            self.assertEqual(self.read(f"out/{name}").splitlines()[1], b"schema: 1", name)
        self.answer("run", "out/effective.yaml", TRACE, "--mapping", "out/mapping.yaml", "-o", "again")
        self.assertEqual(self.read("again/mapping.yaml"), self.read("out/mapping.yaml").replace(DEVICE.encode(), b"effective"))
        result["schema"] = 7
        self.write("newer.json", json.dumps(result))
        self.expect_newer("result", 1, "newer.json", "report", "newer.json", "-o", "page.html")
        mapping = self.read("out/mapping.yaml").replace(b"schema: 1", b"schema: 7")
        self.write("mapping.yaml", mapping)
        self.expect_newer("mapping", 1, "mapping.yaml:2:9", "run", DEVICE, TRACE, "--mapping", "mapping.yaml")

    def test_a_program_of_another_schema(self):
        program = self.answer("lower", DEVICE, TRACE)
        self.assertTrue(program.startswith("systole-program 2\n"))
        self.write("own.program", program.replace("systole-program 2", "systole-program 7"))
        self.expect_newer("program", 2, "own.program:1:1", "run", DEVICE, "--program", "own.program")
        self.write("own.program", program.replace("systole-program 2", "systole-program 1"))
        self.assertEqual(self.refusal("run", DEVICE, "--program", "own.program"),
                         "own.program:1:1: error: program/1 is not read any more; this systole reads program/2: make it again "
                         "with 'systole lower'\n")

    def test_traces_that_are_written_state_their_schema(self):
        self.write("layers.csv", "Layer, M, N, K,\nfc, 4, 5, 6,\n")
        for command in (["import", "layers.csv"], ["trace", "llm", "llama3_8b"]):
            lines = self.answer(*command).splitlines()
            title = next(i for i, line in enumerate(lines) if line.startswith("trace: "))
            self.assertEqual(lines[title + 1], "schema: 1", command)


if __name__ == "__main__":
    unittest.main()
