# SPDX-License-Identifier: Apache-2.0
"""systole wave: waveforms of whole runs, read by a parser of our own and held against sums computed here."""

import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import unittest

from program import DEVICE, TRACE, ProgramTest
from vcd import Vcd

MATMUL = ("matmul", "m=6", "n=4", "k=4", "dtype=int8")
HAS_FST = shutil.which("vcd2fst") and shutil.which("fst2vcd")
MASK = (1 << 64) - 1


def operand(kind, layer, batch, row, col):
    """The operands of runs on the PE grid (operand_values.h): a hash of their place, -4 to 3."""
    x = kind + layer
    for part in (batch, row, col):
        x = (x + 0x9E3779B97F4A7C15 + part) & MASK
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
        x ^= x >> 31
    return x % 8 - 4


def activation(m, k):
    return operand(0, 0, 0, m, k)


def weight(k, n):
    return operand(1 << 40, 0, 0, k, n)


class Wave(ProgramTest):
    def record(self, *words, output="wave.vcd"):
        done = self.run_systole("wave", *words, "-o", output)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "")
        return Vcd(self.read(output).decode()) if output.endswith(".vcd") else self.read(output)


class Values(Wave):
    """A 16 x 16 array, an operator of two folds: 20 vectors, 32 deep, 16 wide."""

    M, K, N, R = 20, 32, 16, 16

    def setUp(self):
        super().setUp()
        self.vcd = self.record(DEVICE, "matmul", f"m={self.M}", f"n={self.N}", f"k={self.K}", "dtype=int8",
                               "--set", "mxu.rows=16", "--set", "mxu.cols=16",
                               # Results leave as fast as they come, so that all of M is one block.
                               "--set", "vector.lanes=16", "--set", "vector.accumulator_rows_per_cycle=4")
        self.cycles = range(0, self.vcd.times[-1], 1000)  # of a clock of 1 GHz

    def values(self, path):
        return self.vcd.sampled(f"{DEVICE}.mxu0.{path}", self.cycles)

    def test_the_sums_that_leave_the_array_are_the_products_in_order(self):
        for col in range(self.N):
            left = [v for v, valid in zip(self.values(f"bottom.col_{col}"), self.values(f"bottom.valid_{col}")) if valid]
            expected = [sum(activation(t, k) * weight(k, col) for k in range(fold, fold + self.R))
                        for fold in range(0, self.K, self.R) for t in range(self.M)]
            self.assertEqual(left, expected, f"column {col}")

    def test_every_pe_adds_its_product_to_the_sum_from_above(self):
        for row, col in ((0, 0), (0, 15), (7, 3), (15, 0), (15, 15)):
            sums = [v for v, valid in zip(self.values(f"pe_{row}_{col}.sum"), self.values(f"pe_{row}_{col}.valid"))
                    if valid]
            expected = [sum(activation(t, k) * weight(k, col) for k in range(fold, fold + row + 1))
                        for fold in range(0, self.K, self.R) for t in range(self.M)]
            self.assertEqual(sums, expected, f"PE({row}, {col})")

    def test_accumulators_begin_at_zero_and_end_with_the_dot_products(self):
        rows = sorted({int(re.search(r"acc_(\d+)", path)[1]) for path in self.vcd.signals if ".acc_" in path})
        self.assertEqual(len(rows), self.M)
        for t, row in enumerate(rows):
            for col in range(self.N):
                values = self.values(f"acc_{row}.col_{col}")
                self.assertEqual(values[0], 0)
                self.assertEqual(values[-1], sum(activation(t, k) * weight(k, col) for k in range(self.K)))

    def test_everything_is_declared_below_its_instance_and_the_clock_ticks(self):
        for row in range(16):
            for col in range(16):
                for name, width in (("moving", 8), ("stationary", 8), ("shadow", 8), ("sum", 32), ("valid", 1),
                                    ("real", 1)):
                    self.assertEqual(self.vcd.signals[f"{DEVICE}.mxu0.pe_{row}_{col}.{name}"], ("wire", width))
        self.assertEqual(self.vcd.timescale, "1 ps")
        self.assertEqual(self.vcd.changes[f"{DEVICE}.clock"],
                         [(500 * i, (i + 1) % 2) for i in range(2 * len(self.cycles))])


