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


needs_packages = unittest.skipUnless(shutil.which("node") and (WEB / "node_modules").is_dir(),
                                     "needs node and 'npm ci' in tools/web")


@needs_packages
@unittest.skipUnless(os.access(CHROMIUM, os.X_OK), "needs chromium")
class Pages(unittest.TestCase):
    def in_chromium(self, name):
        done = subprocess.run(["node", "--test", WEB / "test" / name], capture_output=True, text=True, timeout=900,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_report(self):
        """Charts are drawn with the figures of results, and for everybody."""
        self.in_chromium("report.mjs")

    def test_report_of_files(self):
        """Names stay text, and the command on a page makes its figures again."""
        self.in_chromium("report_of_files.mjs")

    def test_report_of_a_sweep(self):
        """Points are chosen in drawings and by keys, and the front is what it is."""
        self.in_chromium("sweep_report.mjs")

    def test_explorer(self):
        """The explorer shows what the engine computed, and to everybody."""
        self.in_chromium("explorer.mjs")


@needs_packages
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
