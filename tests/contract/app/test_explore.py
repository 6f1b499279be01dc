# SPDX-License-Identifier: Apache-2.0
"""systole explore: every number of a page against formulas written down here, against the waveform and against the
run's result."""

import itertools
import json
import os
import random
import unittest

from explorer_page import Recording, read_page, unpacked
from program import DEVICE, TRACE, ProgramTest
from test_wave import activation, weight
from vcd import Vcd

MATMUL = ("matmul", "m=6", "n=4", "k=4", "dtype=int8")
SEED = int(os.environ.get("SYSTOLE_SEED", "11"))


class Explore(ProgramTest):
    def page(self, *words, output="page.html"):
        done = self.run_systole("explore", *words, "-o", output)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "")
        return read_page(self.read(output).decode())

    def recordings(self, *words):
        return [Recording(panel) for panel in self.page(*words)["panels"]]


def operands(block, row, col, vector):
    """By hand, which elements PE (row, col) multiplies for the vector-th vector of a block: m, n and k, and whether they
    lie in the block. What stays: weights k x n (ws), inputs k x m (is), outputs m x n (os)."""
    m, n, k = {"ws": (vector, col, row), "is": (col, vector, row), "os": (row, col, vector)}[block["dataflow"]]
    inside = m < block["m"] and n < block["n"] and k < block["k"]
    return block["m0"] + m, block["n0"] + n, block["k0"] + k, inside


def expected_sum(block, row, col, vector, before):
    """What PE (row, col) holds then: the products of the rows above and its own (ws, is), or all of the tile so far."""
    total = before if block["dataflow"] == "os" else 0
    steps = [(row, vector)] if block["dataflow"] == "os" else [(above, vector) for above in range(row + 1)]
    for at_row, at_vector in steps:
        m, n, k, inside = operands(block, at_row, col, at_vector)
        total += activation(m, k) * weight(k, n) if inside else 0
    return total


def vectors(block):
    return block[{"ws": "m", "is": "n", "os": "k"}[block["dataflow"]]]


class SkewByHand(Explore):
    """A slow twin: PE (r, c) multiplies what PE (0, 0) is fed, r + c clocks later, and nothing else."""

    def check(self, recording):
        cycles = recording.panel["cycles"]
        fed = [clock for clock in range(cycles) if recording.multiplies(clock, 0, 0)]
        stream = [(block, vector) for block in recording.passes for vector in range(vectors(block))]
        self.assertEqual(len(fed), len(stream))
        for row, col in itertools.product(range(recording.rows), range(recording.cols)):
            busy = dict(zip((clock + row + col for clock in fed), stream))
            before = 0
            for clock in range(cycles):
                place = f"PE({row}, {col}) in clock {clock}"
                if clock not in busy:
                    self.assertEqual(recording.multiplies(clock, row, col), 0, place)
                    continue
                block, vector = busy[clock]
                if vector == 0 and block["k0"] == 0:
                    before = 0
                m, n, k, inside = operands(block, row, col, vector)
                self.assertEqual(recording.multiplies(clock, row, col), 2 if self.real(block, row, col) else 1, place)
                left, other = (weight(k, n), activation(m, k)) if block["dataflow"] == "is" else (activation(m, k), weight(k, n))
                if inside:
                    self.assertEqual(recording.at("moving", clock, row, col), left, place)
                    self.assertEqual(recording.at("stationary", clock, row, col), other, place)
                before = expected_sum(block, row, col, vector, before)
                self.assertEqual(recording.at("sum", clock, row, col), before, place)

    @staticmethod
    def real(block, row, col):
        """Inside the tile that stays: k x n, k x m or m x n."""
        rows, cols = {"ws": ("k", "n"), "is": ("k", "m"), "os": ("m", "n")}[block["dataflow"]]
        return row < block[rows] and col < block[cols]

    def check_blocks(self, recording, m, n, k):
        """The blocks of all passes are the whole product, each part of it once."""
        done = [point for block in recording.passes
                for point in itertools.product(*(range(block[first], block[first] + block[extent])
                                                 for first, extent in (("m0", "m"), ("n0", "n"), ("k0", "k"))))]
        self.assertEqual(sorted(done), sorted(itertools.product(range(m), range(n), range(k))))

    def test_random_products_in_every_dataflow(self):
        chance = random.Random(SEED)
        for _ in range(6):
            m, n, k, rows, cols = (chance.randint(1, most) for most in (9, 7, 9, 5, 5))
            shadow = chance.choice(("on", "off"))
            words = ("matmul", f"m={m}", f"n={n}", f"k={k}", "dtype=int8", "--set", f"mxu.rows={rows}", "--set",
                     f"mxu.cols={cols}", "--set", f"mxu.shadow_register={shadow}")
            recordings = self.recordings(DEVICE, *words)
            self.assertEqual([r.passes[0]["dataflow"] for r in recordings], ["ws", "os", "is"])
            for recording in recordings:
                with self.subTest(words=words, dataflow=recording.passes[0]["dataflow"]):
                    self.check_blocks(recording, m, n, k)
                    self.check(recording)

    def test_accumulators_end_with_the_product(self):
        for recording in self.recordings(DEVICE, "matmul", "m=3", "n=4", "k=8", "dtype=int8"):
            turned = recording.passes[0]["dataflow"] == "is"
            for m, n in itertools.product(range(3), range(4)):
                value = recording.accumulator(recording.panel["cycles"], *((n, m) if turned else (m, n)))
                self.assertEqual(value, sum(activation(m, k) * weight(k, n) for k in range(8)))


    def test_every_sum_that_leaves_is_a_write_even_of_nothing_onto_nothing(self):
        for recording in self.recordings(DEVICE, *MATMUL):
            left = [(clock, col) for clock in recording.frames for col in range(4) if recording.column("leaves", clock, col)]
            held = recording.accumulators
            self.assertEqual(sorted(left), sorted(zip(held["clock"], held["col"])), "an accumulator's latency is one clock")
            self.assertIn(0, held["value"])