class Dataflows(Wave):
    """The other two dataflows, on a product of 6 x 4 x 32 on the same array."""

    M, K, N, R = 6, 32, 4, 16

    def record_dataflow(self, dataflow):
        vcd = self.record(DEVICE, "matmul", f"m={self.M}", f"n={self.N}", f"k={self.K}", "dtype=int8", "--set",
                          "mxu.rows=16", "--set", "mxu.cols=16", "--set", f"mxu.dataflow={dataflow}")
        cycles = range(0, vcd.times[-1], 1000)
        return lambda path: vcd.sampled(f"{DEVICE}.mxu0.{path}", cycles), vcd

    def product(self, m, n, ks):
        return sum(activation(m, k) * weight(k, n) for k in ks)

    def sums(self, values, row, col):
        return [s for s, valid in zip(values(f"pe_{row}_{col}.sum"), values(f"pe_{row}_{col}.valid")) if valid]

    def test_outputs_that_stay_grow_in_place_and_leave_through_the_bottom(self):
        values, vcd = self.record_dataflow("os")
        for m in range(self.M):
            for n in range(self.N):
                self.assertEqual(self.sums(values, m, n), [self.product(m, n, range(k + 1)) for k in range(self.K)])
                self.assertEqual(values(f"acc_{m}.col_{n}")[-1], self.product(m, n, range(self.K)))
        for n in range(self.N):
            out = [v for v, valid in zip(values(f"bottom.col_{n}"), values(f"bottom.valid_{n}")) if valid]
            results = [self.product(m, n, range(self.K)) for m in reversed(range(self.M))]
            self.assertEqual(out, results, "one after the other, last row first")
        self.assertNotIn(f"{DEVICE}.mxu0.pe_0_0.shadow", vcd.signals)
        self.assertNotIn(f"{DEVICE}.mxu0.fifo", vcd.signals)

    def test_inputs_that_stay_meet_streaming_weights(self):
        values, _ = self.record_dataflow("is")
        for row, col in ((0, 0), (15, 5), (4, 2)):
            self.assertEqual(self.sums(values, row, col),
                             [self.product(col, n, range(fold, fold + row + 1))
                              for fold in range(0, self.K, self.R) for n in range(self.N)])
        for n in range(self.N):  # an accumulator row is an output channel
            for m in range(self.M):
                self.assertEqual(values(f"acc_{n}.col_{m}")[-1], self.product(m, n, range(self.K)))


