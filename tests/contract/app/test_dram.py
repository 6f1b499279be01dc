# SPDX-License-Identifier: Apache-2.0
"""systole dram: its answers in three formats, its traces and patterns, and everything it refuses."""

import csv
import gzip
import io
import json
import os
import subprocess
import unittest

from program import PROGRAM, ProgramTest

MEMORY = "teaching"  # one HBM2 pseudo-channel at 1 GHz, 8 MiB, bursts of 32 B
OWNERS = ["transfer", "refresh", "ccd_l", "faw_rrd", "command_bus", "turnaround", "row_conflict", "empty_queue"]


class DramTest(ProgramTest):
    def play(self, *arguments):
        return json.loads(self.answer("dram", *arguments, "--format", "json"))


class Answers(DramTest):
    def test_the_json_has_the_documented_keys(self):
        result = self.play(MEMORY, "--pattern", "stream", "--requests", "1000")
        for key in ("schema", "program", "memory", "traffic", "order", "sends_per_clock", "window", "clock_hz", "cycles",
                    "time_ns", "requests", "reads", "writes", "bandwidth_pct_peak", "bandwidth_GBps", "read_latency",
                    "write_latency", "activates", "precharges", "refreshes", "row_hits", "loss", "bus_clocks",
                    "energy_pj", "buses", "config"):
            self.assertIn(key, result)
        self.assertEqual(list(result["read_latency"]), ["avg", "p50", "p99", "max"])
        self.assertEqual(list(result["bus_clocks"]), OWNERS)
        self.assertEqual(list(result["loss"]), OWNERS[1:])

    def test_every_clock_of_every_bus_has_one_owner(self):
        result = self.play("hbm2_golden_stack", "--pattern", "random", "--writes", "33%", "--requests", "5000")
        self.assertEqual(len(result["buses"]), 16)
        for bus in result["buses"]:
            self.assertEqual(sum(bus["bus_clocks"].values()), result["cycles"])
        for owner in OWNERS:
            self.assertEqual(sum(bus["bus_clocks"][owner] for bus in result["buses"]), result["bus_clocks"][owner])
        self.assertAlmostEqual(sum(result["loss"].values()) + result["bandwidth_pct_peak"] / 100, 1, places=4)
        for key in ("reads", "writes", "activates", "precharges", "refreshes"):
            self.assertEqual(sum(bus[key] for bus in result["buses"]), result[key], key)

    def test_bandwidth_is_bytes_over_time(self):
        result = self.play(MEMORY, "--pattern", "stream", "--requests", "2000")
        self.assertEqual(result["requests"], 2000)
        self.assertAlmostEqual(result["bandwidth_GBps"], 2000 * 32 / result["time_ns"], places=3)
        self.assertAlmostEqual(result["bandwidth_pct_peak"], 100 * 2000 * 2 / result["cycles"], places=3)
        self.assertGreater(result["bandwidth_pct_peak"], 90)

    def test_a_request_alone_takes_what_the_timing_says(self):
        # ACT takes two clocks, then RCDRD 14, CL 14, two clocks of data; row hits CL and data only.
        self.write("t.trace", "0 R 0\n1000 R 0\n2000 R 80\n")
        result = self.play(MEMORY, "t.trace", "--set", "refresh=off")
        self.assertEqual(result["read_latency"], {"avg": 21.0, "p50": 16, "p99": 31, "max": 31})
        self.assertEqual((result["cycles"], result["activates"], result["row_hits"]), (2016, 1, 2))

    def test_the_table_says_the_same_as_the_json(self):
        arguments = ("dram", MEMORY, "--pattern", "random", "--requests", "3000", "--writes", "20%")
        result = json.loads(self.answer(*arguments, "--format", "json"))
        text = self.answer(*arguments)
        for figure in (f"{result['cycles']:,} at 1000 MHz", f"{result['bandwidth_pct_peak']:.1f} % of peak",
                       f"{result['activates']:,} activates", f"{result['reads']:,} reads"):
            self.assertIn(figure, text)
        for owner in OWNERS:
            self.assertIn(f"  {owner} ", text)

    def test_the_csv_is_a_header_and_a_row_of_the_same_figures(self):
        arguments = ("dram", MEMORY, "--pattern", "stride", "--requests", "3000")
        result = json.loads(self.answer(*arguments, "--format", "json"))
        (row,) = csv.DictReader(io.StringIO(self.answer(*arguments, "--format", "csv")))
        self.assertEqual(int(row["cycles"]), result["cycles"])
        self.assertEqual(int(row["read_latency_p99"]), result["read_latency"]["p99"])
        self.assertEqual(float(row["loss_refresh"]), result["loss"]["refresh"])
        self.assertEqual(row["traffic"], "stride")

    def test_equal_questions_have_equal_answers(self):
        arguments = ("dram", MEMORY, "--pattern", "random", "--requests", "2000", "--format", "json")
        self.assertEqual(self.answer(*arguments), self.answer(*arguments))
        self.assertNotEqual(self.answer(*arguments), self.answer(*arguments, "--seed", "2"))

    def test_settings_take_the_prefix_or_leave_it(self):
        stream = (MEMORY, "--pattern", "stream", "--requests", "20000")
        without = self.play(*stream, "--set", "refresh=off")
        self.assertEqual(without["refreshes"], 0)
        self.assertEqual(without, self.play(*stream, "--set", "memory.refresh=off"))
        self.assertLess(without["cycles"], self.play(*stream)["cycles"])
        early = self.play(*stream, "--set", "run.refresh_phase=3.5 us")
        self.assertGreater(early["cycles"], without["cycles"])

    def test_an_answer_goes_into_a_file(self):
        arguments = ("dram", MEMORY, "--pattern", "stream", "--requests", "100", "--format", "json")
        expected = self.answer(*arguments)
        self.assertEqual(self.answer(*arguments, "-o", "answer.json"), "")
        self.assertEqual(self.read("answer.json").decode(), expected)