class AgainstTheWaveform(Explore):
    """The same run through systole wave and its own parser."""

    def compare(self, words):
        recording = self.recordings(DEVICE, *words)[0]
        done = self.run_systole("wave", DEVICE, *words, "-o", "wave.vcd")
        self.assertEqual(done.returncode, 0, done.stderr)
        vcd = Vcd(self.read("wave.vcd").decode())
        clocks = range(recording.frames[0], recording.panel["cycles"])
        sampled = lambda path: vcd.sampled(f"{DEVICE}.mxu0.{path}", [1000 * clock for clock in clocks])
        for row, col in itertools.product(range(recording.rows), range(recording.cols)):
            for name in recording.registers:
                if name == "work":
                    valid, real = sampled(f"pe_{row}_{col}.valid"), sampled(f"pe_{row}_{col}.real")
                    self.assertEqual([recording.multiplies(clock, row, col) for clock in clocks],
                                     [(2 if r else 1) if v else 0 for v, r in zip(valid, real)])
                else:
                    self.assertEqual([recording.at(name, clock, row, col) for clock in clocks],
                                     sampled(f"pe_{row}_{col}.{name}"), f"PE({row}, {col}).{name}")
        for col in range(recording.cols):
            for name, path in (("leaving", "bottom.col"), ("leaves", "bottom.valid"), ("shifting", "shift.col")):
                self.assertEqual([recording.column(name, clock, col) for clock in clocks], sampled(f"{path}_{col}"), path)
        for path in vcd.signals:
            if ".acc_" in path:
                row, col = (int(part.split("_")[1]) for part in path.split(".")[-2:])
                self.assertEqual([recording.accumulator(clock, row, col) for clock in clocks],
                                 vcd.sampled(path, [1000 * clock for clock in clocks]), path)
        writes = [(clock, row, col) for clock in clocks for col in range(recording.cols)
                  if (row := vcd.at(f"{DEVICE}.mxu0.written.col_{col}", 1000 * clock)) is not None]
        held = recording.accumulators
        self.assertEqual(sorted(zip(held["clock"], held["row"], held["col"])), sorted(writes))

    def test_every_register_of_a_product_is_the_waveforms_in_every_clock(self):
        for dataflow in ("ws", "os", "is"):
            self.compare((*MATMUL, "--set", f"mxu.dataflow={dataflow}"))

    def test_every_register_of_a_network_is_the_waveforms_in_every_clock(self):
        self.compare((TRACE, "--set", "mxu.dataflow=ws"))


