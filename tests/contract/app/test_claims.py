# SPDX-License-Identifier: Apache-2.0
"""Claims put to the test: their experiments, their heads, the page, and one of them run end to end."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from program import HOME, PROGRAM, ProgramTest

sys.path.insert(0, str(HOME / "tools"))
import claims_heads  # noqa: E402
import claims_pictures  # noqa: E402
import claims_rows  # noqa: E402
import claims_verdicts  # noqa: E402

PAGE = HOME / "docs" / "claims.md"
TRACES = claims_heads.FOLDER / "traces"


class Claims(ProgramTest):
    def test_every_claim_has_a_head_a_verdict_and_experiments_that_plan(self):
        claims = claims_heads.claims()
        self.assertEqual(set(claims), set(claims_verdicts.JUDGES))
        listed = self.answer("list", "experiments")
        for _, experiments in claims.values():
            for name in experiments:
                self.assertIn(f"{name} ", listed)
                self.answer("sweep", name, "-o", name, "--plan")

    def test_the_page_names_every_claim_and_its_picture(self):
        page = PAGE.read_text()
        for name, (head, _) in claims_heads.claims().items():
            for key in ("claim", "holds if", "in part if", "chosen", "cannot say"):
                self.assertIn(head[key], page, name)
            if "not measured" not in page.split(f"## {name}\n")[1].split("\n## ")[0]:
                self.assertIn(f"pictures/claims/{name}.svg", page)
                self.assertTrue((HOME / "docs/pictures/claims" / f"{name}.svg").is_file(), name)

    def test_steps_of_language_models_are_what_the_program_writes(self):
        for trace in TRACES.glob("*.yaml"):
            told, _, command = trace.read_text().splitlines()[1].partition("ritten by: systole ")
            if command:
                written = self.answer(*command.split())
                ours = trace.read_text().split("\n", 2)[2].replace("causal: true, fused: false}", "causal: true}")
                self.assertEqual(ours, written, f"{trace}: {told}")

    def test_one_claim_from_its_sweep_to_its_page(self):
        with tempfile.TemporaryDirectory() as folder:
            home = pathlib.Path(folder)
            for part in ("tools", "configs", "traces"):
                shutil.copytree(HOME / part, home / part)
            order = [sys.executable, "-B", home / "tools/claims", PROGRAM, "--only", "latency"]
            for extra in ([], ["--check"]):
                done = subprocess.run([*order, *extra], capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            page = home / "docs/claims.md"
            self.assertIn("## latency", page.read_text())
            self.assertTrue((home / "docs/pictures/claims/latency.svg").is_file())
            page.write_text(page.read_text().replace("Slowest", "Opinion"))
            done = subprocess.run([*order, "--check"], capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("Opinion", done.stdout)


class Heads(unittest.TestCase):
    def head(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.yaml"
            path.write_text(text)
            return claims_heads.head_of(path)

    def test_text_goes_on_in_indented_lines(self):
        self.assertEqual(self.head("# of: other\n#   claim\ndevice: x\n"), {"of": "other claim"})

    def test_mistakes_are_told_by_place(self):
        for text, told in (("# clam: x\n", "a.yaml:1:1: error: expected '# KEY"), ("# claim: x\n# claim: y\n", "a.yaml:2:1: error"),
                           ("# claim: x\n", "does not say 'said by'")):
            with self.assertRaises(claims_heads.HeadError) as raised:
                self.head(text)
            self.assertIn(told, str(raised.exception))


class Judging(unittest.TestCase):
    def rows(self, **utilizations):
        return [{"device": device, "trace": trace, "status": "done", "utilization": str(value)}
                for device, value in utilizations.items() for trace in ("product", "net")]

    def test_a_verdict_follows_its_criterion(self):
        for tpu, gpu, verdict in ((0.9, 0.65, claims_rows.HOLDS), (0.8, 0.65, claims_rows.IN_PART), (0.9, 0.85, claims_rows.NOT)):
            self.assertEqual(claims_verdicts.utilization({"utilization": self.rows(tpu_v4=tpu, a100=gpu)})[0], verdict)

    def test_pictures_are_the_same_bytes_and_mark_what_has_no_figure(self):
        draw = [claims_pictures.bars("t", {"a": {"x": 1, "y": None}}) for _ in range(2)]
        self.assertEqual(*draw)
        self.assertIn("–", draw[0])


if __name__ == "__main__":
    unittest.main()
