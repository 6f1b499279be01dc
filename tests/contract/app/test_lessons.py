# SPDX-License-Identifier: Apache-2.0
"""systole explore --lesson: that lessons show what their answers say, and what is refused of a lesson's file."""

import json
import unittest

from explorer_page import Recording, unpacked
from program import DEVICE, HOME
from test_explore import Explore

# Clocks of the kernel of the lesson "tensor_core", by what they wait for (docs/formats.md).
KERNEL_WAITS = {4: 2 * 20, 2: 9}
LESSONS = sorted(path.stem for path in (HOME / "configs" / "lessons").glob("*.yaml"))


class Lessons(Explore):
    def test_every_lesson_is_listed_and_becomes_a_page(self):
        table = self.answer("list", "lessons")
        self.assertGreaterEqual(len(LESSONS), 4)
        for lesson in LESSONS:
            self.assertIn(lesson, table)
            page = self.page("--lesson", lesson)
            self.assertTrue(all(page["lesson"][key] for key in ("title", "summary", "look_at", "question", "answer")))
            self.assertGreaterEqual(len(page["panels"]), 2)

    def panels(self, lesson):
        return self.page("--lesson", lesson)["panels"]

    def test_dataflows_answer_has_the_streams_that_run(self):
        clocks = {"ws": 6 + 4 + 4 - 2, "os": 4 + 4 + 4 + 4 - 2, "is": 4 + 4 + 4 + 4 - 2}
        for panel in self.panels("dataflows"):
            recording = Recording(panel)
            dataflow = recording.passes[0]["dataflow"]
            busy = [useful + padding for useful, padding in zip(recording.clocks["useful"], recording.clocks["padding"])]
            first, last = busy.index(next(filter(None, busy))), max(clock for clock, count in enumerate(busy) if count)
            self.assertEqual(last - first + 1, clocks[dataflow], "T + R + C - 2, of the tiles that follow each other")
            # "ends first": cycles; all sums are out at clock 22; R = 4 clocks of shifting before the first product.
            self.assertEqual(recording.panel["cycles"], {"ws": 27, "os": 26, "is": 28}[dataflow])
            moves = [any(recording.column(name, clock, col) for name in ("leaves", "shifting") for col in range(4)) or busy[clock] > 0
                     for clock in recording.frames]
            self.assertEqual(max(clock for clock, moving in zip(recording.frames, moves) if moving) + 1, 22)
            shifts = [clock for clock in recording.frames if recording.column("shifting", clock, 0)]
            self.assertEqual(first - shifts[0], {"ws": 4, "os": -7, "is": 4}[dataflow])
            if dataflow == "ws":  # one tile
                self.assertEqual([block["new_tile"] for block in recording.passes], [True, False])
                self.assertEqual(sum(recording.clocks["padding"]), 0)
            else:  # two tiles, the second one half empty
                self.assertEqual(sorted(block["m"] for block in recording.passes), [2, 4])
                self.assertGreater(sum(recording.clocks["padding"]), 0)

    def test_small_batches_answer_counts_the_clocks_of_a_pe(self):
        for panel, batch in zip(self.panels("small_batches"), (1, 4, 32), strict=True):
            recording = Recording(panel)
            for row, col in ((0, 0), (3, 5), (7, 7)):
                busy = [clock for clock in range(panel["cycles"]) if recording.multiplies(clock, row, col)]
                self.assertEqual(len(busy), batch)
            self.assertEqual([block["new_tile"] for block in recording.passes].count(True), 1, "all pay once for the weights")
        # A batch of 1 crosses 8 x 8 in 8 + 8 - 1 clocks.
        lone = Recording(self.panels("small_batches")[0])
        self.assertEqual(sum(1 for count in lone.clocks["useful"] if count), 15)

    def test_double_buffering_answer_has_the_distances_of_passes(self):
        for panel, distance in zip(self.panels("double_buffering"), (6, 16), strict=True):
            tiles = [block["clock"] for i, block in enumerate(panel["passes"])
                     if i == 0 or block["k0"] != panel["passes"][i - 1]["k0"]]
            self.assertEqual(len(tiles), 4)
            self.assertEqual([b - a for a, b in zip(tiles, tiles[1:])], [distance] * 3)

    def test_ragged_edges_answer_has_the_share(self):
        full, ragged = (Recording(panel) for panel in self.panels("ragged_edges"))
        self.assertEqual(sum(full.clocks["padding"]), 0)
        useful, padding = sum(ragged.clocks["useful"]), sum(ragged.clocks["padding"])
        self.assertEqual(useful * 64, 25 * (useful + padding))

    def test_tensor_core_answer_is_what_a_warp_does(self):
        array, one, many, kernel = self.panels("tensor_core")
        self.assertEqual(array["kind"], "array")
        self.assertEqual([tile["fragments"] for tile in (one, many, kernel)], ["registers", "registers", "shared"])
        for tile, instructions in ((one, 4), (many, 64), (kernel, 64)):
            self.assertEqual(tile["instructions"], instructions)
            self.assertEqual(tile["cycles_of_mma"], 16 * 8 * 16 // 256)  # an A100's: 1,024 MACs a cycle and SM
            clocks = unpacked(tile["clocks"])
            self.assertEqual(len(clocks), tile["cycles"])
            self.assertEqual(clocks.count(0), tile["busy"])
            self.assertEqual(tile["busy"], instructions * 8)
        # 8 clocks of work, 25 of latency, four times; 128 clocks of work before the first sums are needed again.
        self.assertEqual(one["latency"], 25)
        self.assertEqual(unpacked(one["clocks"]), ([0] * 8 + [1] * 25) * 3 + [0] * 8)
        self.assertEqual(unpacked(many["clocks"]), [0] * 512)
        self.assertEqual(KERNEL_WAITS, {state: unpacked(kernel["clocks"]).count(state) for state in set(unpacked(kernel["clocks"])) - {0}})


class BadLessons(Explore):
    def refused(self, *words):
        return self.refusal("explore", *words, "-o", "page.html")

    def test_lessons_that_are_none(self):
        self.assertIn("did you mean 'ragged_edges'", self.refused("--lesson", "ragged_edge"))
        self.assertIn("a lesson says it itself", self.refused("--lesson", "dataflows", "--dataflow", "ws"))
        self.assertIn("leave 'teaching_4x4' out", self.refused(DEVICE, "--lesson", "dataflows"))
        self.assertIn("this is no lesson", self.refused("--lesson", self.write("trace.yaml", "trace: x\n")))

    def test_a_lesson_with_mistakes_names_all_their_places(self):
        lesson = self.write("own.yaml", "lesson: Mine\nsumary: x\nlook_at: x\nquestion: x\nanswer: x\nruns:\n"
                                        "  - {title: a, device: teaching_4x4, operator: {m: 4}}\n"
                                        "  - {title: b, device: a100, warp_tile: {m: 0, n: 8, k: 32, dtype: fp61}}\n"
                                        "  - {title: c, device: teaching_4x4}\n")
        message = self.refused("--lesson", lesson)
        self.assertNotIn("expected look_at", message)
        for part in ("own.yaml:2:1: error: a lesson has no key 'sumary' (did you mean 'summary'?)", "summary is missing: one line",
                     "own.yaml:7:", "own.yaml:8:41: error: m: '0' is too small; the least is 1", "'fp61'", "one of operator, trace and warp_tile"):
            self.assertIn(part, message)

    def test_a_run_that_a_device_refuses_has_its_place_in_the_lesson(self):
        head = "lesson: x\nsummary: x\nlook_at: x\nquestion: x\nanswer: x\nruns:\n"
        def message(run):
            return self.refused("--lesson", self.write("own.yaml", head + "  - {title: first, device: teaching_4x4, operator: "
                                                       "{op: matmul, m: 2, n: 2, k: 2}}\n  - {title: mine, " + run + "}\n"))
        for run, told in (("device: teaching_4x4, operator: {op: matmul, m: 0, n: 4, k: 4}", "matmul: 'm' must be"),
                          ("device: h100, operator: {op: matmul, m: 4, n: 4, k: 4}", "no systolic array"),
                          ("device: teaching_4x4, operator: {op: matmul, m: 4, n: 4, k: 4}, set: {mxu.rows: none}", "--set"),
                          ("device: teching_4x4, operator: {op: matmul, m: 4, n: 4, k: 4}", "teaching_4x4"),
                          ("device: h100, warp_tile: {m: 16, n: 8, k: 32, dtype: fp16}", "mma.sync")):
            self.assertRegex(message(run), r"own\.yaml:8:5: error: run 'mine': .*" + told)

    def test_a_warps_tile_must_be_one(self):
        def message(device, m, k, dtype):
            return self.refused("--lesson", self.write("own.yaml", json.dumps({
                "lesson": "x", "summary": "x", "look_at": "x", "question": "x", "answer": "x",
                "runs": [{"title": "t", "device": device, "warp_tile": {"m": m, "n": 8, "k": k, "dtype": dtype}}]})))
        self.assertIn("own.yaml:1:", message("a100", 17, 64, "fp16"))
        self.assertIn("multiple of 16", message("a100", 17, 64, "fp16"))
        self.assertIn("k must be a multiple", message("a100", 16, 40, "fp16"))
        self.assertIn("do not take this type", message("a100", 16, 64, "fp8"))
        self.assertIn("mma.sync", message("h100", 16, 64, "fp16"))
        self.assertIn("no warps", message(DEVICE, 16, 64, "fp16"))


if __name__ == "__main__":
    unittest.main()