class AgainstTheResult(Explore):
    def check(self, recording, cycles, utilization):
        panel = recording.panel
        self.assertEqual(panel["cycles"], cycles)
        self.assertEqual(panel["end"], cycles, "the last clock is the last cycle")
        for counts in recording.clocks.values():
            self.assertEqual(len(counts), cycles)
        pes = recording.rows * recording.cols
        useful, padding = sum(recording.clocks["useful"]), sum(recording.clocks["padding"])
        # A run may end within its last clock, when its outputs are in the host's memory.
        length = panel["result"]["time_ns"] * panel["clock_hz"] / 1e9
        self.assertTrue(cycles - 1 < length <= cycles)
        self.assertAlmostEqual(useful / (pes * length), utilization, places=12)
        self.assertAlmostEqual(useful / (pes * length), panel["result"]["utilization"], places=12)
        self.assertAlmostEqual(padding / (pes * length), panel["result"]["classes"]["padding"], places=12)
        ends = [stretch["end"] for stretch in panel["account"]]
        self.assertEqual(ends, sorted(ends))
        self.assertAlmostEqual(ends[-1], length, places=6)
        waits = {name: 0 for name in panel["result"]["classes"]}
        for begin, stretch in zip([0] + ends, panel["account"]):
            waits[stretch["class"]] += (stretch["end"] - begin) / length
        for name in ("ramp", "host", "memory", "dependency", "vector", "launch", "tail"):
            self.assertAlmostEqual(waits[name], panel["result"]["classes"][name], places=9, msg=name)
        for clock in range(cycles):
            work = [recording.multiplies(clock, row, col) for row in range(recording.rows) for col in range(recording.cols)]
            self.assertEqual((work.count(2), work.count(1)),
                             (recording.clocks["useful"][clock], recording.clocks["padding"][clock]))
            moves = any(work) or any(recording.column(name, clock, col) and clock in recording.frames
                                     for name in ("shifting", "leaves") for col in range(recording.cols))
            ramp = pes - len(work) + work.count(0) if moves else 0
            self.assertEqual(recording.clocks["ramp"][clock], ramp, clock)

    def test_counters_of_an_operator_end_in_its_utilization(self):
        for recording in self.recordings(DEVICE, "matmul", "m=7", "n=5", "k=9", "dtype=int8"):
            dataflow = recording.passes[0]["dataflow"]
            answer = json.loads(self.answer("op", DEVICE, "matmul", "m=7", "n=5", "k=9", "dtype=int8", "--format", "json",
                                            "--set", f"mxu.dataflow={dataflow}"))["devices"][0]["total"]
            self.check(recording, answer["cycles"], answer["utilization"])

    def test_counters_of_a_network_end_in_its_utilization(self):
        for recording in self.recordings(DEVICE, TRACE):
            dataflow = recording.passes[0]["dataflow"]
            answer = json.loads(self.answer("run", DEVICE, TRACE, "--format", "json", "--set",
                                            f"mxu.dataflow={dataflow}"))["devices"][0]["total"]
            self.check(recording, answer["cycles"], answer["utilization"])


