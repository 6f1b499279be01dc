# SPDX-License-Identifier: Apache-2.0
"""GPUs as a device of the command line: products of matrices, accounts, and what is refused."""

import json
import re
import unittest

from program import ProgramTest

CLASSES = ["useful", "padding", "ramp", "memory", "on_chip", "dependency", "vector", "host", "launch", "tail"]


class Simt(ProgramTest):
    def total(self, device, shape, *settings):
        words = ["op", device, "matmul", *shape.split(), "--format", "json"]
        for setting in settings:
            words += ["--set", setting]
        return json.loads(self.answer(*words))["devices"][0]["total"]

    def test_every_slot_of_the_tensor_cores_has_one_owner(self):
        for device, macs in (("a100", 108 * 4 * 256), ("h100", 132 * 4 * 512), ("h200", 132 * 4 * 512),
                             ("l40s", 142 * 4 * 128), ("b200", 148 * 4 * 1024)):
            for shape in ("m=4096 n=4096 k=4096", "m=1 n=4096 k=4096", "m=193 n=1000 k=777", "m=64 n=64 k=16384"):
                with self.subTest(device=device, shape=shape):
                    total = self.total(device, shape)
                    slots = total["class_slots"]
                    self.assertEqual(sorted(slots), sorted(CLASSES))
                    self.assertTrue(all(count >= 0 for count in slots.values()))
                    self.assertAlmostEqual(sum(slots.values()) / (macs * total["time_ns"] * 1000), 1, delta=1e-9)

    def test_large_products_come_near_the_peak_and_never_above_it(self):
        for device, peak in (("a100", 311.9), ("h100", 989.4), ("h200", 989.4)):
            time = self.total(device, "m=8192 n=8192 k=8192")["time_ns"]
            tflops = 2 * 8192 ** 3 / time / 1000
            self.assertLess(tflops, peak)
            self.assertGreater(tflops, 0.8 * peak)

    def test_a_product_of_few_rows_is_held_up_by_the_memory(self):
        # 134 MB of weights at 2,039, 3,352 and 4,917 and 864 GB/s: so long at the very least.
        for device, least in (("a100", 65.8), ("h100", 40.0), ("h200", 27.3), ("l40s", 155.3)):
            total = self.total(device, "m=8 n=8192 k=8192")
            self.assertEqual(total["bound_by"], "memory")
            self.assertGreater(total["time_ns"] / 1000, least)
            self.assertLess(total["time_ns"] / 1000, 1.6 * least)

    def test_blackwell_multiplies_in_pairs_of_ctas_and_leaves_sums_in_tensor_memory(self):
        text = self.answer("explain", "b200", "matmul", "m=4096", "n=4096", "k=4096")
        self.assertIn("CTA pairs", text)
        self.assertRegex(text, r"in pairs, \d+ rows together")
        self.assertIn("A tile's sums take 256 of 512 columns", text)
        self.assertIn("brought out while the next is made", text)
        alone = self.answer("explain", "b200", "matmul", "m=8", "n=4096", "k=512")
        self.assertNotIn("CTA pairs", alone.split("Weighed")[0])
        fp8, bf16 = (json.loads(self.answer("op", "b200", "matmul", "m=8192", "n=8192", "k=8192", f"dtype={dtype}",
                                            "--format", "json"))["devices"][0]["total"]["time_ns"]
                     for dtype in ("fp8", "bf16"))
        self.assertGreater(bf16 / fp8, 1.5)
        self.assertLess(2 * 8192 ** 3 / bf16 / 1000, 2383)
        self.assertIn("int4", self.refusal("op", "b200", "matmul", "m=8", "n=8", "k=8", "dtype=int4"))

    def test_half_the_bits_take_about_half_the_time(self):
        bf16 = self.total("a100", "m=8192 n=8192 k=8192")["time_ns"]
        int8 = json.loads(self.answer("op", "a100", "matmul", "m=8192", "n=8192", "k=8192", "dtype=int8", "--format",
                                      "json"))["devices"][0]["total"]["time_ns"]
        self.assertGreater(bf16 / int8, 1.6)
        self.assertLess(bf16 / int8, 2.0)

    def test_weights_that_the_l2_holds_are_read_once(self):
        replay = ["run.launch=graph", "run.repeat=2", "calibrated.replay_gap=0 ns"]  # which copies share
        replay.append("l2.ways=0")  # one set keeps nothing of what is larger than it
        shape = "m=64 n=2048 k=2048"  # 8.4 MB of weights, 42 MB of five copies
        hot = self.total("a100", shape, *replay)
        cold = self.total("a100", shape, *replay, "run.weight_copies=auto")
        self.assertEqual(hot["bytes"]["dram_read"], 0)
        self.assertGreaterEqual(cold["bytes"]["dram_read"], 2048 * 2048 * 2)
        self.assertLess(hot["time_ns"], cold["time_ns"])
        sets = self.total("a100", shape, *replay[:-1], "run.weight_copies=auto")["bytes"]["dram_read"]
        self.assertLess(sets, cold["bytes"]["dram_read"])  # of some sets, all lines are still there
        self.assertGreater(sets, 0.9 * cold["bytes"]["dram_read"])

    def test_a_graph_that_is_replayed_is_a_protocol_with_a_name(self):
        shape = "m=64 n=2048 k=2048"
        named = self.total("h100", shape, "run.protocol=graph_replay")
        self.assertEqual(named, self.total("h100", shape, "run.launch=graph", "run.weight_copies=auto", "run.repeat=2",
                                           "run.warm_turns=3", "run.timed_turns=6"))
        self.assertNotEqual(named, self.total("h100", shape, "run.protocol=graph_replay", "run.weight_copies=1"))
        self.assertIn("did you mean 'graph_replay'", self.refusal("op", "h100", "matmul", "m=8", "n=8", "k=8", "--set",
                                                                  "run.protocol=graph_replays"))

    def test_copies_of_the_weights_of_several_layers_lie_apart(self):
        text = self.answer("lower", "h100", "tpu_v1_mlp0", "--set", "run.weight_copies=3")
        begins = sorted(int(at) for at in re.findall(r"(\d+) \(weights\)", text))
        self.assertEqual(len(begins), 5 * 3)
        for begin, after in zip(begins, begins[1:]):
            self.assertGreaterEqual(after - begin, 2000 * 2000)

    def test_a_launch_adds_its_time(self):
        shape = "m=256 n=256 k=256"
        none, graph, stream = (self.total("h100", shape, f"run.launch={launch}", "memory.refresh=off")["time_ns"]
                               for launch in ("none", "graph", "stream"))
        # To an edge of the core's and of the memory's clocks, at each of which a request may wait.
        self.assertAlmostEqual(graph - none, 870, delta=2)
        self.assertAlmostEqual(stream - none, 2040, delta=2)

    def test_few_constants_were_found_by_measuring_and_each_can_be_taken_away(self):
        shape = "m=64 n=5120 k=5120"  # bound by the memory, whatever the kernel
        replay = ["run.launch=graph", "run.weight_copies=auto", "run.repeat=2"]
        off = {"calibrated.kernel_overhead": "0 ns", "calibrated.replay_gap": "0 ns",
               "calibrated.memory_share": "1", "calibrated.larger_tiles": "0", "calibrated.l2_loads": "0",
               "calibrated.tensor_power": "0 W", "calibrated.burst_power": "0 W"}
        chooses = {"calibrated.larger_tiles", "calibrated.l2_loads"}  # among kernels; the time is another one
        power = {"calibrated.tensor_power", "calibrated.burst_power"}  # test_simt_power.py
        for device, number in {"a100": 4, "h100": 4, "h200": 4, "l40s": 3, "b200": 4, "gb200": 3}.items():
            shown = json.loads(self.answer("show", "device", device, "--format", "json"))
            constants = [value["path"] for value in shown["values"] if value["origin"] == "calibrated"]
            self.assertLessEqual(set(constants), set(off))
            self.assertEqual(len(constants), number, constants)
            self.assertNotIn("calibrated.replay_gap", constants)  # the benchmark's
            own = self.total(device, shape, *replay)["time_ns"]
            for key in set(constants) - chooses - power:
                with self.subTest(device=device, key=key):
                    self.assertLess(self.total(device, shape, *replay, f"{key}={off[key]}")["time_ns"], own)

    def test_a_library_that_prefers_larger_tiles_takes_them_though_fewer_sms_work_in_the_last_wave(self):
        shape = "m=1024 n=8192 k=1024"  # 256 tiles of 256 x 128 for 108 SMs
        own, free = (self.total("a100", shape, f"calibrated.larger_tiles={value}") for value in (2, 0))
        self.assertLess(free["time_ns"], 0.9 * own["time_ns"])
        self.assertGreater(own["classes"]["tail"], free["classes"]["tail"] + 0.1)

    def test_what_still_waits_to_be_written_at_the_end_is_not_of_the_run(self):
        # Its 69 MB of results, and room for 48: some wait for the memory when the last store is answered.
        total = self.total("l40s", "m=2817 n=12288 k=256", "run.protocol=graph_replay", "l2.dirty=48 MiB")
        results = 2 * 2817 * 12288
        self.assertLess(total["bytes"]["dram_written"], results)
        self.assertGreater(total["bytes"]["dram_written"], 0.95 * results)

    def test_what_is_written_back_belongs_to_the_layer_in_whose_time_it_is(self):
        two = """trace: two
inputs:
  x: {shape: [2817, 256], dtype: bf16}
layers:
  - {name: wide, op: matmul, n: 12288}
  - {name: deep, op: matmul, n: 256}
outputs: [deep]
"""
        one = two.replace("  - {name: deep, op: matmul, n: 256}\n", "").replace("[deep]", "[wide]")
        written = []
        for trace in (one, two):
            self.write("layers.yaml", trace)
            words = ["run", "l40s", "layers.yaml", "--format", "json", "--set", "run.inputs_at=dram", "--set",
                     "run.outputs_to=dram", "--set", "l2.dirty=48 MiB"]
            layers = json.loads(self.answer(*words))["devices"][0]["layers"]
            written.append([layer["bytes"]["dram_written"] for layer in layers])
        # Between the layers, until the second asks for something, the memory can write less than a microsecond's bytes.
        self.assertGreaterEqual(written[1][0], written[0][0])
        self.assertLess(written[1][0], written[0][0] + 813_200)
        self.assertGreater(written[1][1], 2817 * 256 * 2)  # more than its own results: what waited

    def test_persistent_ctas_hide_the_start_of_all_tiles_but_the_first(self):
        shape = "m=4096 n=16384 k=256"
        own, apart = (self.total("h100", shape, f"kernels.persistent={value}", "calibrated.kernel_overhead=0 ns")
                      for value in ("true", "false"))
        self.assertLess(own["time_ns"], 0.9 * apart["time_ns"])
        self.assertLess(own["classes"]["launch"], 0.5 * apart["classes"]["launch"])
        self.assertEqual(own["macs"], apart["macs"])
        line = "CTAs of later waves are tiles of the first ones (persistent)"
        self.assertIn(line, self.answer("explain", "h100", "matmul", *shape.split()))
        self.assertNotIn(line, self.answer("explain", "h100", "matmul", "m=512", "n=512", "k=512"))
        self.assertNotIn(line, self.answer("explain", "a100", "matmul", *shape.split()))

    def test_a_product_is_explained_with_its_grid_and_what_else_was_weighed(self):
        for device, sms, shape in (("h100", 132, (1280, 2048, 6144)), ("a100", 108, (64, 64, 16384)), ("h100", 132, (7, 4096, 512))):
            with self.subTest(device=device, shape=shape):
                m, n, k = shape
                words = [f"m={m}", f"n={n}", f"k={k}"]
                text = self.answer("explain", device, "matmul", *words)
                tile = re.search(r"Kernel: (\d+)x(\d+)x(\d+), \d+ stages(?:, cluster \dx\d)?(?:, split (\d+))?", text)
                rows, columns, depth, parts = (int(part or 1) for part in tile.groups())
                if "transpose" in text.splitlines()[1]:
                    m, n = n, m
                ctas = -(-m // rows) * -(-n // columns) * parts
                grid = re.search(r"= ([\d,]+) CTAs; an SM holds (\d+), so ([\d.]+) waves", text)
                self.assertEqual(int(grid.group(1).replace(",", "")), ctas)
                self.assertAlmostEqual(float(grid.group(3)), ctas / sms / int(grid.group(2)), delta=0.006)
                self.assertIn(f"{-(-(-(-k // depth)) // parts)} steps of {depth} along K", text)
                self.assertIn("At peak rates: ", text)
                self.assertIn("Weighed by estimate", text)
                total = json.loads(self.answer("op", device, "matmul", *words, "--format", "json"))["devices"][0]["total"]
                self.assertIn(f"Bound by {total['bound_by']}", text)

    def test_shares_of_tiles_are_explained_and_no_slower_than_estimated(self):
        words = ["h100", "matmul", "m=1408", "n=1280", "k=4096", "--set", "kernels.stream_k=always"]
        text = self.answer("explain", *words)
        rows, columns = map(int, re.search(r"Kernel: (\d+)x(\d+)x\d+, \d+ stages, stream-K\n", text).groups())
        tiles = -(-1408 // rows) * -(-1280 // columns)
        shares = re.search(r"Grid: \d+ x \d+ tiles, (\d+) of them as (\d+) shares = ([\d,]+) CTAs", text)
        shared, streams, ctas = (int(number.replace(",", "")) for number in shares.groups())
        self.assertEqual(ctas, tiles - shared + streams)
        self.assertGreater(streams, shared)
        self.assertIn(f"Stream-K: {streams} CTAs share the steps along K of the last {shared} tiles;", text)
        # A once for each column of tiles, B for each row, 5,750 bytes a cycle of 1980 MHz.
        elements = 4096 * (1408 * -(-1280 // columns) + 1280 * -(-1408 // rows))
        loads = elements * 2 / 5750 / 1980
        said = float(re.search(r"([\d.]+) us for what all CTAs load", text).group(1))
        self.assertAlmostEqual(said, loads, delta=0.01)
        estimate = float(re.search(r"estimate for this kernel: ([\d.]+) us", text).group(1))
        total = json.loads(self.answer("op", *words, "--format", "json"))["devices"][0]["total"]
        self.assertGreater(total["time_ns"], 1000 * loads)
        self.assertLess(total["time_ns"], 1100 * estimate)
        self.assertIn("kernels.stream_k: SMs in warps (sm.engine) run no shared tiles, expected never",
                      self.refusal("op", *words, "--set", "sm.engine=warps"))

    def test_a_product_of_one_row_is_explained_as_what_fp32_pipes_do(self):
        for words in (["m=1", "n=4096"], ["m=4096", "n=1"]):
            text = self.answer("explain", "a100", "matmul", *words, "k=4096")
            self.assertIn("Kernel: gemv 8x512, 4 loads\n", text)  # half a warp of 4 x 128 elements for each of 8 results
            self.assertEqual("computed as its transpose" in text, words[1] == "n=1")
            self.assertIn("= 512 CTAs; an SM holds 8, so 0.59 waves", text)  # of 108 x 8 places
            self.assertIn("  8 steps of 512 along K, 1 asked for ahead\n", text)
            self.assertIn("on FP32 pipes", text)
            # 4096 x 4096 of 2 bytes, and the vector once for each CTA; it is in the L2 then.
            self.assertIn("The L2 gave 37.75 MB, 11.1 % without the memory", text)
            self.assertIn("Bound by memory", text)

    def test_clusters_take_sms_of_one_gpc_and_leave_the_others_in_the_tail(self):
        words = ["m=4096", "n=4096", "k=4096", "--set"]
        own = self.answer("explain", "h100", "matmul", *words, "run.repeat=1")
        self.assertIn("CTAs, each on SMs of one GPC, can take 132 of 132 SMs.", own)
        # GPCs of 33 SMs: 16 pairs in each.
        odd = self.answer("explain", "h100", "matmul", *words, "sm.gpcs=33")
        self.assertIn("can take 128 of 132 SMs; 4 stay without work.", odd)
        device = json.loads(self.answer("op", "h100", "matmul", *words, "sm.gpcs=33", "--format", "json"))["devices"][0]
        used = [stat["value"] for stat in device["stats"] if stat["name"] == "sms_used"]
        self.assertEqual(used, [128])
        self.assertGreater(device["total"]["classes"]["tail"], 0.95 * 4 / 132)
        # None has two SMs.
        alone = self.answer("explain", "h100", "matmul", *words, "sm.gpcs=1")
        self.assertNotIn("cluster", alone.lower())

    def test_pages_that_tlbs_do_not_know_are_counted(self):
        def misses(device, repeat, *settings):
            words = ["op", device, "matmul", "m=8", "n=8192", "k=8192", "--format", "json", "--set", f"run.repeat={repeat}"]
            for setting in settings:
                words += ["--set", setting]
            stats = json.loads(self.answer(*words))["devices"][0]["stats"]
            return next(stat["value"] for stat in stats if stat["path"] == f"{device}.mmu" and stat["name"] == "misses")

        # 134 MB of weights in pages of 2 MiB, and a few of the other matrices: once for each of eight GPCs at most.
        once = misses("h100", 1)
        self.assertGreaterEqual(once, 64)
        self.assertLessEqual(once, 8 * (64 + 4))
        self.assertEqual(misses("h100", 3), once)
        # An A100's reach is 16 of them.
        once = misses("a100", 1)
        self.assertGreater(misses("a100", 3), 2 * once)
        self.assertEqual(misses("a100", 1, "tlb.reach=0 B"), 0)

    def test_what_the_l2_gave_is_explained_for_the_turn_that_is_reported(self):
        # 8.4 MB of weights and 0.3 MB of A, which the L2 keeps from turn to turn.
        words = ["explain", "h100", "matmul", "m=64", "n=2048", "k=2048", "--set"]
        line = r"The L2 gave ([\d.]+ \wB), ([\d.]+) % without the memory; ([\d.]+ \w?B) read from it"
        once = re.search(line, self.answer(*words, "run.repeat=1")).groups()
        warm = re.search(line, self.answer(*words, "run.repeat=3", "--set", "l2.ways=0")).groups()
        self.assertEqual(warm[0], once[0])
        self.assertLess(float(once[1]), 80)
        self.assertEqual(warm[1:], ("100.0", "0 B"))

    def test_the_same_question_has_the_same_answer_byte_for_byte(self):
        words = ["op", "h100", "matmul", "m=500", "n=3000", "k=1000", "--format", "json"]
        self.assertEqual(self.answer(*words), self.answer(*words))

    MLP = """trace: mlp
params: {m: 512, n: 1024, h: 4096, dtype: bf16}
inputs:
  x: {shape: [m, n], dtype: dtype}
layers:
  - {name: up, op: matmul, in: x, n: h, bias: true, activation: FUNCTION}
  - {name: down, op: matmul, n: n, bias: true}
  - {name: residual, op: elementwise, kind: add, in: [down, x]}
outputs: [residual]
"""

    def mlp(self, device, function, *settings):
        self.write("mlp.yaml", self.MLP.replace("FUNCTION", function))
        words = ["run", device, "mlp.yaml", "--format", "json", "--set", "run.inputs_at=dram", "--set",
                 "run.outputs_to=dram"]
        for setting in settings:
            words += ["--set", setting]
        return json.loads(self.answer(*words))["devices"][0]

    def test_bias_function_and_residual_are_read_and_computed_before_results_are_stored(self):
        for device in ("a100", "h100"):
            with self.subTest(device=device):
                result = self.mlp(device, "gelu", "workload.m=4096")
                up, down = result["layers"]
                self.assertEqual([up["op"], down["op"]], ["matmul", "matmul + add"])
                self.assertIn("bias, gelu,", up["mapping"])
                self.assertIn("bias, add,", down["mapping"])
                m, n, h = 4096, 1024, 4096
                self.assertEqual(up["bytes"]["compulsory_dram"], 2 * (m * n + n * h + m * h) + 4 * h)
                self.assertEqual(down["bytes"]["compulsory_dram"], 2 * (m * h + h * n + 2 * m * n) + 4 * n)
                # What is joined passes to the SMs once, on top of the product's own operands.
                tile_n = int(re.match(r"\d+x(\d+)x", down["mapping"]).group(1))
                cluster = re.search(r"cluster (\d+)x(\d+)", down["mapping"])
                share = int(cluster.group(2)) if cluster else 1
                activations = sum(cell["bytes"] for cell in down["bytes"]["moved"] if cell["from"] == "l2" and
                                  cell["to"] == "shared_memory" and cell["operand"] == "activations")
                self.assertEqual(activations, 2 * m * h * n // (tile_n * share) + 2 * m * n)

    def test_functions_of_results_cost_what_their_pipelines_take(self):
        for device in ("a100", "h100"):
            with self.subTest(device=device):
                none, relu, gelu, mish = (self.mlp(device, function, "workload.m=4096")["layers"][0]["time_ns"]
                                          for function in ("none", "relu", "gelu", "mish"))
                self.assertLessEqual(none, relu)
                # Bulk stores leave meanwhile: what takes less than they do is hidden.
                (self.assertLess if device == "a100" else self.assertLessEqual)(relu, gelu)
                self.assertLess(gelu, mish)
                self.assertLess(mish, 2 * none)

    def test_a_residual_joins_the_kernel_that_adds_parts(self):
        result = self.mlp("a100", "relu", "workload.m=128")
        down = result["layers"][1]
        self.assertRegex(down["mapping"], r"split \d+, bias, add")
        activations = {cell["from"]: cell["bytes"] for cell in down["bytes"]["moved"]
                       if cell["operand"] == "activations" and cell["to"] == "shared_memory"}
        # Once for each column of tiles; of the transpose, these are rows.
        tile = map(int, re.match(r"(\d+)x(\d+)x", down["mapping"]).groups())
        self.assertIn(activations["l2"], [2 * 128 * 4096 * 1024 // side + 2 * 128 * 1024 for side in tile])

    def test_every_sm_in_warps_gives_nearly_the_same_answer(self):
        steps, warps = (self.mlp("a100", "gelu", "workload.m=128", "sm.engine=" + engine)
                        for engine in ("steps", "warps"))
        self.assertNotEqual(steps["total"]["time_ns"], warps["total"]["time_ns"])
        for layer, twin in zip(steps["layers"], warps["layers"]):
            self.assertEqual(layer["mapping"], twin["mapping"])
            # What the L2 writes back on the way depends on when the memory has time for it.
            of_sms, of_twin = ([cell for cell in row["bytes"]["moved"] if "shared_memory" in (cell["from"], cell["to"])]
                               for row in (layer, twin))
            self.assertTrue(of_sms)
            self.assertEqual(of_sms, of_twin)
            self.assertAlmostEqual(layer["time_ns"] / twin["time_ns"], 1, delta=0.2)
        error = self.refusal("op", "a100", "matmul", "m=1", "n=1", "k=1", "--set", "sm.engine=grid")
        self.assertIn("sm.engine: 'grid' is not one of steps, warps", error)

    def test_copies_of_weights_have_a_bias_of_their_own(self):
        self.write("mlp.yaml", self.MLP.replace("FUNCTION", "relu"))
        text = self.answer("lower", "a100", "mlp.yaml", "--set", "run.weight_copies=2")
        self.assertEqual(len(set(re.findall(r"bias at (\d+)", text))), 4)

    def test_elementwise_work_that_joins_no_product_is_a_kernel_of_its_own(self):
        trace = self.MLP.replace("FUNCTION", "relu").replace("outputs: [residual]", "outputs: [residual, down]")
        self.write("mlp.yaml", trace)
        layers = json.loads(self.answer("run", "a100", "mlp.yaml", "--format", "json"))["devices"][0]["layers"]
        row = next(row for row in layers if row["name"] == "residual")
        self.assertEqual(row["op"], "elementwise")
        self.assertGreater(row["class_slots"]["vector"], 0)
        self.assertEqual(row["class_slots"]["useful"], 0)
        self.assertIn("elementwise, 128 threads x 4", self.answer("lower", "a100", "mlp.yaml"))

    def test_a_table_of_products_is_answered_row_by_row(self):
        self.write("rows.csv", "op,dtype,m,n,k\nmatmul,bf16,128,128,128\nmatmul,int8,64,64,64\n")
        lines = self.answer("op", "a100", "--csv", "rows.csv").splitlines()
        self.assertEqual(len(lines), 3)
        self.assertTrue(lines[0].endswith("bound_by,fidelity,error"))

    def test_what_it_does_not_run_is_refused_in_a_line(self):
        self.assertIn("resize is not run yet",
                      self.refusal("op", "a100", "resize", *"kind=nearest n=1 h=8 w=8 c=8 out_h=16 out_w=16".split()))
        self.write("volume.yaml", "trace: volume\ninputs:\n  x: {shape: [1, 4, 8, 8, 16], dtype: bf16}\nlayers:\n"
                   "  - {name: y, op: conv3d, in: x, filters: 8, kernel: 3, pad: 1}\noutputs: [y]\n")
        self.assertIn("'y': conv3d is not run yet", self.refusal("run", "a100", "volume.yaml"))
        self.assertIn("conv2d with sparse weights is not run yet",
                      self.refusal("op", "h100", "conv2d", *"n=1 h=8 w=8 c=8 k=8 r=3 s=3 sparsity=2:4".split()))
        self.assertIn("fp8", self.refusal("op", "a100", "matmul", "m=8", "n=8", "k=8", "dtype=fp8"))
        self.assertIn("matmul with sparse weights is not run yet",
                      self.refusal("op", "h100", "matmul", "m=8", "n=8", "k=8", "sparsity=2:4"))
        self.assertIn("whose weights have scales of groups is not run yet by devices of kind simt; 'fused: false' runs it as two layers",
                      self.refusal("op", "h100", "matmul", "m=8", "n=8", "k=8", "dtype_b=int4", "scales=group", "group=4"))
        self.assertIn("matmul with inputs of bf16 and weights of fp8 is not run yet by devices of kind simt; expected one format of both",
                      self.refusal("op", "h100", "matmul", "m=8", "n=8", "k=8", "dtype_b=fp8", "scales=channel"))
        self.assertIn("int4", self.refusal("op", "h200", "matmul", "m=8", "n=8", "k=8", "dtype=int4"))
        self.assertIn("memory", self.refusal("op", "l4", "matmul", "m=70000", "n=70000", "k=70000"))
        self.assertIn("memory", self.refusal("op", "a100", "matmul", "m=200000", "n=200000", "k=200000"))

    def test_impossible_machines_are_refused_with_the_key(self):
        self.assertIn("sm.warps", self.refusal("op", "a100", "matmul", "m=8", "n=8", "k=8", "--set", "sm.warps=0"))
        self.refusal("op", "a100", "matmul", "m=8", "n=8", "k=8", "--set", "sm.shared.capacity=1 KiB")
        self.assertIn("no kernel for bf16 fits an SM of h100: sm.registers_of_thread is 40",
                      self.refusal("op", "h100", "matmul", "m=8", "n=8", "k=8", "--set", "sm.registers_of_thread=40"))


if __name__ == "__main__":
    unittest.main()
