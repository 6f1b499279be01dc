# SPDX-License-Identifier: Apache-2.0
"""Pages that systole writes, in chromium (tools/web/test), and the bundles that they are made from."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

WEB = pathlib.Path(os.environ["SYSTOLE_HOME"]) / "tools" / "web"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")


@unittest.skipUnless(shutil.which("node") and (WEB / "node_modules").is_dir(), "needs node and 'npm ci' in tools/web")
class Pages(unittest.TestCase):
    def in_chromium(self, name):
        if not os.access(CHROMIUM, os.X_OK):
            self.skipTest("needs chromium")
        done = subprocess.run(["node", "--test", WEB / "test" / name], capture_output=True, text=True, timeout=600,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_reports_are_drawn_with_the_figures_of_results_and_for_everybody(self):
        self.in_chromium("report.mjs")


@unittest.skipUnless(shutil.which("node") and (WEB / "node_modules").is_dir(), "needs node and 'npm ci' in tools/web")
class Bundles(unittest.TestCase):
    def test_what_is_checked_in_is_what_the_sources_make(self):
        with tempfile.TemporaryDirectory() as made:
            subprocess.run(["node", "build.mjs", "--to", made], cwd=WEB, check=True, capture_output=True)
            pages = sorted(file.name for file in pathlib.Path(made).iterdir())
            self.assertEqual(pages, sorted(file.name for file in (WEB / "dist").iterdir()))
            for page in pages:
                self.assertEqual((pathlib.Path(made) / page).read_bytes(), (WEB / "dist" / page).read_bytes(),
                                 f"{page} is not what its sources make: run 'npm run build' in tools/web")


if __name__ == "__main__":
    unittest.main()