class Windows(Explore):
    def test_a_window_holds_the_same_registers_and_counts_from_the_begin_on(self):
        words = (DEVICE, TRACE, "--dataflow", "ws")
        whole, = self.recordings(*words)
        first, end = whole.passes[1]["clock"] + 3, whole.passes[1]["clock"] + 40
        part, = self.recordings(*words, "--cycles", f"{first}:{end}")
        self.assertEqual((part.panel["first"], part.panel["end"]), (first, end))
        self.assertGreaterEqual(part.frames[0], first)
        for clock in range(first, end):
            for name in part.registers:
                for row, col in itertools.product(range(part.rows), range(part.cols)):
                    self.assertEqual(part.at(name, clock, row, col), whole.at(name, clock, row, col), (name, clock))
        for name, counts in part.clocks.items():
            self.assertEqual(counts, whole.clocks[name][:end])
        multiplied = [sum(whole.multiplies(clock, row, col) != 0 for clock in range(first))
                      for row, col in itertools.product(range(part.rows), range(part.cols))]
        self.assertEqual(unpacked(part.panel["vectors_before"]), multiplied)


class Products(Explore):
    def test_fused_attention_names_its_two_products_and_whose_they_are(self):
        words = ("attention", "batch=2", "q_len=4", "kv_len=6", "heads=2", "head_dim=4")
        panel, = self.page(DEVICE, *words, "--dataflow", "ws")["panels"]
        covered = {}
        for block in panel["passes"]:
            whose = block["product"], block["batch"], block["head"]
            covered.setdefault(whose, []).extend(itertools.product(*(range(block[first], block[first] + block[extent])
                                                                     for first, extent in (("m0", "m"), ("n0", "n"), ("k0", "k")))))
            self.assertEqual(block["block"], 0)
        self.assertEqual(set(covered), set(itertools.product(("scores", "context"), (0, 1), (0, 1))))
        for (product, _, _), points in covered.items():
            n, k = (6, 4) if product == "scores" else (4, 6)
            self.assertEqual(sorted(points), sorted(itertools.product(range(4), range(n), range(k))), product)
        self.assertNotIn("product", self.page(DEVICE, *MATMUL, "--dataflow", "ws")["panels"][0]["passes"][0])

    def test_an_operator_without_a_product_has_one_panel_and_says_why(self):
        page = self.page(DEVICE, "softmax", "rows=4", "cols=4")
        self.assertEqual([(panel["title"], panel["passes"]) for panel in page["panels"]], [("Without a product", [])])
        self.assertEqual(len(page["left_out"]), 1)
        self.assertIn("nothing is multiplied", page["left_out"][0])

    def test_what_stays_is_said_where_no_pass_says_it(self):
        for dataflow in ("ws", "os", "is"):
            page = self.page(DEVICE, *MATMUL, "--dataflow", dataflow, "--cycles", "0:2")
            self.assertEqual([(panel["dataflow"], panel["passes"]) for panel in page["panels"]], [(dataflow, [])])

    def test_passes_that_keep_their_tile_say_so(self):
        # m is cut in two; weights stay for both parts, inputs and outputs do not.
        panels = self.page(DEVICE, *MATMUL)["panels"]
        self.assertEqual([[block["new_tile"] for block in panel["passes"]] for panel in panels],
                         [[True, False], [True, True], [True, True]])


