# SPDX-License-Identifier: Apache-2.0
"""The dataflow explorer's page in chromium (tools/web/test/explorer.mjs), as one test of this suite."""

import os
import pathlib
import shutil
import subprocess
import unittest

WEB = pathlib.Path(os.environ["SYSTOLE_HOME"]) / "tools" / "web"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")


@unittest.skipUnless(shutil.which("node") and os.access(CHROMIUM, os.X_OK) and (WEB / "node_modules").is_dir(),
                     "needs node, chromium and 'npm ci' in tools/web")
class Page(unittest.TestCase):
    def test_the_page_shows_what_the_engine_computed_to_everybody(self):
        done = subprocess.run(["node", "--test", WEB / "test" / "explorer.mjs"], capture_output=True, text=True,
                              timeout=600, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
