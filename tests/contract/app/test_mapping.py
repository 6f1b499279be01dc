# SPDX-License-Identifier: Apache-2.0
"""A mapping that a run wrote, or a hand, is followed to the letter, or refused with the reason and its place."""
import json
import re
import unittest

from program import LONG, ProgramTest

# 512 x 512 x 512 on four arrays of 128 x 128: tiles of 128 along K, blocks of up to 2,048 rows.
MATMUL = ("tpu_v4", "matmul", "m=512", "n=512", "k=512")
LAYER = "{rows: 128, columns: 256, depth: 256, over_batch: 1, over_m: 2, over_n: 2, outer: n}"


class Mapping(ProgramTest):
    def mapping(self, layer=LAYER, more=""):
        return self.write("m.yaml", f"mapping: by hand\n{more}layers:\n  matmul: {layer}\n")

    def test_what_a_run_wrote_is_read_back_to_the_same_result(self):
        for device, trace, settings in (("tpu_v4", "resnet50", ()),
                                        ("tpu_v4", "bert_base", ("--set", "workload.layers=2")),
                                        ("tpu_v4", "resnet50", ("--set", "workload.batch=8")),
                                        ("tpu_v1", "three_layers", ()), ("scalesim", "three_layers", ()),
                                        ("tpu_v4", "bert_base", ("--set", "workload.layers=24", "--set", "workload.seq=256"))):
            # The last one's turns are reused.
            with self.subTest(device=device, trace=trace):
                self.answer("run", device, trace, *settings, "-o", "first")
                self.answer("run", device, trace, *settings, "-o", "again", "--mapping", "first/mapping.yaml")
                for name in ("result.json", "mapping.yaml"):
                    self.assertEqual(self.read(f"first/{name}"), self.read(f"again/{name}"))

    def test_a_mapping_by_hand_is_followed(self):
        answer = self.answer("op", *MATMUL, "--mapping", self.mapping(), "--format", "json")
        (layer,) = json.loads(answer)["devices"][0]["layers"]
        self.assertEqual(layer["mapping"], "4 MXUs: 2 over M x 2 over N; blocks 128 x 256 x 256; n outer")
        plain = json.loads(self.answer("op", *MATMUL, "--format", "json"))["devices"][0]["layers"][0]
        self.assertNotEqual(plain["cycles"], layer["cycles"])
        self.assertEqual(plain["macs"], layer["macs"])

    def test_it_decides_what_stays_in_the_scratchpad(self):
        self.answer("run", "tpu_v4", "resnet50", "-o", "all")
        text = self.read("all/mapping.yaml").decode()
        line = next(line for line in text.splitlines() if line.startswith("resident: "))
        self.write("few.yaml", text.replace(line, "resident: [conv1, pool1]"))
        self.answer("run", "tpu_v4", "resnet50", "-o", "few", "--mapping", "few.yaml")
        spaces = {tensor["name"]: tensor["space"]
                  for tensor in json.loads(self.read("few/result.json"))["devices"][0]["tensors"]}
        self.assertEqual((spaces["conv1"], spaces["pool1"]), ("scratchpad", "scratchpad"))
        self.assertEqual(spaces["stage2_reduce"], "dram")

    def fused(self, names, *settings, more=""):
        """Answers a run of ResNet-50 in which only these elementwise layers join others."""
        mapping = self.write("m.yaml", f"mapping: x\nfused: [{names}]\n{more}layers: {{}}\n")
        return self.run_systole("run", "tpu_v4", "resnet50", "--mapping", mapping, "--format", "json", *settings)

    def test_it_decides_which_elementwise_work_joins_a_product(self):
        self.answer("run", "tpu_v4", "resnet50", "-o", "all")
        every = json.loads(self.read("all/result.json"))["devices"][0]
        few = json.loads(self.fused("stage3.0.add").stdout)["devices"][0]
        none = json.loads(self.fused("").stdout)["devices"][0]
        off = json.loads(self.answer("run", "tpu_v4", "resnet50", "--set", "placement.fuse=off", "--format", "json"))
        ops = [{row["name"]: row["op"] for row in run["layers"]} for run in (every, few, none)]
        self.assertEqual([run["stage3.0.expand"] for run in ops], ["conv2d + add", "conv2d + add", "conv2d"])
        self.assertEqual([run.get("stage3.1.add") for run in ops], [None, "elementwise", "elementwise"])
        self.assertEqual(sum(op == "conv2d + add" for op in ops[0].values()), 16)
        self.assertEqual(none["layers"], off["devices"][0]["layers"])
        for run in (every, few):
            self.assertEqual(run["total"]["macs"], none["total"]["macs"])
            self.assertEqual(run["total"]["lane_cycles"], none["total"]["lane_cycles"])
        self.assertLess(every["total"]["cycles"], none["total"]["cycles"])
        self.assertIn("fused: [stage2_first, stage2.0.add, stage2.1.add, ", self.read("all/mapping.yaml").decode())

    def test_fusions_that_cannot_be_are_refused(self):
        for names, settings, more, reason in (
                ("stage3.0.adds", (), "", "m.yaml:2:9: error: 'stage3.0.adds' is no elementwise layer of"),
                ("conv1", (), "", "'conv1' is no elementwise layer"),
                ("stage3.0.add", ("--set", "placement.fuse=off"), "", "'fused' needs a machine with placement.fuse: on"),
                ("stage3.0.add", (), "resident: [stage3.0.expand]\n",
                 "m.yaml:3:11: error: 'stage3.0.expand' cannot stay in the scratchpad: 'stage3.0.add' joins it")):
            with self.subTest(reason=reason):
                done = self.fused(names, *settings, more=more)
                self.assertEqual(done.returncode, 2)
                self.assertIn(reason, done.stderr)
        mapping = self.write("m.yaml", "mapping: x\nfused: [embedding]\nlayers: {}\n")
        self.assertIn("m.yaml:2:8: error: 'embedding' cannot join a matrix product: neither of its operands",
                      self.refusal("run", "tpu_v4", "bert_base", "--mapping", mapping))

    def sliced(self, *runs, settings=()):
        """Runs eight images through ResNet-50 with these runs of layers in slices of the batch."""
        text = "".join(f"  - {{{run}}}\n" for run in runs)
        mapping = self.write("m.yaml", "mapping: x\nslices:" + (f"\n{text}" if runs else " []\n") + "layers: {}\n")
        return self.run_systole("run", "tpu_v4", "resnet50", "--set", "workload.batch=8", *settings,
                                "--mapping", mapping, "--format", "json")

    def test_it_decides_which_layers_run_part_by_part_of_the_batch(self):
        none = json.loads(self.sliced().stdout)["devices"][0]
        off = json.loads(self.answer("run", "tpu_v4", "resnet50", "--set", "workload.batch=8", "--set",
                                     "placement.slice=off", "--format", "json"))["devices"][0]
        self.assertEqual(none["layers"], off["layers"])
        few = json.loads(self.sliced("first: stage2_reduce, last: stage2_expand, count: 4").stdout)["devices"][0]
        self.assertEqual([row["name"] for row in few["layers"]], [row["name"] for row in none["layers"]])
        for key in ("macs", "lane_cycles"):
            self.assertEqual([row[key] for row in few["layers"]], [row[key] for row in none["layers"]])
            self.assertEqual(few["total"][key], none["total"][key])
        self.assertEqual(few["total"]["bytes"]["compulsory_dram"], none["total"]["bytes"]["compulsory_dram"])
        rows = {run: {row["name"]: row for row in result["layers"]}
                for run, result in (("few", few), ("none", none))}
        for layer in ("stage2_reduce", "stage2_expand"):
            self.assertTrue(rows["few"][layer]["mapping"].endswith("; in 4 slices of the batch"))
        self.assertNotIn("slices", rows["few"]["conv1"]["mapping"])
        # What lies between the layers of the run is two images large, and needs no way to the DRAM and back.
        spaces = {place["name"]: place["space"] for place in few["tensors"]}
        self.assertEqual([spaces[f"stage2_reduce[{i}/4]"] for i in (1, 2, 3, 4)], ["scratchpad"] * 4)
        self.assertNotIn("stage2_reduce", spaces)
        self.assertLess(rows["few"]["stage2_expand"]["bytes"]["dram_read"],
                        rows["none"]["stage2_expand"]["bytes"]["dram_read"])
        self.assertEqual(sum(row["cycles"] for row in few["layers"]), few["total"]["cycles"])
        for key, slots in few["total"]["class_slots"].items():
            self.assertEqual(sum(row["class_slots"][key] for row in few["layers"]), slots)

    def test_the_machine_slices_where_it_pays(self):
        self.answer("run", "tpu_v4", "resnet50", "--set", "workload.batch=8", "-o", "on")
        self.answer("run", "tpu_v4", "resnet50", "--set", "workload.batch=8", "--set", "placement.slice=off", "-o", "off")
        totals = [json.loads(self.read(f"{name}/result.json"))["devices"][0]["total"] for name in ("on", "off")]
        self.assertLess(totals[0]["cycles"], 0.8 * totals[1]["cycles"])
        self.assertLess(totals[0]["bytes"]["dram_read"], totals[1]["bytes"]["dram_read"])
        mapping = self.read("on/mapping.yaml").decode()
        self.assertIn("slices:\n  - {first: conv1, last: ", mapping)
        fused = next(line for line in mapping.splitlines() if line.startswith("fused: "))
        self.assertEqual(fused.count("stage2.0.add"), 1)
        self.assertNotIn("slices", self.read("off/mapping.yaml").decode())

    @LONG
    def test_layers_in_slices_have_the_time_in_which_they_ran(self):
        # A slice's last layer stores while the next slice has long begun: neither waits for the other.
        def answer(flag):
            return json.loads(self.answer("run", "tpu_v4", "resnet50", "--set", "workload.batch=16", "--set",
                                          f"placement.slice={flag}", "--format", "json"))["devices"][0]

        on, off = answer("on"), answer("off")
        whole = {row["name"]: row for row in off["layers"]}
        spatial = [row for row in on["layers"] if row["name"].endswith("spatial") and "slices" in row["mapping"]]
        self.assertGreaterEqual(len(spatial), 5)
        for row in spatial:  # compute bound either way
            self.assertGreater(row["cycles"], 0.8 * whole[row["name"]]["cycles"], row["name"])
            self.assertLess(row["cycles"], 1.5 * whole[row["name"]]["cycles"], row["name"])
        for row in on["layers"]:
            if "slices" in row["mapping"]:
                self.assertGreater(row["cycles"], 0.8 * row["roofline"]["compute"], row["name"])
        self.assertEqual(sum(row["cycles"] for row in on["layers"]), on["total"]["cycles"])
        self.assertLess(on["power"]["peak_w"], 1.7 * on["power"]["average_w"])
        text = self.answer("run", "tpu_v4", "resnet50", "--set", "workload.batch=16")
        count = re.search(r"in (\d+) slices", on["layers"][0]["mapping"])[1]
        last = [row["name"] for row in on["layers"] if f"in {count} slices" in row["mapping"]][-1]
        self.assertIn(f"conv1 to {last} ran in {count} slices of the batch, one after the other: "
                      "each row is the sum of its slices.\n", text)
        self.assertNotIn("slices of the batch", self.answer("run", "tpu_v4", "resnet50"))

    def test_a_program_in_slices_is_read_back(self):
        batch = ("--set", "workload.batch=8")
        self.answer("lower", "tpu_v4", "resnet50", *batch, "-o", "sliced.program")
        self.assertIn(b" slices=8 ", self.read("sliced.program"))
        rows = json.loads(self.answer("run", "tpu_v4", "--program", "sliced.program", "--format", "json"))["devices"][0]
        own = json.loads(self.answer("run", "tpu_v4", "resnet50", *batch, "--format", "json"))["devices"][0]
        self.assertEqual(rows["total"]["cycles"], own["total"]["cycles"])
        for name in ("conv1", "stage2_spatial", "fc"):
            parts = [row["cycles"] for row in rows["layers"] if row["name"].split("[")[0] == name]
            self.assertEqual(sum(parts), next(row["cycles"] for row in own["layers"] if row["name"] == name))

    @LONG
    def test_slices_never_cost_much_where_the_machine_chooses_them(self):
        for trace, batch in (("efficientnet", 2), ("efficientnet", 4), ("mobilenet_v2", 2), ("mobilenet_v2", 4),
                             ("resnet50", 2), ("resnet50", 4), ("vgg16", 2), ("bert_base", 4)):
            with self.subTest(trace=trace, batch=batch):
                cycles = {flag: json.loads(self.answer("run", "tpu_v4", trace, "--set", f"workload.batch={batch}", "--set",
                                                       f"placement.slice={flag}", "--format", "json"))
                          ["devices"][0]["total"]["cycles"] for flag in ("on", "off")}
                self.assertLess(cycles["on"], 1.02 * cycles["off"])

    def test_a_batch_of_any_size_is_sliced_or_left_alone_at_once(self):
        trace = self.write("chain.yaml", "trace: chain\ninputs: {x: {shape: [30011, 64], dtype: bf16}}\nlayers:\n"
                                         "  - {name: a, op: activation, function: gelu}\n"
                                         "  - {name: b, op: elementwise, kind: add, in: [a, x]}\n"
                                         "  - {name: c, op: elementwise, kind: add, in: [a, b]}\noutputs: [c]\n")
        self.answer("run", "tpu_v4", trace)
        self.assertIn("needs", self.refusal("run", "tpu_v4", "dlrm", "--set", "workload.batch=1000000007"))

    def test_slices_are_whole_bytes(self):
        trace = self.write("small.yaml", "trace: small\ninputs: {x: {shape: [6, 3, 5], dtype: int4}}\nlayers:\n"
                                         "  - {name: a, op: softmax}\n"
                                         "  - {name: b, op: activation, function: relu}\noutputs: [b]\n")
        mapping = self.write("m.yaml", "mapping: x\nslices:\n  - {first: a, last: b, count: 6}\nlayers: {}\n")
        self.assertIn("'a' has no batch", self.refusal("run", "tpu_v4", trace, "--mapping", mapping))

    def test_a_dataflow_in_which_a_network_cannot_run_is_not_chosen(self):
        trace = self.write("up.yaml", "trace: up\ninputs: {x: {shape: [4, 14, 14, 64], dtype: bf16}}\nlayers:\n"
                                      "  - {name: a, op: conv2d, filters: 64, kernel: 3, pad: 1}\n"
                                      "  - {name: up, op: conv_transpose, filters: 32, kernel: 2, stride: 2}\n"
                                      "  - {name: b, op: conv2d, filters: 16, kernel: 1}\noutputs: [b]\n")
        mapping = self.write("m.yaml", "mapping: x\nslices:\n  - {first: up, last: up, count: 2}\nlayers: {}\n")
        for flow in ("is", "auto"):
            self.answer("run", "tpu_v4", trace, "--mapping", mapping, "--set", f"mxu.dataflow={flow}")

    def test_a_program_with_joined_work_is_read_back(self):
        self.write("p.txt", self.answer("lower", "tpu_v4", "resnet50"))
        run = [json.loads(self.answer("run", "tpu_v4", *what, "--format", "json"))["devices"][0]["total"]["cycles"]
               for what in (("resnet50",), ("--program", "p.txt"))]
        self.assertEqual(run[0], run[1])

    def test_slices_that_cannot_be_are_refused(self):
        for run, settings, reason in (
                ("first: conv1, last: fd, count: 2", (), "m.yaml:3:5: error: 'resnet50' has no layer 'fd' (did you mean 'fc'?)"),
                ("first: conv1, last: pool1, count: 3", (),
                 "m.yaml:3:5: error: 'conv1' to 'pool1' cannot run in 3 slices of the batch: 'conv1' has a batch of 8"),
                ("first: pool1, last: conv1, count: 2", (), "the last layer comes before the first"),
                ("first: stage3.0.add, last: stage3.1.add, count: 2", (), "'stage3.0.add' is no layer of its own"),
                ("first: conv1, last: pool1, count: 1", (), "'count'"),
                ("first: conv1, last: pool1, count: 128", (), "at most 64 are simulated"),
                ("first: conv1, count: 2", (), "'last' is missing"),
                ("first: conv1, last: pool1, count: 2", ("--set", "placement.slice=off"),
                 "'slices' needs a machine with placement.slice: on"),
                ("first: conv1, last: pool1, count: 2", ("--set", "placement.activations=dram"),
                 "and placement.activations: auto")):
            with self.subTest(run=run, settings=settings):
                done = self.sliced(run, settings=settings)
                self.assertEqual(done.returncode, 2)
                self.assertIn(reason, done.stderr)
        twice = self.sliced("first: conv1, last: pool1, count: 2", "first: pool1, last: stage2_reduce, count: 2")
        self.assertIn("the runs before it reach further", twice.stderr)

    def test_a_mapping_of_attention_in_parts_is_read_back(self):
        trace = self.write("att.yaml", "trace: att\ninputs: {x: {shape: [1, 64, 128], dtype: bf16}}\nlayers:\n"
                           "  - {name: q, op: matmul, n: 128, in: x}\n"
                           "  - {name: a, op: attention, in: [q, q, q], heads: 2, fused: false}\noutputs: [a]\n")
        self.answer("run", "tpu_v4", trace, "-o", "one")
        self.answer("run", "tpu_v4", trace, "--mapping", "one/mapping.yaml", "-o", "two")
        self.assertEqual(self.read("one/result.json"), self.read("two/result.json"))

    def test_a_program_shows_it(self):
        self.assertNotEqual(self.answer("lower", "tpu_v4", "resnet50"),
                            self.answer("lower", "tpu_v4", "resnet50", "--mapping",
                                        self.write("none.yaml", "mapping: x\nresident: []\nlayers: {}\n")))

    def test_what_does_not_fit_is_refused_with_the_reason(self):
        for layer, reason in (
                (LAYER.replace("rows: 128", "rows: 100"), "blocks cannot have 100 rows; the nearest below is"),
                (LAYER.replace("columns: 256", "columns: 100"),
                 "100 columns are neither all of its 512 nor a multiple of 128"),
                (LAYER.replace("columns: 256", "columns: 640"), "640 columns are neither"),
                (LAYER.replace("depth: 256", "depth: 100"), "tiles of at most 128, and none ends at 100"),
                (LAYER.replace("over_m: 2", "over_m: 4"), "it takes 8 matrix units of 4"),
                (LAYER.replace("columns: 256", "columns: 512"), "2 matrix units cannot share 1 blocks of columns"),
                (LAYER.replace("rows: 128", "rows: 512"), "2 matrix units cannot share 1 blocks of rows"),
                (LAYER.replace("over_batch: 1, over_m: 2", "over_batch: 2, over_m: 1"), "cannot share 1 batch items"),
                (LAYER.replace("rows: 128, columns: 256", "rows: 512, columns: 512")
                 .replace("over_m: 2, over_n: 2", "over_m: 1, over_n: 1"), None)):
            with self.subTest(layer=layer):
                arguments = ("op", *MATMUL, "--mapping", self.mapping(layer))
                if reason is None:
                    self.answer(*arguments)
                    continue
                message = self.refusal(*arguments)
                self.assertIn(reason, message)
                self.assertTrue(message.startswith("m.yaml:3:3: error: the mapping of 'matmul' does not fit: "))
        small = ("--set", "placement.weight_buffer=64 KiB")
        self.assertIn("two steps need", self.refusal("op", *MATMUL, *small, "--mapping", self.mapping()))
        self.assertIn("accumulator rows of 64", self.refusal("op", *MATMUL, "--set", "mxu.accumulator_rows=128",
                                                             "--mapping", self.mapping()))

    def test_mistakes_in_the_file_have_their_places(self):
        for text, place, reason in (
                ("mapping: x\nlayers:\n  matmull: {rows: 1, columns: 1, depth: 1}\n", "m.yaml:3:3",
                 "has no layer 'matmull' (did you mean 'matmul'?)"),
                ("mapping: x\nlayers:\n  matmul: {rows: 1, columns: 1}\n", "m.yaml:3:11", "'depth'"),
                ("mapping: x\nlayers:\n  matmul: {rows: 0, columns: 1, depth: 1}\n", "m.yaml:3:18", "'rows'"),
                ("mapping: x\nlayers:\n  matmul: {rows: 1, columns: 1, depth: 1, outer: k}\n", "m.yaml:3:", "outer"),
                ("mapping: x\nlayers:\n  matmul: {rows: 1, columns: 1, depth: 1, tiles: 4}\n", "m.yaml:3:", "tiles"),
                ("mapping: x\nlayers:\n  matmul: 12\n", "m.yaml:3:11", "must be a map"),
                ("mapping: x\nlayers: [matmul]\n", "m.yaml:2:9", "'layers' must be a map"),
                ("mapping: x\nlayers: {}\nresident: [nobody]\n", "m.yaml:3:12", "'nobody' is no activation"),
                ("mapping: x\nlayers: {}\nresident: all\n", "m.yaml:3:11", "must be a list"),
                ("[]\n", "m.yaml:1:1", "must be a map"), ("layers: {}\n", "m.yaml:1:1", "mapping")):
            with self.subTest(text=text):
                message = self.refusal("op", *MATMUL, "--mapping", self.write("m.yaml", text))
                self.assertIn(reason, message)
                self.assertTrue(message.startswith(place), message)
        self.assertIn("needs a machine with placement.activations: auto",
                      self.refusal("op", *MATMUL, "--set", "placement.activations=dram", "--mapping",
                                   self.mapping(more="resident: [matmul]\n")))
        self.refusal("op", *MATMUL, "--mapping", "missing.yaml")
        self.refusal("op", "tpu_v4", "--csv", self.write("q.csv", "op,m,n,k\nmatmul,1,1,1\n"), "--mapping",
                     self.mapping())


if __name__ == "__main__":
    unittest.main()
