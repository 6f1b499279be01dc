# SPDX-License-Identifier: Apache-2.0
"""Which commit a build says it is of: that of its repository, of its archive, or none."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

HOME = pathlib.Path(os.environ["SYSTOLE_HOME"])
CMAKE = os.environ.get("CMAKE", "cmake")
# A user's own settings (signing, templates) are no part of the test.
GIT = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_CEILING_DIRECTORIES": tempfile.gettempdir(),
       "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Commit(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.top = pathlib.Path(directory.name)

    def git(self, *words, cwd):
        return subprocess.run(["git", *words], cwd=cwd, env=GIT, capture_output=True, text=True, check=True).stdout.strip()

    def sources(self, folder):
        """The files that have to do with it, in a folder that is no repository."""
        shutil.copytree(HOME / "tools/release", folder / "tools/release")
        shutil.copy(HOME / ".gitattributes", folder)
        return folder

    def repository(self):
        """The same, committed; and the first digits of the commit."""
        folder = self.sources(self.top / "repository")
        self.git("init", "--quiet", cwd=folder)
        self.git("add", ".", cwd=folder)
        self.git("commit", "--quiet", "--message", "first", cwd=folder)
        return folder, self.git("rev-parse", "HEAD", cwd=folder)[:12]

    def commit_of(self, folder):
        """What the written source file says."""
        output = self.top / "commit.cpp"
        subprocess.run([CMAKE, "-D", f"SOURCE_DIR={folder}", "-D", f"OUTPUT={output}", "-P",
                        folder / "tools/release/commit.cmake"], env=GIT, check=True)
        return output.read_text().split('return "')[1].split('"')[0]

    def test_a_repository_says_its_commit_and_whether_files_differ_from_it(self):
        folder, commit = self.repository()
        self.assertEqual(self.commit_of(folder), commit)
        with open(folder / "tools/release/copyright", "a") as file:
            file.write("x")
        self.assertEqual(self.commit_of(folder), commit + "-dirty")

    def test_a_tag_does_not_take_the_place_of_the_commit(self):
        folder, commit = self.repository()
        self.git("tag", "--annotate", "--message", "x", "v1", cwd=folder)
        self.assertEqual(self.commit_of(folder), commit)

    def test_an_archive_says_the_commit_it_is_of(self):
        folder, commit = self.repository()
        archive = self.top / "unpacked"
        archive.mkdir()
        self.git("archive", "--output", self.top / "a.tar", "HEAD", cwd=folder)
        shutil.unpack_archive(self.top / "a.tar", archive)
        self.assertEqual(self.commit_of(archive), commit)

    def test_sources_without_history_do_not_know(self):
        self.assertEqual(self.commit_of(self.sources(self.top / "plain")), "unknown")

    def test_sources_inside_the_repository_of_something_else_do_not_take_its_commit(self):
        outer, _ = self.repository()
        self.assertEqual(self.commit_of(self.sources(outer / "vendored")), "unknown")

    def test_the_file_is_left_alone_while_the_commit_is_the_same(self):
        folder, _ = self.repository()
        self.commit_of(folder)
        os.utime(self.top / "commit.cpp", (1, 1))
        self.commit_of(folder)
        self.assertEqual((self.top / "commit.cpp").stat().st_mtime, 1)


if __name__ == "__main__":
    unittest.main()