class Driver(DramTest):
    def test_a_window_of_one_is_a_chain_of_requests(self):
        self.write("t.trace", "".join(f"0 R {32 * i:x}\n" for i in range(8)))
        self.answer("dram", MEMORY, "t.trace", "--window", "1", "--set", "refresh=off", "--latencies", "l.csv")
        rows = list(csv.DictReader(io.StringIO(self.read("l.csv").decode())))
        self.assertEqual([int(row["request"]) for row in rows], list(range(8)))
        for before, after in zip(rows, rows[1:]):
            self.assertEqual(int(after["accept_clk"]), int(before["done_clk"]) + 1)
        for row in rows:
            self.assertEqual(int(row["latency"]), int(row["done_clk"]) - int(row["accept_clk"]))

    def test_requests_wait_for_their_clocks_and_for_those_before_them(self):
        self.write("t.trace", "500 R 0\n100 R 20\n")
        self.answer("dram", MEMORY, "t.trace", "--set", "refresh=off", "--sends-per-clock", "2", "--latencies", "l.csv")
        rows = list(csv.DictReader(io.StringIO(self.read("l.csv").decode())))
        self.assertEqual({row["accept_clk"] for row in rows}, {"500"})
        self.answer("dram", MEMORY, "t.trace", "--set", "refresh=off", "--latencies", "l.csv")
        rows = list(csv.DictReader(io.StringIO(self.read("l.csv").decode())))
        self.assertEqual({row["accept_clk"] for row in rows}, {"500", "501"})

    def test_a_queue_for_each_bus_lets_requests_pass(self):
        # 64 bursts of one bus, all of one bank's rows, then one for every other bus.
        lines = [f"0 R {(i << 18):x}" for i in range(64)] + [f"0 R {32 * i:x}" for i in range(1, 16)]
        self.write("t.trace", "\n".join(lines) + "\n")
        accepted = {}
        for order in ("fifo", "perch"):
            self.answer("dram", "hbm2_golden_stack", "t.trace", "--order", order, "--latencies", "l.csv",
                        *(word for key in ("queue=16", "writes.high=8", "writes.low=2") for word in ("--set", key)))
            rows = csv.DictReader(io.StringIO(self.read("l.csv").decode()))
            accepted[order] = {int(row["request"]): int(row["accept_clk"]) for row in rows}
        self.assertGreater(min(accepted["fifo"][i] for i in range(64, 79)), 0)
        self.assertEqual({accepted["perch"][i] for i in range(65, 79)}, {0})


