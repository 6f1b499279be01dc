# SPDX-License-Identifier: Apache-2.0
"""systole import, and files of others wherever a trace is expected."""

import collections
import csv
import gzip
import json
import sys
import unittest

from program import DEVICE, HOME, ProgramTest

sys.path.insert(0, str(HOME / "tests" / "support"))
from scalesim_rows import GOLDEN  # noqa: E402

TABLE = """Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,
Conv1, 16, 16, 3, 3, 4, 8, 2,
Conv2_DP, 8, 8, 3, 3, 8, 1, 1
FC, 1, 1, 1, 1, 64, 10, 1,
"""


class Import(ProgramTest):
    def test_a_native_trace_may_be_written_as_json(self):
        network = {"trace": "net", "inputs": {"x": {"shape": [8, 64], "dtype": "int8"}},
                   "layers": [{"name": "a", "op": "matmul", "n": 32}], "outputs": ["a"]}
        self.write("net.json", json.dumps(network, indent=1))
        shown = json.loads(self.answer("show", "trace", "net.json", "--format", "json"))
        self.assertEqual((shown["trace"], shown["macs"]), ("net", 8 * 64 * 32))
        self.assertIn("this is a trace already", self.refusal("import", "net.json"))

    def test_a_topology_may_stand_where_a_trace_may(self):
        self.write("net.csv", TABLE)
        done = self.run_systole("import", "net.csv", "-o", "net.yaml")
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual(done.stderr.splitlines()[0], "net.csv:3: note: there is no comma behind the last number: "
                                                      "SCALE-Sim drops that number")
        self.assertEqual(self.read("net.yaml").decode(), self.answer("import", "net.csv"))
        shown = [json.loads(self.answer("show", "trace", name, "--format", "json")) for name in ("net.csv", "net.yaml")]
        self.assertEqual(shown[0], shown[1])
        self.assertEqual([layer["macs"] for layer in shown[0]["layers"]], [8 * 8 * 9 * 4 * 8, 6 * 6 * 9 * 8, 640])
        small = ("--set", "workload.dtype=int8", "--set", "workload.batch=2", "--format", "json")
        ran = [json.loads(self.answer("run", DEVICE, name, *small))["devices"][0]["total"]
               for name in ("net.csv", "net.yaml")]
        self.assertEqual(ran[0], ran[1])
        self.assertEqual(ran[0]["macs"], 2 * sum(layer["macs"] for layer in shown[0]["layers"]))
        self.assertEqual(self.answer("lower", DEVICE, "net.csv", *small[:4]),
                         self.answer("lower", DEVICE, "net.yaml", *small[:4]))

    def test_layers_have_the_multiply_accumulates_and_outputs_that_scale_sim_counts(self):
        topologies = collections.defaultdict(dict)
        with gzip.open(GOLDEN / "calc_64kB.csv.gz", "rt", newline="") as file:
            for row in csv.DictReader(file):
                topologies[row["topology"]][int(row["layer_idx"])] = row
        self.assertGreater(sum(map(len, topologies.values())), 200)
        for topology, rows in topologies.items():
            products = all(row["kind"] == "gemm" for row in rows.values())
            columns = ("M", "N", "K") if products else ("ifmap_h", "ifmap_w", "filt_h", "filt_w", "channels", "num_filters",
                                                        "stride_h")
            rows = [rows[index] for index in sorted(rows)]
            # The tool takes layers of this name channel by channel, and the rows are those of one channel.
            lines = [",".join([row["layer"].replace("DP", "D_P"), *(row[column] for column in columns)]) for row in rows]
            self.write("net.csv", "\n".join(["Layer,M,N,K" if products else TABLE.splitlines()[0], *lines]) + ",\n")
            layers = json.loads(self.answer("show", "trace", "net.csv", "--format", "json"))["layers"]
            for row, layer in zip(rows, layers, strict=True):
                with self.subTest(topology=topology, layer=row["layer"]):
                    self.assertEqual(layer["macs"], int(row["macs"]))
                    shape = layer["output"]["shape"]
                    self.assertEqual(shape, [int(row["M"]), int(row["N"])] if products else
                                     [1, int(row["ofmap_h"]), int(row["ofmap_w"]), int(row["num_filters"])])

    def test_a_model_of_hugging_face_is_the_native_trace(self):
        llama = {"model_type": "llama", "num_key_value_heads": 8, "hidden_act": "silu", "vocab_size": 128256,
                 "max_position_embeddings": 8192, "rope_scaling": None, "tie_word_embeddings": False}
        base = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
                "hidden_act": "gelu"}
        models = {
            "llama3_8b": {**llama, "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
                          "num_hidden_layers": 32},
            "llama3_70b": {**llama, "hidden_size": 8192, "intermediate_size": 28672, "num_attention_heads": 64,
                           "num_hidden_layers": 80},
            "bert_base": {**base, "model_type": "bert", "vocab_size": 30522, "max_position_embeddings": 512,
                          "type_vocab_size": 2},
            "vit_b16": {**base, "model_type": "vit", "id2label": {str(i): "x" for i in range(1000)}, "image_size": 224, "patch_size": 16, "num_channels": 3},
            "gpt2": {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_inner": None, "n_positions": 1024,
                     "activation_function": "gelu_new", "vocab_size": 50257}}
        for native, config in models.items():
            self.write("config.json", json.dumps({"architectures": ["Any"], **config}))
            length = ("q_len", "kv_len") if "llama" in native else ("seq",) if native != "vit_b16" else ()
            for settings in ((), sum((("--set", f"workload.{name}=96") for name in length), ())):
                with self.subTest(model=native, settings=settings):
                    ours, theirs = (json.loads(self.answer("show", "trace", name, "--format", "json", *settings))
                                    for name in (native, "config.json"))
                    self.assertEqual((ours.pop("trace"), theirs.pop("trace")), (native, config["model_type"]))
                    self.assertEqual(ours, theirs)
        self.assertIn("did you mean 'llama'?", self.refusal("run", DEVICE, self.write(
            "typo.json", '{"model_type": "lama"}')))

    def test_what_cannot_be_imported_is_refused_and_nothing_is_written(self):
        self.write("net.txt", TABLE)
        self.write("bad.csv", TABLE + "wide, 4, 4, 5, 5, 1, 1, 1,\nshort, 4, 4,\n")
        self.write("bytes.csv", bytes(range(256)))
        self.assertIn("net.txt: error: cannot tell what this is; expected a name that ends in .csv, .json",
                      self.refusal("import", "net.txt", "-o", "out.yaml"))
        message = self.refusal("import", "bad.csv", "-o", "out.yaml")
        self.assertIn("bad.csv:5:1: error: 'wide': a kernel of 5 x 5 is larger", message)
        self.assertIn("bad.csv:6:1: error: 'short' has 2 numbers", message)
        self.assertEqual(message, self.refusal("run", DEVICE, "bad.csv"))
        self.assertIn("bytes.csv:1:1: error: ", self.refusal("import", "bytes.csv"))
        self.write("net.csv", TABLE)
        self.assertIn("--output is the FILE itself", self.refusal("import", "net.csv", "-o", "net.csv"))
        self.write("odd.json", '{"model_type": "llama", "hidden_size": 60, "num_attention_heads": 4, "intermediate_size": 8, '
                               '"num_hidden_layers": 1, "vocab_size": 9}')
        self.assertIn("odd.json:1:1: error: ", self.refusal("import", "odd.json", "-o", "out.yaml"))
        self.write("BIG.CSV", TABLE)
        self.assertEqual(self.answer("show", "trace", "BIG.CSV").count("conv2d"), 3)
        self.write("huge.csv", TABLE + "a,8,8,3,3,4,5,1,\n" * 1_000_000)
        self.assertIn("huge.csv", self.refusal("import", "huge.csv"))
        self.write("huge.json", '{"a": "' + "x" * 4_300_000 + '"}')
        self.assertIn("huge.json", self.refusal("run", DEVICE, "huge.json"))
        self.assertIn("missing.csv", self.refusal("import", "missing.csv"))
        self.assertIn("missing.csv", self.refusal("run", DEVICE, "missing.csv"))
        self.assertIn("FILE", self.refusal("import"))
        self.write("net.csv", TABLE)
        self.assertIn("error", self.refusal("import", "net.csv", "-o", "no/such/folder.yaml"))

    def test_traces_that_nobody_could_read_are_not_written(self):
        self.write("long.csv", TABLE + "a,8,8,3,3,4,5,1,\n" * 900_000)
        self.assertIn("as a trace this has", self.refusal("import", "long.csv", "-o", "long.yaml"))

    def test_what_is_said_of_imports_is_refused_where_nothing_is_imported(self):
        for option in (("--dim", "a=1"), ("--branch", "a=then"), ("--input", "x")):
            for command in (("show", "device", DEVICE), ("show", "memory", "ddr4_3200"),
                            ("wave", DEVICE, "matmul", "m=4", "n=4", "k=4", "--list-signals"),
                            ("run", DEVICE, "--program", "none.txt")):
                with self.subTest(option=option, command=command):
                    self.assertIn(f"{option[0]} is for networks that are imported", self.refusal(*command, *option))


if __name__ == "__main__":
    unittest.main()