class Windows(Wave):
    def test_the_same_run_gives_the_same_bytes(self):
        self.record(DEVICE, TRACE)
        dump, save = self.read("wave.vcd"), self.read("wave.gtkw")
        self.record(DEVICE, TRACE)
        self.assertEqual((self.read("wave.vcd"), self.read("wave.gtkw")), (dump, save))
        self.assertNotIn(b"$date", dump)
        self.assertNotIn(os.fsencode(self.directory), dump + save)
        self.assertEqual(self.files(), ["wave.gtkw", "wave.vcd"])

    def test_the_run_is_as_long_as_without_a_wave_and_its_result_is_not_touched(self):
        cycles = json.loads(self.answer("run", DEVICE, TRACE, "--format", "json"))["devices"][0]["total"]["cycles"]
        self.assertEqual(self.record(DEVICE, TRACE).times[-1], cycles * 1000)

    def test_a_window_is_a_part_of_the_whole(self):
        whole, part = self.record(DEVICE, TRACE), self.record(DEVICE, TRACE, "--cycles", "40:60", output="part.vcd")
        self.assertEqual((part.times[0], part.times[-1]), (40_000, 60_000))
        self.assertEqual(whole.signals, part.signals)
        times = range(40_000, 60_000, 500)
        for path in whole.signals:
            self.assertEqual(part.sampled(path, times), whole.sampled(path, times), path)

    def test_a_window_knows_what_is_on_the_buses_when_it_opens(self):
        words = ("tpu_v4", "matmul", "m=64", "n=128", "k=128", "--signals", "*.dram.channel_?.*")
        whole = self.record(*words)
        for first, end in ((300, 340), (555, 556), (700, 806)):
            part = self.record(*words, "--cycles", f"{first}:{end}", output="part.vcd")
            for path in whole.signals:
                expected = [c for c in whole.changes[path] if part.times[0] < c[0] < part.times[-1]]
                self.assertEqual(part.changes[path][0], (part.times[0], whole.at(path, part.times[0])), path)
                self.assertEqual(part.changes[path][1:], expected, path)

    def test_open_windows(self):
        end = self.record(DEVICE, TRACE).times[-1]
        self.assertEqual(self.record(DEVICE, TRACE, "--cycles", ":7").times[-1], 7000)
        tail = self.record(DEVICE, TRACE, "--cycles", "100:")
        self.assertEqual((tail.times[0], tail.times[-1]), (100_000, end))

    def test_signals_are_chosen_by_patterns_over_whole_paths(self):
        chosen = self.record(DEVICE, *MATMUL, "--signals", "*.pe_2_?.sum,*.clock", "--signals", f"{DEVICE}.load.*")
        self.assertEqual(sorted(chosen.signals),
                         sorted([f"{DEVICE}.clock"] + [f"{DEVICE}.load.{n}" for n in ("queue", "busy", "in_flight")]
                                + [f"{DEVICE}.mxu0.pe_2_{col}.sum" for col in range(4)]))

    def test_a_dram_shows_its_buses_on_its_own_clock(self):
        vcd = self.record("tpu_v4", "matmul", "m=64", "n=128", "k=128", "--signals", "*.dram.clock,*.channel_3.*")
        channel = "tpu_v4.dram.channel_3"
        commands = [value for _, value in vcd.changes[f"{channel}.row_bus.command"]]
        self.assertIn("ACT", commands)
        columns = vcd.changes[f"{channel}.column_bus.command"]
        edges = {time for time, value in vcd.changes["tpu_v4.dram.clock"] if value}
        for time, command in columns[1:]:
            self.assertIn(time, edges)
            bank = vcd.at(f"{channel}.column_bus.bank", time)
            self.assertEqual(command == "-", bank is None)
            if command != "-":  # a column command finds its row open
                opened = [vcd.at(f"{channel}.row_bus.row", when) for when, value in
                          vcd.changes[f"{channel}.row_bus.command"]
                          if when < time and value == "ACT" and vcd.at(f"{channel}.row_bus.bank", when) == bank]
                self.assertEqual(vcd.at(f"{channel}.column_bus.row", time), opened[-1])
        self.assertIn("read", [value for _, value in vcd.changes[f"{channel}.pseudo_channel_0.data_bus"]])

    def test_the_list_of_signals_is_made_of_patterns_that_record(self):
        text = self.answer("wave", DEVICE, *MATMUL, "--list-signals")
        patterns = [line.split()[0] for line in text.splitlines() if line.startswith(DEVICE)]
        self.assertIn(f"{DEVICE}.mxu0.pe_*_*.sum", patterns)
        everything = self.record(DEVICE, *MATMUL)
        self.assertEqual(self.record(DEVICE, *MATMUL, "--signals", ",".join(patterns)).signals, everything.signals)
        counts = [int(line.split()[1].replace(",", "")) for line in text.splitlines() if line.startswith(DEVICE)]
        self.assertEqual(sum(counts), len(everything.signals))
        self.assertIn("pe_*_*.valid", self.answer("wave", DEVICE, *MATMUL, "--list-signals", "--signals", "*.valid"))