class Traces(DramTest):
    PATTERN = ("--pattern", "add", "--requests", "30000", "--chunk", "1KiB", "--load", "60%")

    def test_a_saved_pattern_plays_like_the_pattern(self):
        result = self.play(MEMORY, *self.PATTERN, "--save-trace", "t.trace.gz")
        again = self.play(MEMORY, "t.trace.gz")
        self.assertEqual(again["traffic"], "t.trace.gz")
        self.assertEqual(dict(again, traffic="add"), result)
        with gzip.open(self.directory / "t.trace.gz", "rt") as file:
            lines = file.readlines()
        self.assertEqual(len(lines), 30000)
        self.assertEqual(lines[0], "0 R 0\n")
        self.assertEqual(sum(" W " in line for line in lines), result["writes"])

    def test_plain_and_gzipped_traces_are_the_same(self):
        self.answer("dram", MEMORY, *self.PATTERN, "--save-trace", "t.trace")
        self.write("copy.gz", gzip.compress(self.read("t.trace")))
        plain, packed = self.play(MEMORY, "t.trace"), self.play(MEMORY, "copy.gz")
        self.assertEqual(plain["cycles"], packed["cycles"])

    def test_gzip_files_may_follow_each_other_and_be_filled_up_with_zeros(self):
        parts = [f"{100 * i} R {32 * i:x}\n".encode() for i in range(3)]
        self.write("t.gz", b"".join(map(gzip.compress, parts)))
        self.write("padded.gz", gzip.compress(b"".join(parts)) + bytes(500))
        self.write("t.trace", b"".join(parts))
        expected = self.play(MEMORY, "t.trace")
        for name in ("t.gz", "padded.gz"):
            self.assertEqual(dict(self.play(MEMORY, name), traffic="t.trace"), expected)

    def test_a_byte_order_mark_is_passed_over(self):
        self.write("t.trace", b"\xef\xbb\xbf0 R 0\n")
        self.assertEqual(self.play(MEMORY, "t.trace")["requests"], 1)
        self.write("t.trace", b"\xef\xbb\xbf0 Q 0\n")
        self.assertIn("t.trace:1:3: error", self.refusal("dram", MEMORY, "t.trace"))

    def test_a_trace_may_come_through_a_pipe(self):
        done = subprocess.run([PROGRAM, "dram", MEMORY, "-", "--format", "json"], input=b"0 R 0\n", capture_output=True,
                              check=True)
        self.assertEqual(json.loads(done.stdout)["requests"], 1)

    def test_comments_blank_lines_and_other_line_ends_are_passed_over(self):
        self.write("t.trace", "# a comment\r\n\n  12\tW  0x40   # another\r\n\n13 R 0X60\n")
        result = self.play(MEMORY, "t.trace")
        self.assertEqual((result["reads"], result["writes"]), (1, 1))

    def test_memory_use_does_not_grow_with_the_trace(self):
        peak = {}
        for requests in (20_000, 2_000_000):
            code = ("import resource, subprocess, sys\n"
                    "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
                    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
            # A sanitizer keeps what was freed for a while, unless told not to.
            done = subprocess.run(["python3", "-c", code, PROGRAM, "dram", MEMORY, "--pattern", "stream", "--requests",
                                   str(requests), "--order", "perch"], capture_output=True, text=True, check=True,
                                  env={**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=0:thread_local_quarantine_size_kb=0"})
            peak[requests] = int(done.stdout)
        self.assertLess(peak[2_000_000] - peak[20_000], 1024, "KiB")


class Refusals(DramTest):
    def refused(self, lines, *places):
        self.write("bad.trace", lines)
        message = self.refusal("dram", MEMORY, "bad.trace")
        for place in places:
            self.assertIn(f"bad.trace:{place}", message)
        return message

    def test_malformed_lines_are_named_with_line_and_column(self):
        for line, column, words in (("x R 0", 1, "expected a clock"), ("-1 R 0", 1, "expected a clock"),
                                    ("1.5 R 0", 1, "expected a clock"), ("9" * 30 + " R 0", 1, "later than"),
                                    ("70000000000000 R 0", 1, "later than"), ("5 X 0", 3, "expected R or W"),
                                    ("5 r 0", 3, "expected R or W"), ("5", 2, "the line ends here"),
                                    ("5 R", 4, "address is missing"), ("5 R zz", 5, "hexadecimal"),
                                    ("5 R 0x", 5, "hexadecimal"), ("5 R -20", 5, "hexadecimal"),
                                    ("5 R 20 20", 8, "unexpected '20'"), ("5 R 1", 5, "not aligned"),
                                    ("5 R 800000", 5, "beyond the memory's 8.389 MB"),
                                    ("5 R " + "f" * 40, 5, "beyond"), ("5 R\x00 20", 3, "expected R or W")):
            message = self.refused(f"0 R 0\n{line}\n0 R 20\n", f"2:{column}: error: ")
            self.assertIn(words, message, line)

    def test_messages_are_lines_of_text_whatever_the_trace_holds(self):
        message = self.refused(b"0 R 0\n\xff\xfe R 0\n\x1b[31m R 0\n" + "é".encode() * 40 + b" R 0\n", "2:1", "3:1", "4:1")
        self.assertIn("not '\\xff\\xfe'", message)
        self.assertIn("not '\\x1b[31m'", message)
        self.assertIn("not '" + "é" * 12 + "…'", message)
        self.assertEqual(len(self.refusal("dram", MEMORY, "bad.trace", "--set", "queue=2\n3").splitlines()), 1)

    def test_what_follows_a_gzip_file_is_not_passed_over(self):
        member = gzip.compress(b"0 R 0\n0 R 20\n")
        for tail in (b"0 R 40\n", b"\0\0\0garbage", b"\x1f", b"\x1e" + member[1:]):
            self.write("more.gz", member + tail)
            self.assertIn("more.gz:3:1: error: behind the end of the gzip file", self.refusal("dram", MEMORY, "more.gz"))
        self.write("cut.gz", member + member[:12])
        self.assertIn("cut.gz:3:1: error: the gzip file ends early", self.refusal("dram", MEMORY, "cut.gz"))

    def test_a_setting_is_made_once_with_or_without_its_prefix(self):
        message = self.refusal("dram", MEMORY, "--pattern", "stream", "--set", "memory.queue=8", "--set", "queue=16")
        self.assertIn("--set queue: error: 'queue' is set twice", message)

    def test_energies_beyond_what_can_be_accounted_for_are_refused(self):
        self.write("late.trace", "999999999999 R 0\n")
        for settings in (("energy.background=900000 W",), ("clock=1 MHz", "energy.background=900 W")):
            arguments = [word for text in ("refresh=off", *settings) for word in ("--set", text)]
            self.assertRegex(self.refusal("dram", MEMORY, "late.trace", *arguments), "later than|accounted for")

    def test_timings_that_never_let_a_row_be_used_are_refused(self):
        stream = ("dram", MEMORY, "--pattern", "stream", "--requests", "10")
        self.assertIn("timing.RAS: 34 is less than RCDRD = 5000", self.refusal(*stream, "--set", "timing.RCDRD=5000"))

    def test_all_mistakes_of_a_trace_are_told_up_to_twenty(self):
        message = self.refused("0 R 0\n0 Q 0\n# fine\n0 R 21\n", "2:3", "4:5")
        self.assertEqual(len(message.splitlines()), 2)
        self.assertEqual(len(self.refused("nonsense\n" * 1000).splitlines()), 20)

    def test_truncated_traces_are_refused(self):
        self.assertIn("truncated", self.refused("0 R 0\n1 R 2", "2:"))
        whole = gzip.compress("".join(f"{i} R {32 * i:x}\n" for i in range(5000)).encode())
        for size in (5, len(whole) // 2, len(whole) - 1):
            self.write("cut.gz", whole[:size])
            self.assertRegex(self.refusal("dram", MEMORY, "cut.gz"), "truncated|damaged|expected a clock")
        broken = bytearray(whole)
        broken[-5] ^= 1  # in the checksum
        self.write("cut.gz", bytes(broken))
        self.assertIn("damaged", self.refusal("dram", MEMORY, "cut.gz"))

    def test_files_that_hold_no_trace_are_refused(self):
        self.assertIn("holds no requests", self.refused("", "1:1"))
        self.assertIn("holds no requests", self.refused("# nothing\n\n"))
        self.assertIn("more than 4096 characters", self.refused("0 R " + "0" * 9000 + "\n", "1:"))
        self.assertIn("cannot read", self.refusal("dram", MEMORY, "nowhere.trace"))
        (self.directory / "folder").mkdir()
        self.assertIn("cannot read", self.refusal("dram", MEMORY, "folder"))

    def test_traffic_is_a_trace_or_a_pattern(self):
        self.write("t.trace", "0 R 0\n")
        self.assertIn("missing TRACE or --pattern", self.refusal("dram", MEMORY))
        self.assertIn("exclude each other", self.refusal("dram", MEMORY, "t.trace", "--pattern", "stream"))
        self.assertIn("goes with --pattern", self.refusal("dram", MEMORY, "t.trace", "--requests", "5"))
        self.assertIn("did you mean 'stride'", self.refusal("dram", MEMORY, "--pattern", "strid"))

    def test_patterns_that_cannot_be_are_refused(self):
        for words, message in ((("stream", "--stride", "64B"), "does not concern"),
                               (("stream", "--requests", "0"), "--requests"),
                               (("stream", "--base", "16MiB"), "--base"),
                               (("stream", "--span", "16MiB"), "--span"),
                               (("stream", "--span", "48B"), "not a multiple"),
                               (("stride", "--stride", "4097B"), "not a multiple"),
                               (("stride", "--stride", "4096"), "no unit"),
                               (("tile", "--tile", "64"), "ROWSxBYTES"),
                               (("tile", "--tile", "4x8KiB"), "wider than"),
                               (("tile", "--tile", "4096x64B"), "does not fit"),
                               (("add", "--writes", "10%"), "does not concern"),
                               (("random", "--writes", "33"), "percentage"),
                               (("random", "--writes", "133%"), "--writes"),
                               (("random", "--load", "0%"), "--load"),
                               (("random", "--seed", "-1"), "--seed")):
            self.assertIn(message, self.refusal("dram", MEMORY, "--pattern", *words), words)

    def test_options_of_the_driver_are_checked(self):
        for words, message in ((("--window", "0"), "--window"), (("--window", "x"), "--window"),
                               (("--sends-per-clock", "0"), "--sends-per-clock"), (("--order", "lifo"), "fifo, perch"),
                               (("--format", "text"), "table, json, csv")):
            self.assertIn(message, self.refusal("dram", MEMORY, "--pattern", "stream", *words), words)

    def test_memories_that_cannot_be_are_refused(self):
        for setting, message in (("queue=0", "queue"), ("address_map=bg2 co5 ba2 ro8", "ro"),
                                 ("address_map=bg2 bg2 co5 ba2 ro9", "bg"), ("timing.RC=47", "RAS + RP"),
                                 ("kind=ideal", "ideal memory"), ("quue=4", "did you mean 'queue'"),
                                 ("run.launch=graph", "run.refresh_phase"), ("workload.batch=1", "workload")):
            self.assertIn(message, self.refusal("dram", MEMORY, "--pattern", "stream", "--set", setting), setting)
        self.assertIn("did you mean 'teaching'", self.refusal("dram", "teachin", "--pattern", "stream"))
        self.assertIn("this is no memory", self.refusal("dram", self.write("d.yaml", "mxu: {rows: 4}\n"), "--pattern",
                                                        "stream"))

    def test_a_bandwidth_that_the_organisation_does_not_reach_is_refused(self):
        message = self.refusal("dram", MEMORY, "--pattern", "stream", "--set", "bandwidth=17 GB/s")
        self.assertIn("17 GB/s", message)
        self.assertIn("16 GB/s", message)

    def test_nothing_is_written_when_something_is_wrong(self):
        self.write("bad.trace", "0 R 0\n0 R 1\n")
        self.refusal("dram", MEMORY, "bad.trace", "--latencies", "l.csv", "-o", "answer")
        self.refusal("dram", MEMORY, "--pattern", "stream", "--save-trace", "nowhere/t.trace", "-o", "answer")
        self.refusal("dram", MEMORY, "--pattern", "stream", "--save-trace", "x", "--latencies", "./x")
        self.write("good.trace", "0 R 0\n")
        self.refusal("dram", MEMORY, "good.trace", "-o", "good.trace")
        self.assertEqual(self.read("good.trace"), b"0 R 0\n")
        memory, _ = self.variant("own.yaml", "configs/memory/teaching.yaml", "memory: one small", "memory: another small")
        before = self.read(memory)
        for option in ("-o", "--latencies", "--save-trace"):
            self.refusal("dram", memory, "--pattern", "stream", option, memory)
        self.assertEqual(self.read(memory), before)

    def test_a_full_disk_is_an_error(self):
        done = self.run_systole("dram", MEMORY, "--pattern", "stream", "--latencies", "/dev/full")
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
