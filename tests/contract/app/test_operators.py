# SPDX-License-Identifier: Apache-2.0
"""A network of operators that no array works on, from its trace to the books, on machines of both placements."""

import csv
import io
import json
import unittest

from program import ProgramTest

TRACE = """trace: operators
params: {dtype: bf16}
inputs:
  image: {shape: [1, 12, 12, 8], dtype: dtype}
  words: {shape: [24, 6], dtype: int32}
  picks: {shape: [30], dtype: int32}
layers:
  - {name: grown, op: resize, kind: bilinear, scale: 2, in: image}
  - {name: lower_half, op: slice, axis: 1, parts: 2, part: 1}
  - {name: shrunk, op: resize, kind: nearest, size: [12, 24]}
  - {name: both, op: concat, in: [lower_half, shrunk]}
  - {name: scaled, op: elementwise, kind: mul, stored: [16], activation: silu}
  - {name: pixels, op: reshape, shape: [288, 16]}
  - {name: picked, op: gather, in: [pixels, picks], spread: random}
  - {name: bags, op: embedding, in: words, vocabulary: 5000, width: 16, bag: 6, spread: random, dtype: dtype}
  - {name: bag_rows, op: reshape, shape: [24, 16]}
  - {name: joined, op: concat, in: [picked, bag_rows], axis: 0}
  - {name: turned, op: rotary}
  - {name: gates, op: matmul, n: 64}
  - {name: stepped, op: lstm_cell, in: [gates, turned]}
  - {name: state, op: slice, begin: 16, size: 16}
  - {name: again, op: matmul, n: 48, in: state}
  - {name: once_more, op: gru_cell, in: [again, again, state]}
  - {name: best, op: top_k, k: 4, result: indices}
outputs: [best]
"""
ATTENTION = """trace: attention
params: {dtype: bf16}
inputs:
  q: {shape: [2, 3, 64], dtype: dtype}
  k: {shape: [2, 3, 32], dtype: dtype}
layers:
  - {name: keys, op: kv_cache, in: k, heads: 2, length: 20}
  - {name: values, op: kv_cache, in: k, heads: 2, length: 20}
  - {name: out, op: attention, in: [q, keys, values], heads: 4, kv_heads: 2, causal: true, fused: FUSED}
outputs: [out]
"""
WEIGHTS = """trace: weights
inputs:
  x: {shape: [2, 12, 64], dtype: bf16}
layers:
  - {name: columns, op: matmul, n: 96, weight_dtype: int8, scales: channel}
  - {name: groups, op: matmul, n: 64, weight_dtype: int8, scales: group, group: 32}
  - {name: sparse, op: matmul, n: 32, sparsity: 2:4}
  - {name: apart, op: matmul, n: 48, weight_dtype: int4, scales: group, group: 8, fused: false}
  - {name: narrow, op: quantize, out_dtype: fp8, scales: channel}
  - {name: wide, op: dequantize, out_dtype: bf16}
outputs: [wide]
"""
# Kernel beyond, at and odd beside the stride.
GROWING = """trace: growing
params: {dtype: bf16}
inputs:
  x: {shape: [2, 5, 4, 6], dtype: dtype}
layers:
  - {name: a, op: conv_transpose, filters: 7, kernel: 4, stride: 2, pad: 1, bias: true, activation: relu}
  - {name: b, op: conv_transpose, filters: 5, kernel: 3, stride: 2, pad: 1, out_pad: 1}
  - {name: c, op: conv_transpose, filters: 3, kernel: [2, 3], stride: 2}
outputs: [c]
"""
# Clips of six frames: an array's convolution in space and time, one in space, one in time, a depthwise one.
VOLUMES = """trace: volumes
params: {dtype: bf16}
inputs:
  x: {shape: [2, 6, 7, 6, 4], dtype: dtype}
layers:
  - {name: a, op: conv3d, filters: 8, kernel: 3, pad: 1, stride: 2, stride_t: 1, bias: true, activation: relu}
  - {name: b, op: conv3d, filters: 6, kernel: [1, 3, 3], pad: 1, pad_t: 0, groups: 2}
  - {name: c, op: conv3d, filters: 5, kernel: [3, 1, 1], pad_t: 1, stride_t: 2}
  - {name: d, op: conv3d, filters: 5, kernel: [2, 2, 1], depthwise: true}
outputs: [d]
"""
# Two matrix products cut over eight chips as in tensor parallelism: columns of the first, rows of the second.
TOGETHER = """trace: together
params: {dtype: bf16}
inputs:
  x: {shape: [32, 256], dtype: dtype}
layers:
  - {name: whole, op: collective, kind: all_gather, chips: 8, axis: 0}
  - {name: up, op: matmul, n: 128}
  - {name: down, op: matmul, n: 256}
  - {name: part, op: collective, kind: reduce_scatter, chips: 8, axis: 0}
  - {name: sum, op: collective, kind: all_reduce, chips: 8}
outputs: [sum]
"""
BLOCKS = """trace: blocks
inputs:
  x: {shape: [64, 512], dtype: bf16}
layers:
  - repeat: 400
    name: block
    layers:
      - {name: up, op: matmul, n: 512, in: block_in}
      - {name: sum, op: collective, kind: all_reduce, chips: 8}
outputs: [block]
"""
# What crosses the host link is not what is counted here.
INSIDE = ("--set", "run.inputs_at=dram", "--set", "run.outputs_to=dram")
# Device, where its activations live, and what it computes in.
MACHINES = (("tpu_v4", "placement.activations=auto", "bf16"), ("tpu_v4", "placement.activation_space=24 KiB", "bf16"),
            ("tpu_v1", "placement.activations=scratchpad", "int8"),
            ("teaching_4x4", "placement.activations=dram", "bf16"))


