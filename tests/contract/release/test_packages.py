# SPDX-License-Identifier: Apache-2.0
"""What users get answers as what was built: the program installed, unpacked from the Debian package and from the
archive, each run from its own place with nothing of the build tree around it."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ["SYSTOLE"])
HOME = pathlib.Path(os.environ["SYSTOLE_HOME"])
BUILD = pathlib.Path(os.environ["SYSTOLE_BUILD"])
CMAKE = os.environ.get("CMAKE", "cmake")
CPACK = os.environ.get("CPACK", "cpack")

COMMANDS = [
    ["list"],
    ["run", "tpu_v4", "resnet50", "-o", "run"],
    ["report", "run/result.json", "-o", "report.html"],
    ["explore", "--lesson", "dataflows", "-o", "lesson.html"],
    ["op", "h100", "matmul", "m=512", "n=512", "k=512", "--format", "json"],
]


def call(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def answers(program, directory, **environment):
    """What every command says and writes, in an empty directory: {name: bytes}."""
    directory.mkdir()
    plain = {"PATH": os.environ["PATH"], "LC_ALL": "C", **environment}
    found = {}
    for words in COMMANDS:
        found[" ".join(words)] = call(program, *words, cwd=directory, env=plain).encode()
    for file in sorted(directory.rglob("*")):
        if file.is_file():
            found[str(file.relative_to(directory))] = file.read_bytes()
    return found


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.top = pathlib.Path(directory.name)
        cls.expected = answers(PROGRAM, cls.top / "built", SYSTOLE_HOME=str(HOME))

    def expect_same_answers(self, program):
        self.assertTrue(program.is_file(), program)
        found = answers(program, self.top / f"by_{self.id().split('.')[-1]}")
        self.assertEqual(list(found), list(self.expected))
        for name, content in self.expected.items():
            self.assertTrue(found[name] == content, f"{name} differs")

    def pack(self, generator):
        """The one package of this kind, made in a folder of its own; its time is that of 2001-09-09."""
        folder = self.top / generator
        call(CPACK, "--config", BUILD / "CPackConfig.cmake", "-G", generator, "-B", folder, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip",
             cwd=self.top, env={**os.environ, "SOURCE_DATE_EPOCH": "1000000000"})
        (package,) = [path for path in folder.iterdir() if path.is_file()]
        return package

    def test_an_installed_program_finds_its_presets_and_goes_on_when_its_prefix_is_moved(self):
        call(CMAKE, "--install", BUILD, "--prefix", "/usr", "--strip", env={**os.environ, "DESTDIR": str(self.top / "root")})
        (self.top / "root/usr").rename(self.top / "moved prefix")
        self.expect_same_answers(self.top / "moved prefix/bin/systole")
        for path in ("share/man/man1/systole.1.gz", "share/doc/systole/docs/tutorial.md", "share/doc/systole/LICENSE",
                     "share/doc/systole/CHANGELOG.md"):
            self.assertTrue((self.top / "moved prefix" / path).is_file(), path)

    def test_an_archive_answers_wherever_it_is_unpacked(self):
        package = self.pack("TGZ")
        shutil.unpack_archive(package, self.top / "unpacked")
        (folder,) = (self.top / "unpacked").iterdir()
        self.assertEqual(package.name, folder.name + ".tar.gz")
        self.expect_same_answers(folder / "bin/systole")
        listing = call("tar", "--list", "--verbose", "--full-time", "--utc", "--file", package)
        self.assertEqual([line for line in listing.splitlines() if "2001-09-09 01:46:40" not in line], [])

    @unittest.skipUnless(shutil.which("dpkg-shlibdeps"), "dpkg-dev is not installed")
    def test_a_debian_package_answers_and_says_what_it_needs(self):
        package = self.pack("DEB")
        version = call(PROGRAM, "--version").split()[1]
        self.assertRegex(package.name, rf"^systole_{version}_\w+\.deb$")
        fields = call("dpkg-deb", "--field", package)
        self.assertIn("Section: science\n", fields)
        self.assertRegex(fields, r"(?m)^Maintainer: .+ <.+@.+>$")
        for library in ("libsystemc", "libyaml-cpp", "libfmt", "libboost-program-options", "libsqlite3"):
            self.assertRegex(fields, rf"(?m)^Depends: .*\b{library}")
        call("dpkg-deb", "--extract", package, self.top / "extracted")
        self.expect_same_answers(self.top / "extracted/usr/bin/systole")
        documents = self.top / "extracted/usr/share/doc/systole"
        self.assertTrue((documents / "copyright").is_file())
        self.assertFalse((documents / "LICENSE").exists())
        self.assertIn(b"Sun, 09 Sep 2001 01:46:40 +0000",
                      subprocess.check_output(["gzip", "-dc", documents / "changelog.gz"]))

    def test_a_program_without_its_data_says_where_it_looked(self):
        alone = shutil.copy(PROGRAM, self.top / "alone")
        done = subprocess.run([alone, "list"], capture_output=True, text=True, env={}, cwd=self.top)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("found no presets where the program is (in '../share/systole'); set SYSTOLE_HOME", done.stderr)