class Pages(Explore):
    def test_the_same_question_gives_the_same_bytes_and_tells_nothing_of_this_machine(self):
        self.page(DEVICE, *MATMUL, output="one.html")
        os.makedirs(self.directory / "elsewhere")
        self.page(DEVICE, *MATMUL, output=str(self.directory / "elsewhere" / "two.html"))
        one = self.read("one.html")
        self.assertEqual(one, self.read("elsewhere/two.html"))
        self.assertNotIn(os.fsencode(self.directory), one)
        self.assertEqual(self.files(), ["elsewhere", "elsewhere/two.html", "one.html"])

    def test_the_command_on_the_page_makes_the_page_again(self):
        page = self.page(DEVICE, *MATMUL, "--dataflow", "os,ws", "--set", "mxu.rows=3")
        self.assertEqual(page["command"], "systole explore teaching_4x4 matmul m=6 n=4 k=4 dtype=int8 --dataflow os,ws "
                                          "--set mxu.rows=3 -o explorer.html")
        self.assertEqual([panel["title"] for panel in page["panels"]], ["Output stationary", "Weight stationary"])
        self.assertEqual(self.page(*page["command"].split()[2:-2]), page)

    def test_a_dataflow_that_is_set_is_the_only_one(self):
        page = self.page(DEVICE, *MATMUL, "--set", "mxu.dataflow=is")
        self.assertEqual([panel["passes"][0]["dataflow"] for panel in page["panels"]], ["is"])

    def test_dataflows_that_the_device_cannot_have_are_told(self):
        page = self.page(DEVICE, *MATMUL, "--set", "mxu.weight_source=dram", "--set", "mxu.weight_fifo_tiles=2")
        self.assertEqual([panel["passes"][0]["dataflow"] for panel in page["panels"]], ["ws"])
        self.assertEqual([text.split()[0] for text in page["left_out"]], ["os", "is"])
        self.assertIn("weight_source", page["left_out"][0])
        self.assertIn("weight_source", self.refusal("explore", DEVICE, *MATMUL, "--set", "mxu.weight_source=dram",
                                                    "--dataflow", "ws,os", "-o", "other.html"))

    def test_hostile_names_stay_text(self):
        name = "</script><img src=x onerror=alert(1)><!--"
        lesson = self.write("own.yaml", json.dumps({
            "lesson": name, "summary": name, "look_at": name, "question": name, "answer": name,
            "runs": [{"title": name, "device": DEVICE, "operator": {"op": "matmul", "m": 2, "n": 2, "k": 2}}]}))
        page = self.page("--lesson", lesson)
        html = self.read("page.html").decode()
        self.assertNotIn("<img", html)
        self.assertEqual(html.count("</script>"), html.count("<script"))
        self.assertEqual([page["title"], page["lesson"]["answer"], page["panels"][0]["title"]], [name] * 3)


class BadInput(Explore):
    def refused(self, *words):
        return self.refusal("explore", *words, "-o", "page.html")

    def test_a_place_is_needed_and_must_be_a_page(self):
        self.assertIn("missing -o FILE", self.refusal("explore", DEVICE, *MATMUL))
        self.assertIn("end it with .html", self.refusal("explore", DEVICE, *MATMUL, "-o", "page.vcd"))
        self.assertIn("nowhere", self.refusal("explore", DEVICE, *MATMUL, "-o", "nowhere/page.html"))

    def test_unknown_dataflows(self):
        self.assertIn("'row'", self.refused(DEVICE, *MATMUL, "--dataflow", "row"))
        self.assertIn("twice", self.refused(DEVICE, *MATMUL, "--dataflow", "ws,ws"))
        self.assertIn("''", self.refused(DEVICE, *MATMUL, "--dataflow", "ws,"))
        self.assertIn("leave one out", self.refused(DEVICE, *MATMUL, "--dataflow", "ws", "--set", "mxu.dataflow=ws"))

    def test_a_gpu_has_no_systolic_array(self):
        message = self.refused("a100", "matmul", "m=16", "n=16", "k=16")
        self.assertIn("a100", message)
        self.assertIn("systolic", message)
        self.assertIn("tensor_core", message)

    def test_arrays_and_runs_that_are_too_large_say_what_fits(self):
        self.assertIn("mxu.rows=4", self.refused("tpu_v4", "matmul", "m=8", "n=8", "k=8"))
        self.assertIn("--cycles 0:65536", self.refused(DEVICE, "matmul", "m=600", "n=400", "k=40"))
        large = ("matmul", "m=900", "n=32", "k=64", "--set", "mxu.rows=16", "--set", "mxu.cols=16")
        message = self.refused(DEVICE, *large)
        window = message.split("--cycles ")[1].split(",")[0]
        self.page(DEVICE, *large, "--dataflow", "ws", "--cycles", window)

    def test_windows_beyond_the_run(self):
        self.assertIn("at most 0:", self.refused(DEVICE, *MATMUL, "--cycles", "0:100000"))
        self.assertIn("FROM:TO", self.refused(DEVICE, *MATMUL, "--cycles", "7"))
        self.assertIn("empty", self.refused(DEVICE, *MATMUL, "--cycles", "7:7"))


if __name__ == "__main__":
    unittest.main()