class Operators(ProgramTest):
    def run_of(self, *words):
        (run,) = json.loads(self.answer(*words, "--format", "json"))["devices"]
        return run

    def run_on(self, device, placement, dtype):
        self.write("operators.yaml", TRACE)
        return self.run_of("run", device, "operators.yaml", *INSIDE, "--set", placement,
                           "--set", f"workload.dtype={dtype}")

    def test_they_run_where_activations_live_in_memory_and_on_chip(self):
        for device, placement, dtype in MACHINES:
            with self.subTest(device=device, placement=placement):
                run = self.run_on(device, placement, dtype)
                self.assertEqual(len(run["layers"]), 15)
                width = 2 if dtype == "bf16" else 1
                written = {layer["name"]: layer["bytes"]["dram_written"] for layer in run["layers"]}
                if placement != "placement.activations=dram":
                    continue
                self.assertEqual(written["grown"], 24 * 24 * 8 * width)
                self.assertEqual(written["lower_half"], 12 * 24 * 8 * width)
                self.assertEqual(written["both"], 12 * 24 * 16 * width)
                self.assertEqual(written["picked"], 30 * 16 * width)
                self.assertEqual(written["bags"], 24 * 16 * width)
                self.assertEqual(written["joined"], 54 * 16 * width)
                self.assertEqual(written["stepped"], 54 * 32 * width)
                self.assertEqual(written["best"], 54 * 4 * 4)

    def test_a_program_of_theirs_reads_back(self):
        for device, placement, dtype in MACHINES:
            with self.subTest(device=device, placement=placement):
                whole = self.run_on(device, placement, dtype)
                program = self.answer("lower", device, "operators.yaml", *INSIDE, "--set", placement,
                                      "--set", f"workload.dtype={dtype}")
                self.assertIn(" lookup=5000+0 ", program)
                self.write("operators.program", program)
                again = self.run_of("run", device, "--program", "operators.program", "--set", placement, *INSIDE)
                self.assertEqual(again["total"], whole["total"])

    def test_weights_in_other_formats_travel_as_they_are_stored(self):
        self.write("weights.yaml", WEIGHTS)
        for device, placement in (("tpu_v4", "placement.activations=auto"), ("tpu_v4", "placement.activations=dram"),
                                  ("teaching_4x4", "placement.activations=dram")):
            for known in ("none", "2:4"):
                with self.subTest(device=device, placement=placement, known=known):
                    words = (*INSIDE, "--set", placement, "--set", "mxu.unpack=16", "--set", f"mxu.sparsity={known}")
                    run = self.run_of("run", device, "weights.yaml", *words)
                    layers = {layer["name"]: layer for layer in run["layers"]}
                    self.assertEqual(layers["sparse"]["macs"], 24 * 64 * 32 // 2)
                    self.assertEqual(layers["columns"]["macs"], 24 * 64 * 96)
                    rows = 4 if device == "teaching_4x4" else 128
                    tiled = {"columns": (64, 96, 8), "groups": (96, 64, 8 + 16 / min(32, rows)),
                             "sparse": (64, 32, (16 + 2) / 2)}
                    for name, (k, n, bits) in tiled.items():
                        read = sum(move["bytes"] for move in layers[name]["bytes"]["moved"]
                                   if move["operand"] == "weights" and move["from"] == "dram")
                        row = -(-rows * bits // 8)  # of a tile, whole bytes
                        scales = 2 * n if name == "columns" else 0
                        self.assertEqual(read, k * -(-n // rows) * row + scales)
                    made = layers["apart.dequantize"]["bytes"]["moved"]
                    read = sum(move["bytes"] for move in made if move["from"] == "dram")
                    self.assertEqual(read, 32 * 48 // 2 + 4 * 48 * 2)
                    program = self.answer("lower", device, "weights.yaml", *words)
                    self.assertIn(" weights=unpacked", program)
                    self.assertEqual(" sparsity=2 " in program, known == "2:4")
                    self.write("weights.program", program)
                    again = self.run_of("run", device, "--program", "weights.program", *words)
                    self.assertEqual(again["total"], run["total"])

    def test_transposed_convolutions_are_right_on_every_array(self):
        self.write("growing.yaml", GROWING)
        # Rows and columns of pixels, with the taps that they meet: of c, 17 columns meet two taps and 16 one.
        macs = 2 * ((10 * 2) * (8 * 2) * 7 * 6 + (10 * 3) * (8 * 3) * 5 * 7 + 40 * (17 * 2 + 16) * 3 * 5)
        for dataflow in ("ws", "os", "is"):
            for placement in ((), ("--set", "placement.activations=auto", "--set", "placement.activation_space=32 KiB",
                                   "--set", "scratchpad.capacity=128 KiB")):
                with self.subTest(dataflow=dataflow, placement=placement):
                    words = (*INSIDE, "--set", f"mxu.dataflow={dataflow}", *placement)
                    run = self.run_of("run", "teaching_4x4", "growing.yaml", *words)
                    self.assertEqual(run["total"]["macs"], macs)
                    # On the PE grid every sum that leaves is compared with the dot product.
                    grid = self.run_of("run", "teaching_4x4", "growing.yaml", *words, "--set", "mxu.engine=grid")
                    self.assertEqual(grid["total"], run["total"])
                    self.write("growing.program", self.answer("lower", "teaching_4x4", "growing.yaml", *words))
                    again = self.run_of("run", "teaching_4x4", "--program", "growing.program", *words)
                    self.assertEqual(again["total"], run["total"])

    def test_convolutions_of_volumes_are_right_on_every_array(self):
        self.write("volumes.yaml", VOLUMES)
        # Output pixels x taps x channels of a group x filters.
        macs = 2 * (6 * 4 * 3 * 27 * 4 * 8 + 6 * 4 * 3 * 9 * 4 * 6 + 3 * 4 * 3 * 3 * 6 * 5 + 2 * 3 * 3 * 4 * 5)
        for dataflow in ("ws", "os", "is"):
            for placement in ((), ("--set", "placement.activations=auto", "--set", "placement.activation_space=32 KiB",
                                   "--set", "scratchpad.capacity=128 KiB")):
                with self.subTest(dataflow=dataflow, placement=placement):
                    words = (*INSIDE, "--set", f"mxu.dataflow={dataflow}", *placement)
                    run = self.run_of("run", "teaching_4x4", "volumes.yaml", *words)
                    self.assertEqual(run["total"]["macs"], macs)
                    # On the PE grid every sum that leaves is compared with the dot product.
                    grid = self.run_of("run", "teaching_4x4", "volumes.yaml", *words, "--set", "mxu.engine=grid")
                    self.assertEqual(grid["total"], run["total"])
                    self.write("volumes.program", self.answer("lower", "teaching_4x4", "volumes.yaml", *words))
                    again = self.run_of("run", "teaching_4x4", "--program", "volumes.program", *words)
                    self.assertEqual(again["total"], run["total"])

    def test_volumes_are_rows_of_a_table_and_explained(self):
        self.write("volumes.csv", "op,dtype,n,d,h,w,c,k,t,r,s,stride,pad,stride_t,pad_t\n"
                                  "conv3d,bf16,1,8,14,14,64,64,3,3,3,1,1,,\n"
                                  "conv3d,bf16,1,8,14,14,64,64,1,3,3,1,1,1,0\n"
                                  "conv3d,bf16,1,2,14,14,64,64,3,3,3,1,1,1,0\n"
                                  "conv2d,bf16,8,,14,14,64,64,,3,3,1,1,,\n")
        run = self.run_systole("op", "tpu_v4", "--csv", "volumes.csv", "--counters", "macs")
        self.assertEqual(run.returncode, 2)
        rows = list(csv.DictReader(io.StringIO(run.stdout)))
        self.assertEqual([row["macs"] for row in rows],
                         [str(8 * 14 * 14 * 64 * 64 * taps) for taps in (27, 9)] + ["", rows[1]["macs"]])
        self.assertIn("the kernel [3, 3, 3] is larger than the padded input [2, 16, 16]", rows[2]["error"])
        # Slices that do not meet are images.
        self.assertEqual(rows[1]["cycles"], rows[3]["cycles"])
        page = self.answer("explain", "tpu_v4", "conv3d", "n=2", "d=8", "h=14", "w=14", "c=64", "k=64", "t=3", "r=3",
                           "s=3", "pad=1", "dtype=bf16")
        self.assertIn("M = 3,136 = 2 volumes x 8 x 14 x 14 output pixels", page)
        self.assertIn("K = 1,728 = 3 x 3 x 3 taps x 64 input channels", page)

    def test_chips_work_together_over_their_link(self):
        self.write("together.yaml", TOGETHER)
        # Bytes that a chip sends: seven shards of 32 x 256; seven eighths of 256 x 256; twice that of 32 x 256.
        sent = {"whole": 7 * 32 * 256, "part": 7 * 32 * 256, "sum": 2 * 7 * 4 * 256}
        link = ("--set", "chip_link.bandwidth=10 GB/s", "--set", "chip_link.latency=100 ns")
        for device, placement, dtype in MACHINES:
            with self.subTest(device=device, placement=placement):
                words = (*INSIDE, "--set", placement, *(link if device in ("tpu_v1", "teaching_4x4") else ()))
                run = self.run_of("run", device, "together.yaml", *words, "--set", f"workload.dtype={dtype}")
                width = 2 if dtype == "bf16" else 1
                for layer in run["layers"]:
                    moved = layer["bytes"]["moved"]
                    out = sum(cell["bytes"] for cell in moved if cell["to"] == "chip_link")
                    self.assertEqual(out, sent.get(layer["name"], 0) * width)
                    self.assertEqual(out, sum(cell["bytes"] for cell in moved if cell["from"] == "chip_link"))
                self.write("together.program", self.answer("lower", device, "together.yaml", *words, "--set",
                                                           f"workload.dtype={dtype}"))
                again = self.run_of("run", device, "--program", "together.program", *words)
                self.assertEqual(again["total"], run["total"])

    def test_turns_that_meet_other_chips_are_reused(self):
        self.write("blocks.yaml", BLOCKS)
        whole = self.run_of("run", "tpu_v5e", "blocks.yaml", "--set", "run.reuse=off")
        some = self.run_of("run", "tpu_v5e", "blocks.yaml")
        self.assertGreater(sum(layer["reused"] for layer in some["layers"]), 0)
        self.assertAlmostEqual(some["total"]["cycles"] / whole["total"]["cycles"], 1, delta=0.001)
        self.assertEqual(some["total"]["bytes"], whole["total"]["bytes"])
        links = [[stat for stat in run["stats"] if "link" in stat["path"]] for run in (whole, some)]
        self.assertEqual(*links)

    def test_a_ring_takes_as_long_as_its_links(self):
        # 64 MiB over links of 45 GB/s to either side: parts of 8 MiB, 90 GB/s, seven hops and as many again; all
        # to all, parts go 1, 2, 3, 4, 3, 2 and 1 hops.
        def cycles(kind, elements, *words):
            return self.run_of("op", "tpu_v5e", "collective", f"kind={kind}", "chips=8", f"elements={elements}", *words)

        part = 2 ** 23 / 90
        for kind, elements, parts in (("all_reduce", 2 ** 25, 14), ("reduce_scatter", 2 ** 25, 7),
                                      ("all_gather", 2 ** 22, 7), ("all_to_all", 2 ** 25, 16)):
            with self.subTest(kind=kind):
                run = cycles(kind, elements)
                self.assertEqual(run["total"]["roofline_bound"], "chips")
                self.assertEqual(run["total"]["bound_by"], "chips")
                self.assertGreaterEqual(run["total"]["time_ns"], parts * part)
                self.assertLess(run["total"]["time_ns"], 1.05 * parts * part)
                half = cycles(kind, elements, "--set", "chip_link.bandwidth=22.5 GB/s")
                self.assertAlmostEqual(half["total"]["time_ns"] / run["total"]["time_ns"], 2, delta=0.05)
        # What is small waits for the link: 14 hops of 1 us.
        small = cycles("all_reduce", 1024)["total"]["time_ns"]
        self.assertGreater(small, 14_000)
        self.assertLess(small, 18_000)

    def test_a_machine_without_link_says_so(self):
        message = self.refusal("op", "tpu_v1", "collective", "kind=all_reduce", "chips=4", "elements=64", "dtype=int8")
        self.assertIn("this machine has no link to other chips; give it one, such as chip_link", message)
        self.write("linked.program", "systole-program 2\nlink_in layer=0\n")
        self.assertIn("unknown unit 'link_in'", self.refusal("run", "tpu_v1", "--program", "linked.program"))

    def test_what_is_dequantized_is_narrow_unless_it_says_otherwise(self):
        for dtype, read in ((), 512 * 512), (("dtype=bf16",), 2 * 512 * 512):
            run = self.run_of("op", "tpu_v4", "dequantize", "rows=512", "cols=512", *dtype)
            self.assertEqual(run["total"]["bytes"]["dram_read"], read)

    def test_chips_exchange_what_they_have_in_its_own_format(self):
        self.assertIn("unknown key 'dtype_out'", self.refusal("op", "tpu_v4", "collective", "kind=all_reduce",
                                                              "elements=10", "chips=2", "dtype_out=int8"))

    def test_what_needs_too_many_commands_is_refused_before_they_are_made(self):
        self.assertIn("it takes 20000000 steps of 1 row(s) of the result; at most 16777216 commands are simulated",
                      self.refusal("op", "tpu_v4", "embedding", "vocabulary=1", "width=1", "lookups=20000000"))
        self.assertIn("it makes more than 4194304 blocks of scores, 128 queries by 256 keys each",
                      self.refusal("op", "tpu_v4", "attention", "q_len=1000000", "kv_len=1000000", "heads=1",
                                   "head_dim=64", "causal=true"))

    def test_a_pair_of_formats_with_no_rate_is_refused(self):
        self.assertIn("no matrix unit takes dtype 'int8' with 'int16'",
                      self.refusal("op", "tpu_v1", "matmul", "m=64", "n=64", "k=64", "dtype=int8", "dtype_b=int16",
                                   "--set", "mxu.rate.int8xint16=0"))

    def test_rows_of_pixels_of_a_transposed_convolution_leave_whole(self):
        # 64 phases of 32 rows of 32 pixels, each row one descriptor of 16 cycles.
        run = self.run_of("op", "tpu_v4", "conv_transpose", "n=1", "h=32", "w=32", "c=64", "k=32", "r=8", "s=8",
                          "stride=8", "dtype=bf16")
        self.assertLess(run["total"]["cycles"], 3 * 64 * 32 * 16)

    def test_formats_of_weights_are_columns_of_a_table(self):
        self.write("formats.csv", "op,m,n,k,dtype_b,scales,group,sparsity,fused\n"
                                  "matmul,64,256,256,,,,,\nmatmul,64,256,256,int4,group,64,,\n"
                                  "matmul,64,256,256,int4,group,64,,false\nmatmul,64,256,256,,,,2:4,\n"
                                  "matmul,64,256,250,,,,2:4,\n")
        run = self.run_systole("op", "tpu_v4", "--csv", "formats.csv")
        self.assertEqual(run.returncode, 2)
        rows = list(csv.DictReader(io.StringIO(run.stdout)))
        self.assertEqual([bool(row["error"]) for row in rows], [False, False, False, False, True])
        self.assertIn("the sparsity 2:4 does not divide the 250 rows", rows[4]["error"])
        self.assertLess(int(rows[1]["cycles"]), int(rows[0]["cycles"]))
        self.assertGreater(int(rows[2]["cycles"]), int(rows[1]["cycles"]))

    def test_attention_runs_fused_and_not_and_reads_back(self):
        # 2 batch items, 3 queries that see 18, 19 and 20 keys, 4 heads of 16 elements; k and v have 2 heads.
        macs = 2 * 2 * 4 * (18 + 19 + 20) * 16
        for device, placement, dtype in MACHINES:
            for fused in ("true", "false"):
                with self.subTest(device=device, placement=placement, fused=fused):
                    self.write("attention.yaml", ATTENTION.replace("FUSED", fused))
                    words = (*INSIDE, "--set", placement)
                    run = self.run_of("run", device, "attention.yaml", *words, "--set", f"workload.dtype={dtype}")
                    self.assertEqual(run["total"]["macs"], macs)
                    width = 2 if dtype == "bf16" else 1
                    added = [m["bytes"] for m in run["total"]["bytes"]["moved"]
                             if (m["from"], m["to"], m["operand"]) == ("scratchpad", "dram", "kv_cache")]
                    self.assertEqual(added, [2 * 2 * 3 * 32 * width])
                    program = self.answer("lower", device, "attention.yaml", *words, "--set",
                                          f"workload.dtype={dtype}")
                    self.assertIn(" masked=", program)
                    self.write("attention.program", program)
                    again = self.run_of("run", device, "--program", "attention.program", *words)
                    self.assertEqual(again["total"], run["total"])

    def test_attention_is_asked_for_with_the_columns_that_all_devices_share(self):
        # A query of 8 heads on a cache of 256 rows of 2 heads of 64 elements: 256 * 2 * 64 * 2 B for keys, as many for
        # values; 8 * 64 * 2 B for the queries and for what comes out. Every query sees all keys.
        self.write("attention.csv", "op,dtype,batch,q_len,kv_len,heads,kv_heads,head_dim,causal,cache\n"
                                    "attention,bf16,1,1,256,8,2,64,true,true\n"
                                    "attention,bf16,1,256,256,8,3,64,true,false\n")
        done = self.run_systole("op", "tpu_v4", "--csv", "attention.csv", "--counters", "macs")
        self.assertEqual(done.returncode, 2)
        good, bad = csv.DictReader(io.StringIO(done.stdout))
        self.assertEqual(good["macs"], str(2 * 8 * 256 * 64))
        self.assertEqual(good["error"], "")
        self.assertIn("3 heads of keys and values do not divide the 8 heads", bad["error"])
        run = self.run_of("op", "tpu_v4", "attention", "q_len=1", "kv_len=256", "heads=8", "kv_heads=2",
                          "head_dim=64", "causal=true", "cache=true", "dtype=bf16")
        self.assertEqual(run["total"]["bytes"]["dram_read"], 2 * 256 * 2 * 64 * 2 + 8 * 64 * 2)
        self.assertEqual(run["total"]["bytes"]["dram_written"], 8 * 64 * 2)
        self.assertIn("attention is two products", self.refusal("explain", "tpu_v4", "attention", "q_len=1",
                                                                "kv_len=8", "head_dim=8", "dtype=bf16"))

    def test_a_network_that_the_memory_does_not_hold_says_what_it_needs(self):
        # 70,553,706,496 parameters and 80 layers x 2 x 16 x 8192 x 8 x 128 elements of cache, of 2 B.
        message = self.refusal("run", "tpu_v4", "llama3_70b", "--set", "workload.batch=16")
        self.assertRegex(message, r"llama3_70b\.yaml: error: the network needs 184\.1 GB of memory: 141\.1 GB weights, "
                                  r"42\.95 GB KV cache, .*activations; tpu_v4's HBM2 has 16 GiB \(17\.18 GB\)")

    def test_random_lookups_cost_more_rows_of_memory_than_even_ones_side_by_side(self):
        # 65,536 rows of 64 B out of 65,536, more than banks hold open: evenly they lie side by side, at random they do not.
        activates = {}
        for spread in ("even", "random"):
            run = self.run_of("op", "tpu_v4", "embedding", "vocabulary=65536", "width=32", "lookups=65536",
                              f"spread={spread}", "dtype=bf16")
            activates[spread] = next(e["count"] for e in run["energy"]["entries"] if e["event"] == "activate")
        self.assertGreater(activates["random"], activates["even"])

    def test_a_need_beyond_all_numbers_is_not_told_as_one(self):
        message = self.refusal("op", "tpu_v4", "conv2d", *"n=1 h=8 w=8 c=4 k=4 r=3 s=3 dilation=1000000000 pad=1000000000".split())
        self.assertIn("two need more than can be counted of placement.input_buffer", message)
        self.assertNotIn("9223372036854775807", message)


if __name__ == "__main__":
    unittest.main()