class Formats(Wave):
    def test_the_save_file_names_the_dump_beside_it_and_only_signals_of_it(self):
        (self.directory / "out").mkdir()
        vcd = self.record(DEVICE, TRACE, output="out/wave.vcd")
        save = self.read("out/wave.gtkw").decode()
        self.assertIn('[dumpfile] "wave.vcd"', save)
        shown = [line for line in save.splitlines() if line.startswith(f"{DEVICE}.")]
        names = {path if kind == "string" or width == 1 else f"{path}[{width - 1}:0]"
                 for path, (kind, width) in vcd.signals.items()}
        self.assertEqual(set(shown), names)
        self.assertEqual(len(shown), len(names))

    @unittest.skipUnless(HAS_FST, "vcd2fst and fst2vcd (Debian's gtkwave) are not there")
    def test_an_fst_holds_what_the_vcd_holds_and_no_vcd_lies_beside_it(self):
        vcd = self.record(DEVICE, TRACE)
        os.remove(self.directory / "wave.vcd")
        self.record(DEVICE, TRACE, output="wave.fst")
        self.assertEqual(self.files(), ["wave.fst", "wave.gtkw"])
        back = subprocess.run(["fst2vcd", "wave.fst"], cwd=self.directory, capture_output=True, text=True, check=True)
        text = re.sub(r"\$date.*?\$end", "", back.stdout, flags=re.S).replace("$var string 0", "$var string 1")
        fst = Vcd(re.sub(r"(\$timescale\s+)1ps", r"\1 1 ps", text))
        self.assertEqual(fst.signals, vcd.signals)
        self.assertEqual(fst.changes, vcd.changes)

    def test_a_drawing_is_json_with_one_cell_a_cycle(self):
        drawing = json.loads(self.record(DEVICE, *MATMUL, "--signals", "*.clock,*.left.*,*.sequencer.state",
                                         "--cycles", "5:25", output="slide.json"))
        lanes = []

        def walk(item):
            if isinstance(item, dict):
                lanes.append(item)
            else:
                for part in item:
                    if not isinstance(part, str):
                        walk(part)

        walk(drawing["signal"])
        self.assertEqual(len(lanes), 10)
        for lane in lanes:
            self.assertEqual(len(lane["wave"]), 20, lane)
            self.assertEqual(sum(c in "23456789" for c in lane["wave"]), len(lane.get("data", [])), lane)
        self.assertEqual(drawing["head"]["tick"], 5)
        self.assertEqual(self.files(), ["slide.json"])


class Help(Wave):
    def test_every_example_of_the_help_page_runs(self):
        examples = re.findall(r"^  systole (wave .*)$", self.answer("help", "wave"), re.M)
        self.assertGreaterEqual(len(examples), 5)
        for example in examples:
            if ".fst" not in example or HAS_FST:
                done = self.run_systole(*shlex.split(example))
                self.assertEqual(done.returncode, 0, f"{example}: {done.stderr}")


