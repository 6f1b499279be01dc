# SPDX-License-Identifier: Apache-2.0
"""The checker of documented commands, on pages made for the purpose and a program that echoes; and what pages may leave out."""

import os
import pathlib
import re
import tempfile
import unittest

import check_page
import figures
import pages
import transcripts

HOME = pathlib.Path(os.environ["SYSTOLE_HOME"])
MOST_LEFT_OUT = 6  # of all pages together: a command that is not run is one that can go wrong unseen
ECHO = """#!/bin/sh
case "$1" in
    say) shift; printf '%s\\n' "$@" ;;
    keep) test -n "$2" && echo kept > "$2" ;;
    refuse) echo "net.yaml:3:1: error: no such key" >&2; exit 2 ;;
    *) exit 1 ;;
esac
"""


class Pages(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.program = pathlib.Path(directory.name) / "echo"
        self.program.write_text(ECHO)
        self.program.chmod(0o755)

    def check(self, *lines):
        """(complaints, the page with new output, how many commands, what was left out)."""
        desk = check_page.Desk(self.program, HOME)
        self.addCleanup(desk.directory.cleanup)
        return check_page.check("\n".join(lines), "page.md", desk)

    def transcript(self, *lines):
        return self.check("```", *lines, "```")

    def test_output_that_is_shown_is_compared(self):
        self.assertEqual(self.transcript("$ systole say 1 2", "1", "2")[0], [])
        complaints = self.transcript("$ systole say 1 2", "1", "3")[0]
        self.assertEqual(len(complaints), 1)
        self.assertIn("page.md:2: prints something else: systole say 1 2", complaints[0])
        self.assertIn("-3", complaints[0])

    def test_lines_and_ends_of_lines_may_be_left_out(self):
        for shown in (["a", "…", "d"], ["…", "d"], ["a", "…"], ["…", "b", "…"], ["a", "b", "c", "d", "…"]):
            with self.subTest(shown):
                self.assertEqual(self.transcript("$ build/systole say a b c d", *shown)[0], [])
        for shown in (["a", "…", "c"], ["b", "…"], ["…", "e", "…"], ["a", "…", "d", "…", "d"]):
            with self.subTest(shown):
                self.assertEqual(len(self.transcript("$ systole say a b c d", *shown)[0]), 1)
        self.assertEqual(self.transcript("$ systole say 'one line'", "one…")[0], [])
        self.assertEqual(len(self.transcript("$ systole say 'one line'", "two…")[0]), 1)

    def test_nothing_shown_is_no_output(self):
        self.assertEqual(len(self.transcript("$ systole say 1")[0]), 1)

    def test_a_list_of_commands_is_run_for_its_exit_codes(self):
        complaints, _, run, _ = self.check("```", "systole say 1   # a remark", "systole keep \\", "  a.txt", "systole fail", "systole keep", "```")
        self.assertEqual(run, 4)
        self.assertEqual(len(complaints), 2)
        self.assertIn("page.md:5: exit code 1", complaints[0])

    def test_a_pipe_fails_where_one_of_its_commands_does(self):
        self.assertEqual(self.transcript("$ systole say 1 2 | grep 2", "2")[0], [])
        self.assertIn("exit code 1", self.transcript("$ systole fail | cat")[0][0])

    def test_commands_in_sentences_are_run_but_not_patterns_of_them(self):
        complaints, _, run, _ = self.check("Try `systole fail now`, or `systole fail NAME now` and `systole fail x y…`.")
        self.assertEqual((len(complaints), run), (1, 1))

    def test_files_are_there_for_later_commands(self):
        page = ("```", "systole keep a.txt", "```", "", "```yaml b.yaml", "x: 1", "```", "```", "$ cat a.txt b.yaml", "kept", "x: 1", "```")
        self.assertEqual(self.check(*page)[0], [])

    def test_an_error_that_is_shown_wants_the_exit_code_of_wrong_input(self):
        self.assertEqual(self.transcript("$ systole refuse", "net.yaml:3:1: error: no such key")[0], [])
        self.assertEqual(len(self.transcript("$ systole refuse")[0]), 1)
        self.assertEqual(len(self.transcript("$ systole say 'x: error: y'", "x: error: y")[0]), 1)

    def test_a_block_is_left_out_with_a_reason_only(self):
        complaints, _, run, skipped = self.check("<!-- not run: takes an hour -->", "```", "$ systole fail", "```")
        self.assertEqual((complaints, run, [s.reason for s in skipped]), ([], 0, ["takes an hour"]))
        with self.assertRaisesRegex(pages.PageError, "page.md:1: a mark reads"):
            self.check("<!-- not run -->", "```", "$ systole fail", "```")
        self.assertEqual(self.check("<!-- not run: an hour -->", "Words between.", "```", "$ systole fail", "```")[2], 1)

    def test_blocks_that_nobody_can_check_are_refused(self):
        for page, complaint in ((("```", "$ vim a", "```"), "page.md:2: 'vim' is none of"),
                                (("```", "Words.", "systole say 1", "```"), "page.md:1: a block with commands begins with one"),
                                (("```", "systole say 1", "1", "```"), "page.md:3: a list of commands has nothing else"),
                                (("```", "$ systole say 1"), "page.md:1: this block is never closed")):
            with self.subTest(page), self.assertRaisesRegex(pages.PageError, complaint):
                self.check(*page)

    def test_set_up_and_the_repository_s_tools_are_left_to_their_own_tests(self):
        self.assertEqual(self.check("```", "tools/quickstart   # builds", "tools/test", "```")[2:], (0, []))
        self.assertEqual(self.check("```", "sudo apt install vim", "systole fail", "```")[2:], (0, []))

    def test_an_update_writes_new_output_and_leaves_out_what_was_left_out(self):
        page = ("```", "$ systole say head 'row 1' 'total 14' foot", "head", "…", "total 13", "…", "$ systole say new", "```")
        now = self.check(*page)[1].split("\n")
        self.assertEqual(now, [*page[:4], "total 14", "…", page[6], "new", "```"])
        self.assertEqual(self.check(*now)[0], [])

    def test_an_update_keeps_the_cut_of_a_line(self):
        self.assertEqual(transcripts.renewed(["total 13 a…"], ["total 14 abc"]), ["total 14 a…"])

    def wrong(self, *lines):
        return figures.wrong("\n".join(lines), "page.md")

    def test_arithmetic_is_worked_out(self):
        for right in ("2·4 + 4 + 6 − 2 = 16", "2R + C = 2 × 4 + 4 = 12 cycles", "⌈7 / 4⌉ = 2", "100 · 96 / (53 · 16) = 11.3 %", "1 − 49 / 128 = 61.7 %",
                      "max(6, 4) = 6", "1,050e6 / 1e9 ≈ 1.05", "1 / 3 = 0.333", "workload.batch=8"):
            self.assertEqual(self.wrong(f"So `{right}`."), [], right)
        for not_so in ("2·4 + 4 + 6 − 2 = 17", "1 / 3 = 0.334", "⌈7 / 4⌉ = 1.75"):
            self.assertEqual(len(self.wrong(f"So `{not_so}`.")), 1, not_so)
        self.assertEqual(len(self.wrong("```text", "a + b = 1 + 1 = 3", "```")), 1)

    def test_figures_in_sentences_come_from_the_page(self):
        page = ["```", "$ systole op", "cycles 172,881  util 36.1", "```"]
        for fine in ("It takes 172,881 cycles.", "36.1 % of them are useful.", "ResNet-500, in 15 minutes.", "172.9 thousand, `172881 / 1000 = 172.9`"):
            self.assertEqual(self.wrong(*page, fine), [], fine)
        self.assertEqual(self.wrong("```", "m,cycles", "64,224", "```", "It takes 224 cycles."), [])
        for missing in ("It takes 172,882 cycles.", "36.2 % of them are useful."):
            self.assertEqual(len(self.wrong(*page, missing)), 1, missing)


class WhatPagesLeaveOut(unittest.TestCase):
    def test_few_commands_are_not_run_and_each_says_why(self):
        skipped = [(name, step) for name in pages.pages(HOME) for step in pages.steps((HOME / name).read_text(), name)
                   if isinstance(step, pages.Skipped)]
        self.assertLessEqual(len(skipped), MOST_LEFT_OUT, skipped)
        for name, step in skipped:
            self.assertGreaterEqual(len(step.reason.split()), 3, f"{name}:{step.line}")

    def test_links_and_pictures_are_there(self):
        for name in pages.pages(HOME):
            text = re.sub(r"(?s)```.*?```|`[^`\n]*`", "", (HOME / name).read_text())
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
                if "://" not in target:
                    self.assertTrue((HOME / name).parent.joinpath(target).exists(), f"{name}: {target}")

    def test_pictures_are_small(self):
        for path in (HOME / "docs" / "pictures").rglob("*.*"):
            self.assertLess(path.stat().st_size, 100_000, path)

    def test_the_readme_and_every_lesson_have_commands(self):
        for name in pages.pages(HOME):
            if name == "README.md" or check_page.LESSONS.fullmatch(name):
                steps = pages.steps((HOME / name).read_text(), name)
                self.assertGreater(sum(isinstance(step, pages.Command) for step in steps), 3, name)
