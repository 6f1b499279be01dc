# SPDX-License-Identifier: Apache-2.0
"""Links mutants into what a finished build has, and leaves that build as it is.

The presets compile several files as one (a batch). A batch with a file that is to be mutated is compiled once more, file by file and
quickly; after that a mutant costs one short compilation, one copy of an archive and one link.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

from mutate_sources import ROOT

WORK = ROOT / "build/mutate"
QUICK = ["-O1", "-Wno-error"]  # a mutant may leave a name unused


def environment():
    # Clones in different places share what the compiler cache holds.
    return {**os.environ, "CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1", "CCACHE_DEPEND": "1",
            "SYSTOLE_HOME": str(ROOT)}


class Build:
    """A build of the preset `test`, of these very sources, though perhaps of a clone elsewhere."""

    def __init__(self, folder):
        self.folder = folder.resolve()
        commands = self.folder / "compile_commands.json"
        if not commands.exists():
            raise SystemExit(f"tools/mutate: error: no {commands}; build the preset test first")
        self.home = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", (self.folder / "CMakeCache.txt").read_text(), re.MULTILINE).group(1)
        self.command = {}  # source → words that compile it by itself
        self.object = {}  # source → the object it is in
        self.apart = {}  # archive → a copy of it with objects for single sources
        self.deferred = set()  # archives whose code GCC makes at link time only, which a quick linker cannot read
        for entry in json.loads(commands.read_text()):
            self.note(shlex.split(entry["command"]), entry["file"])

    def note(self, words, file):
        batch = self.folder / pathlib.Path(file).relative_to(self.home_folder()) if "/Unity/" in file else None
        members = re.findall(r'^#include "(.*)"', batch.read_text(), re.MULTILINE) if batch else [file]
        kept = [word for word in words if not re.match(r"-flto|-fno-fat-lto|.*/ccache$", word)]
        for member in members:
            if member.startswith(self.home + "/"):
                source = member.removeprefix(self.home + "/")
                self.object[source] = words[words.index("-o") + 1]
                if len(kept) < len(words) and any(word.startswith("-flto") for word in words):
                    self.deferred.add(self.archive(source))
                self.command[source] = [word.replace(f"-I{self.home}", f"-I{ROOT}") for word in kept[:kept.index("-o")]] + QUICK

    def home_folder(self):
        """Where the build was made, which is not where it lies if it was copied."""
        return re.search(r"^# For build in directory: (.*)$", (self.folder / "CMakeCache.txt").read_text(), re.MULTILINE).group(1)

    def archive(self, source):
        """The static library that a source is in; of a program's own sources, one that is not there."""
        folder, target = re.match(r"(?:(.*)/)?CMakeFiles/(.*?)\.dir/", self.object[source]).groups()
        return f"{folder}/lib{target}.a"

    def compile(self, source, text, object_file):
        """Whether the compiler takes the text, or else the source itself, which the compiler cache may hold."""
        file, launcher = ROOT / source, ["ccache"] if shutil.which("ccache") else []
        if text is not None:
            file, launcher = object_file.with_suffix(".cpp"), []
            file.write_text(text)
        words = [*launcher, *self.command[source], "-MD", "-o", str(object_file), "-c", str(file)]
        return subprocess.run(words, cwd=WORK, capture_output=True, check=False, env=environment()).returncode == 0

    def take_apart(self, sources):
        """Gives each of the sources an object of its own in a copy of its archive, and all sources of an archive that a quick linker
        cannot read. `apart` has the copies."""
        wanted = {self.archive(source) for source in sources} | self.deferred
        kept = {archive: [source for source in self.object if self.archive(source) == archive and
                          (archive in self.deferred or source in sources)] for archive in wanted}
        objects = {self.object[source] for each in kept.values() for source in each}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(self.single, sorted(source for source in self.object if self.object[source] in objects)))
        self.apart = {archive: self.split(archive, each) for archive, each in kept.items() if (self.folder / archive).exists()}

    def readable(self, link):
        """For archives of a program that a quick linker cannot read: archive → one that it can."""
        return {archive: self.apart[archive] for archive in self.deferred.intersection(link)}

    def split(self, archive, sources):
        """A copy of an archive in which each source has an object of its own, and what shares an object with it."""
        objects = {self.object[source] for source in sources}
        singles = [self.single(member) for member in sorted(self.object) if self.object[member] in objects]
        made = WORK / "archives" / archive.replace("/", "_")
        made.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.folder / archive, made)
        subprocess.run(["ar", "d", made, *(pathlib.Path(name).name for name in sorted(objects))], check=True)
        subprocess.run(["ar", "r", made, *singles], check=True, capture_output=True)
        return made

    def single(self, source):
        """The object of one file, compiled by itself."""
        file = WORK / "objects" / self.member(source)
        newest = max((ROOT / source).stat().st_mtime, (self.folder / self.object[source]).stat().st_mtime)
        if not file.exists() or file.stat().st_mtime < newest:
            file.parent.mkdir(parents=True, exist_ok=True)
            if not self.compile(source, None, file):
                raise SystemExit(f"tools/mutate: error: {source} does not compile")
        return file

    def member(self, source):
        return source.replace("/", "_") + ".o"

    def programs(self):
        """Test program → words that link it."""
        built = [f"tests/{file.name}" for file in sorted((self.folder / "tests").glob("test_*")) if os.access(file, os.X_OK) and file.is_file()]
        listed = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", *built], check=True, capture_output=True, text=True).stdout
        links = {}
        for line in listed.splitlines():
            match = re.search(r" -o tests/(test_\w+) ", line)
            if match:
                links[match.group(1)] = shlex.split(line.removeprefix(": && ").removesuffix(" && :"))
        return links

    def link(self, words, replaced, program):
        """Links with some archives replaced, by a linker that takes half a second."""
        new = [str(replaced.get(word, word)) for word in words]
        new[new.index("-o") + 1] = str(program)
        done = subprocess.run([*new, "-fuse-ld=lld"], cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"tools/mutate: error: cannot link {program.name}: {done.stderr[-600:]}")
