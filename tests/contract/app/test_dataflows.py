# SPDX-License-Identifier: Apache-2.0
"""Dataflows of operators and of layers: chosen by the machine, named by a mapping, or refused with the reason."""
import json
import unittest

from program import ProgramTest


class Dataflows(ProgramTest):
    def test_the_dataflow_is_chosen_for_each_operator_and_kept_by_its_mapping(self):
        trace = self.write("one.yaml", "trace: one\ninputs: {x: {shape: [128, 8192], dtype: bf16}}\n"
                                       "layers: [{name: out, op: matmul, n: 128}]\noutputs: [out]\n")
        auto = ("--set", "placement.trials=1", "--set", "mxu.dataflow=auto")
        cycles = {flow: json.loads(self.answer("run", "tpu_v4", trace, *auto[:2], "--set", f"mxu.dataflow={flow}",
                                               "--format", "json"))["devices"][0]["total"]["cycles"] for flow in ("ws", "os", "is")}
        best = min(cycles, key=cycles.get)
        text = self.answer("run", "tpu_v4", trace, *auto, "-o", "auto")
        self.assertIn(f"Chosen: mxu.dataflow={best} ({cycles['ws']:,} cycles in ws, {cycles['os']:,} cycles in os, "
                      f"{cycles['is']:,} cycles in is).", text)
        result = json.loads(self.read("auto/result.json"))["devices"][0]
        self.assertEqual((result["total"]["cycles"], result["choices"][0]["value"]), (cycles[best], best))
        self.assertTrue(self.read("auto/mapping.yaml").decode().splitlines()[1] == f"dataflow: {best}")
        self.answer("run", "tpu_v4", trace, *auto, "--mapping", "auto/mapping.yaml", "-o", "again")
        self.assertEqual(self.read("auto/mapping.yaml"), self.read("again/mapping.yaml"))
        again = json.loads(self.read("again/result.json"))["devices"][0]
        self.assertEqual((again["total"], again["choices"]), (result["total"], []))
        other = next(flow for flow in cycles if flow != best)
        self.assertIn(f"auto/mapping.yaml:2:11: error: the mapping is for arrays of dataflow {best}, and this machine's "
                      f"are {other}", self.refusal("run", "tpu_v4", trace, "--set", f"mxu.dataflow={other}",
                                                   "--mapping", "auto/mapping.yaml"))
        wrong = self.write("wrong.yaml", "mapping: x\ndataflow: ss\nlayers: {}\n")
        self.assertIn("wrong.yaml:2:11: error: mapping: 'dataflow' must be one of: ws, os, is, not 'ss'",
                      self.refusal("run", "tpu_v4", trace, *auto, "--mapping", wrong))
        self.assertIn("mxu.weight_source", self.refusal("run", "tpu_v4", trace, *auto, "--set", "mxu.weight_source=dram"))
        # What cannot be the fastest is not simulated: few rows leave little to stream where weights stay.
        self.assertRegex(self.answer("op", "scalesim", "matmul", "m=2048", "n=64", "k=64", *auto),
                         r"Chosen: mxu.dataflow=\w\w \(.*at least [\d,]+")

    AUTO = ("--set", "mxu.dataflow=auto")

    def device(self, *arguments):
        return json.loads(self.answer("run", *arguments, "--format", "json"))["devices"][0]

    def test_layers_have_dataflows_of_their_own_where_that_is_faster(self):
        alone = {flow: self.device("tpu_v4", "resnet50", "--set", f"mxu.dataflow={flow}")["total"]["cycles"]
                 for flow in ("ws", "os", "is")}
        self.answer("run", "tpu_v4", "resnet50", *self.AUTO, "-o", "auto")
        result = json.loads(self.read("auto/result.json"))["devices"][0]
        (choice,) = result["choices"]
        self.assertEqual(choice["value"], "mixed")
        self.assertLess(result["total"]["cycles"], min(alone.values()))
        for flow, cycles in alone.items():
            self.assertIn(f"{cycles:,} cycles in {flow}", choice["why"])
        said = {row["name"]: row["mapping"][:2] for row in result["layers"] if row["op"].startswith(("conv2d", "matmul"))}
        self.assertEqual(set(said.values()) <= {"ws", "os", "is"} and len(set(said.values())) > 1, True)
        for flow in set(said.values()):
            self.assertIn(f"{flow} for {sum(own == flow for own in said.values())}", choice["why"])
        switches = [stat["value"] for stat in result["stats"] if stat["name"] == "dataflow_switches"]
        self.assertEqual(len(switches), 4)
        self.assertGreater(min(switches), 0)
        # What -o wrote names every layer's, and is followed.
        mapping = self.read("auto/mapping.yaml").decode()
        for name, flow in said.items():
            self.assertRegex(mapping, rf"\n  {name}: {{.*dataflow: {flow}}}\n")
        self.answer("run", "tpu_v4", "resnet50", *self.AUTO, "-o", "again", "--mapping", "auto/mapping.yaml")
        self.assertEqual(self.read("auto/mapping.yaml"), self.read("again/mapping.yaml"))
        again = json.loads(self.read("again/result.json"))["devices"][0]
        self.assertEqual((again["layers"], again["stats"]), (result["layers"], result["stats"]))
        # So does the program.
        self.write("p.txt", self.answer("lower", "tpu_v4", "resnet50", *self.AUTO))
        program = self.device("tpu_v4", "--program", "p.txt", *self.AUTO)
        self.assertEqual(program["total"], result["total"])
        self.assertIn("this machine's arrays are", self.refusal("run", "tpu_v4", "--program", "p.txt"))

    def test_what_changes_cost_decides_whether_there_are_any(self):
        free, dear = (self.device("tpu_v4", "resnet50", *self.AUTO, "--set", f"mxu.dataflow_switch={cycles}")
                      for cycles in (0, 1000000))
        self.assertEqual(free["choices"][0]["value"], "mixed")
        self.assertIn(dear["choices"][0]["value"], ("ws", "os", "is"))
        self.assertLess(free["total"]["cycles"], dear["total"]["cycles"])

    def test_dataflows_go_with_slices_cores_and_reuse(self):
        for device, trace, settings in (("tpu_v4", "resnet50", ("workload.batch=8",)),
                                        ("tpu_v4_chip", "resnet50", ("workload.batch=4",)),
                                        ("tpu_v5e", "gpt2", ("workload.layers=32",))):
            with self.subTest(device=device, trace=trace):
                arguments = [device, trace, *self.AUTO, *(word for one in settings for word in ("--set", one))]
                names = [row["name"] for row in self.device(*arguments)["layers"] if row["op"].startswith(("conv2d", "matmul"))]
                turns = {}  # layers of turns alike
                flows = [turns.setdefault(name.split(".")[-1], ("ws", "os", "is")[len(turns) % 3]) for name in names]
                mapping = self.write("m.yaml", "mapping: x\ndataflow: os\nlayers:\n" +
                                     "".join(f"  {name}: {{dataflow: {flow}}}\n" for name, flow in zip(names, flows)))
                mixed = self.device(*arguments, "--mapping", mapping)
                said = {row["name"]: row["mapping"] for row in mixed["layers"]}
                for name, flow in zip(names, flows):
                    self.assertTrue(said[name].startswith(f"{flow}; "), (name, flow, said[name]))
                self.assertEqual(mixed["total"]["macs"], self.device(*arguments)["total"]["macs"])
                if trace == "gpt2":  # few turns stand for all: nearly as fast as all of them
                    whole = self.device(*arguments, "--mapping", mapping, "--set", "run.reuse=off")
                    self.assertTrue(any(row.get("reused") for row in mixed["layers"]))
                    self.assertAlmostEqual(mixed["total"]["cycles"] / whole["total"]["cycles"], 1, delta=0.001)

    def test_dataflows_of_layers_by_hand(self):
        trace = self.write("att.yaml", "trace: att\ninputs: {x: {shape: [1, 64, 128], dtype: bf16}}\nlayers:\n"
                           "  - {name: q, op: matmul, n: 128, in: x}\n  - {name: k, op: matmul, n: 128, in: x}\n"
                           "  - {name: a, op: attention, in: [q, k, k], heads: 2}\n"
                           "  - {name: s, op: softmax}\noutputs: [s]\n")

        def mapping(*layers):
            return self.write("m.yaml", "mapping: x\nlayers:\n" + "".join(f"  {layer}\n" for layer in layers))
        text = mapping("q: {dataflow: os}", "a: {dataflow: is}")
        self.answer("run", "tpu_v4", trace, *self.AUTO, "--mapping", text, "-o", "o")
        self.assertIn("  a: {dataflow: is}\n", self.read("o/mapping.yaml").decode())
        self.answer("run", "tpu_v4", trace, *self.AUTO, "--mapping", "o/mapping.yaml", "-o", "p")
        self.assertEqual(self.read("o/mapping.yaml"), self.read("p/mapping.yaml"))
        self.answer("run", "tpu_v4", trace, "--mapping", mapping("q: {dataflow: ws}"))  # what it is anyway
        for layers, settings, reason in (
                (("q: {dataflow: os}",), (), "m.yaml:3:17: error: 'q' is mapped for arrays of dataflow os, and this machine's are ws"),
                (("q: {dataflow: so}",), self.AUTO, "m.yaml:3:17: error: the mapping of 'q': 'dataflow' must be one of: ws, os, is"),
                (("q: {dataflow: os, rows: 1}",), self.AUTO, "'columns' is missing"),
                (("a: {rows: 3}",), self.AUTO, "m.yaml:3:6: error: the mapping of 'a': 'dataflow' is missing"),
                (("s: {dataflow: os}",), self.AUTO, "'s' is softmax, and only")):
            with self.subTest(reason=reason):
                self.assertIn(reason, self.refusal("run", "tpu_v4", trace, *settings, "--mapping", mapping(*layers)))
        for value in ("-1", "x", "1000001", "1.5"):
            self.assertIn("mxu.dataflow_switch", self.refusal("run", "tpu_v4", trace, "--set", f"mxu.dataflow_switch={value}"))

    def test_what_stays_with_dataflows_of_layers_is_read_back(self):
        # With all layers in is the middle one could not stay, and with all cores nothing could.
        deconv = self.write("t.yaml", "trace: t\ninputs: {x: {shape: [1, 8, 8, 16], dtype: bf16}}\nlayers:\n"
                            "  - {name: c, op: conv2d, filters: 16, kernel: 1}\n"
                            "  - {name: t, op: conv_transpose, filters: 16, kernel: 2, stride: 2}\n"
                            "  - {name: e, op: conv2d, filters: 16, kernel: 1}\noutputs: [e]\n")
        chain = self.write("c.yaml", "trace: c\ninputs: {x: {shape: [3, 7, 64], dtype: bf16}}\nlayers:\n"
                           "  - {name: a, op: matmul, n: 64}\n  - {name: b, op: matmul, n: 128}\n"
                           "  - {name: d, op: matmul, n: 32}\noutputs: [d]\n")
        for device, trace, dataflows, more in (("tpu_v4", deconv, {"c": "is", "t": "ws", "e": "ws"}, ""),
                                               ("tpu_v4_chip", chain, {"a": "ws", "b": "ws", "d": "os"}, "cores: 1\n")):
            layers = "".join(f"  {name}: {{dataflow: {dataflow}}}\n" for name, dataflow in dataflows.items())
            with self.subTest(device=device):
                self.answer("run", device, trace, *self.AUTO, "--mapping",
                            self.write("m.yaml", f"mapping: x\n{more}layers:\n{layers}"), "-o", "one")
                self.assertRegex(self.read("one/mapping.yaml").decode(), r"resident: \[\w+, ")
                self.answer("run", device, trace, *self.AUTO, "--mapping", "one/mapping.yaml", "-o", "two")
                self.assertEqual(self.read("one/result.json"), self.read("two/result.json"))

    def test_a_dataflow_that_would_be_passed_over_is_refused(self):
        def refused(device, trace, *layers):
            text = "mapping: x\nlayers:\n" + "".join(f"  {layer}\n" for layer in layers)
            return self.refusal("run", device, trace, *self.AUTO, "--mapping", self.write("m.yaml", text))
        self.assertIn("m.yaml:3:31: error: all turns of a block have the dataflow of its first: name one for 'decoder.0.query'",
                      refused("tpu_v5e", "gpt2", "decoder.3.query: {dataflow: os}"))
        self.assertIn("m.yaml:4:31: error: all turns", refused("tpu_v5e", "gpt2", "decoder.0.query: {dataflow: os}",
                                                               "decoder.1.query: {dataflow: is}"))
        self.assertIn("unknown key 'dataflow'", refused("tpu_v4", "mobilenet_v2", "stage1_depthwise: {dataflow: os}"))

    def test_a_mapping_that_names_no_layers_leaves_dataflows_to_the_machine(self):
        empty = self.write("m.yaml", "mapping: x\nlayers: {}\n")
        text = self.answer("run", "tpu_v4", "mobilenet_v2", *self.AUTO, "--mapping", empty)
        self.assertIn("mxu.dataflow=mixed", text)

    def test_a_stream_that_is_longer_than_the_run_so_far_is_followed(self):
        two = self.write("two.yaml", "trace: two\ninputs: {x: {shape: [4, 4], dtype: int8}, y: {shape: [4, 2048], dtype: int8}}\n"
                         "layers:\n  - {name: a, op: matmul, n: 4, in: x}\n  - {name: d, op: matmul, n: 4, in: y}\n"
                         "outputs: [a, d]\n")
        runs = [self.answer("run", "teaching_4x4", two, "--set", "mxu.dataflow=os", "--set", f"mxu.engine={engine}", "--format", "csv")
                for engine in ("tile", "grid")]
        self.assertEqual(*runs)

    def test_a_dataflow_that_cannot_run_is_not_chosen(self):
        # As many outputs as there are passes where they stay: more than are simulated.
        text = self.answer("op", "scalesim", "matmul", "m=1", "n=20000000", "k=1", "--set", "mxu.rows=1", "--set",
                           "mxu.cols=1", "--set", "mxu.dataflow=auto")
        self.assertRegex(text, r"Chosen: mxu.dataflow=is \(.*impossible in os, 20,[\d,]+ cycles in is\)")


if __name__ == "__main__":
    unittest.main()