class BadInput(Wave):
    def test_signals_that_match_nothing_are_named_with_what_was_near(self):
        message = self.refusal("wave", DEVICE, *MATMUL, "-o", "w.vcd", "--signals", "*.pe_0_0.sun,*.clock,*.foo")
        self.assertEqual(message.count("\n"), 2)
        self.assertIn("did you mean 'sum'?", message)
        self.assertIn("did you mean", self.refusal("wave", DEVICE, *MATMUL, "-o", "w.vcd", "--signals",
                                                   f"{DEVICE}.mxu0.pe_0_9.sum"))
        self.refusal("wave", DEVICE, *MATMUL, "-o", "w.vcd", "--signals", "*.dram.*")  # this one is ideal
        self.refusal("wave", DEVICE, *MATMUL, "--list-signals", "--signals", "nothing")
        self.assertIn("computes with all weights",
                      self.refusal("wave", DEVICE, "matmul", "m=8", "n=8", "k=8", "sparsity=2:4", "-o", "w.vcd",
                                   "--set", "mxu.sparsity=2:4"))
        for empty in ("", "*.clock,", ",*.clock"):
            self.assertIn("empty pattern", self.refusal("wave", DEVICE, *MATMUL, "-o", "w.vcd", "--signals", empty))

    def test_windows_outside_the_run_say_how_long_it_was(self):
        cycles = self.record(DEVICE, *MATMUL, "--signals", "*.clock").times[-1] // 1000
        for window in (f"{cycles}:", f"0:{cycles + 1}", f"{cycles + 5}:{cycles + 9}", "9" * 18 + ":"):
            message = self.refusal("wave", DEVICE, *MATMUL, "-o", "w.vcd", "--cycles", window)
            self.assertIn(f"takes {cycles} cycles", message)
            self.assertEqual(message.count("\n"), 1)

    def test_windows_that_are_none(self):
        for window in ("5:5", "9:3", "5", "", "-1:5", "a:b", "1:2:3", "0x1:5", "1e3:", " 1:2", "9" * 30 + ":"):
            message = self.refusal("wave", DEVICE, *MATMUL, "-o", "w.vcd", f"--cycles={window}")
            self.assertEqual(message.count("\n"), 1, window)

    def test_a_missing_or_unknown_format(self):
        self.assertIn("-o FILE", self.refusal("wave", DEVICE, TRACE))
        self.assertIn("records nothing", self.refusal("wave", DEVICE, TRACE, "--list-signals", "-o", "w.vcd"))
        for name in ("wave", "wave.txt", "wave.vcd.gz", ".vcd", "out/"):
            self.assertIn(".vcd, .fst or .json", self.refusal("wave", DEVICE, TRACE, "-o", name))

    def test_places_that_cannot_be_written_are_refused_before_anything_runs(self):
        self.write("file", "text")
        (self.directory / "folder.vcd").mkdir()
        (self.directory / "link.vcd").symlink_to("/dev/null")
        (self.directory / "taken.gtkw").mkdir()
        for place in ("file/w.vcd", "nowhere/w.vcd", "folder.vcd", "link.vcd", "/proc/w.vcd", "taken.vcd", "taken.fst"):
            self.assertIn("cannot write", self.refusal("wave", DEVICE, TRACE, "-o", place))

    def full_disk(self, *words, limit):
        """Like self.refusal, where no file can become larger than `limit` bytes."""
        return self.refusal("wave", *words, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (limit, limit)))

    def test_a_disk_that_fills_up_leaves_nothing_behind(self):
        for limit in (0, 1000, 30_000):
            self.assertIn("File too large", self.full_disk(DEVICE, TRACE, "-o", "w.vcd", limit=limit))
            if HAS_FST and limit < 30_000:
                self.assertIn("is the disk full?", self.full_disk(DEVICE, TRACE, "-o", "w.fst", limit=limit))
        self.write("w.vcd", "old")
        self.full_disk(DEVICE, TRACE, "-o", "w.vcd", limit=1000)
        self.assertEqual(self.read("w.vcd"), b"old")

    def test_without_vcd2fst_the_package_is_named(self):
        environment = dict(os.environ, PATH=str(self.directory))
        message = self.refusal("wave", DEVICE, TRACE, "-o", "w.fst", env=environment)
        self.assertIn("gtkwave", message)
        self.assertEqual(message.count("\n"), 1)

    def test_a_converter_that_fails_leaves_nothing_behind(self):
        tool = self.directory / "vcd2fst"
        environment = dict(os.environ, PATH=f"{self.directory}:{os.environ['PATH']}")
        for script in ("exit 1", "exec true", 'cat > "$2"; exit 0', 'head -c 100 > "$2"', "kill -9 $$"):
            tool.write_text(f"#!/bin/sh\n{script}\n")
            tool.chmod(0o755)
            message = self.refusal("wave", DEVICE, TRACE, "-o", "w.fst", env=environment)
            self.assertIn("vcd2fst", message)

    def test_what_would_be_too_large_says_how_large_and_what_to_write_instead(self):
        words = ("wave", "tpu_v4", "matmul", "m=512", "n=512", "k=512", "-o", "w.vcd")
        message = self.refusal(*words)
        self.assertRegex(message, r"[\d,]+ signals over [\d,]+ cycles could become a VCD of [\d.]+ [kMGTP]B")
        pattern = re.search(r"--signals '([^']+)'", message)[1]
        self.assertEqual(self.run_systole(*words, "--signals", pattern).returncode, 0)
        window = re.search(r"--cycles (\d+:\d+)", self.refusal(*words, "--signals", "*.mxu0.*"))[1]
        self.assertRegex(window, r"^0:\d+$")

    def test_an_array_of_too_many_pes_is_refused(self):
        message = self.refusal("wave", DEVICE, *MATMUL, "-o", "w.vcd", "--set", "mxu.rows=2048", "--set",
                               "mxu.cols=1024")
        self.assertIn("2,097,152 PEs", message)

    def test_registers_that_the_grid_cannot_simulate_are_refused_and_other_signals_are_not(self):
        fast = ("wave", DEVICE, *MATMUL, "--set", "mxu.rate.int8=2", "-o", "w.vcd")
        message = self.refusal(*fast)
        self.assertIn("one MAC per PE and cycle", message)
        self.assertEqual(message.count("\n"), 1)
        self.assertEqual(self.run_systole(*fast, "--signals", "*.queue,*.mxu0.pass").returncode, 0)

    def test_the_registers_of_an_array_that_takes_several_cycles_a_mac_are_traced(self):
        vcd = self.record(DEVICE, *MATMUL, "--set", "mxu.rate.int8=1/2", "--signals", "*.pe_0_0.*")
        self.assertTrue(vcd.signals)

    def test_a_machine_of_very_many_accumulators_is_traced_by_those_it_uses(self):
        vcd = self.record("scalesim", "matmul", "m=40", "n=8", "k=70", "--signals", "*.acc_*,*.mxu0.pass,*.pe_0_0.*")
        rows = {path.split(".")[2] for path in vcd.signals if ".acc_" in path}
        self.assertEqual(len(rows), 40)
        self.assertIn("more than the PE grid holds",
                      self.refusal("wave", "scalesim", "matmul", "m=9000000", "n=8", "k=8", "-o", "x.vcd"))

    def test_a_drawing_too_large_for_a_slide_says_what_fits(self):
        message = self.refusal("wave", DEVICE, TRACE, "-o", "slide.json")
        pattern, window = re.search(r"--signals '([^']+)' --cycles (\S+),", message).groups()
        self.record(DEVICE, TRACE, "--signals", pattern, "--cycles", window, output="slide.json")

    def test_wrong_runs_are_refused_as_by_run_and_op(self):
        self.assertIn("unknown", self.refusal("wave", DEVICE, "matmull", "m=4", "n=4", "k=4", "-o", "w.vcd"))
        self.refusal("wave", DEVICE, "no_such_trace", "-o", "w.vcd")
        self.refusal("wave", DEVICE, *MATMUL, "m=5", "-o", "w.vcd")
        self.refusal("wave", DEVICE, *MATMUL, "--set", "workload.batch=2", "-o", "w.vcd")
        self.refusal("wave", DEVICE, TRACE, "--set", "mxu.rowss=2", "-o", "w.vcd")
        self.assertIn("missing", self.refusal("wave", DEVICE, "-o", "w.vcd"))


if __name__ == "__main__":
    unittest.main()
