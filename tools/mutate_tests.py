# SPDX-License-Identifier: Apache-2.0
"""Runs test programs with a mutant in them, from near to far."""

import json
import pathlib
import re
import resource
import shutil
import subprocess

import mutate_build
from mutate_build import ROOT, WORK

# Programs that run for minutes without a mutant, or that check how files are read.
LEFT_OUT = re.compile(r"test_(simt_engines_\w+|wave|lowering|training|onnx|importers|generators|network|stablehlo|explain)$")

KINDS = {"unit": 0, "module": 1, "contract": 2}  # folder of tests → how far it is from a class
MEMORY = 8 << 30  # bytes of addresses a test may have


class Program:
    """A test program: what it is linked from, and how long it runs when nothing is wrong."""

    def __init__(self, name, link):
        self.name = name
        self.link = link  # words
        sources = [word.split(".dir/")[1].removesuffix(".o") for word in link if f"/{name}.dir/" in word]
        self.text = {source: (ROOT / "tests" / source).read_text() for source in sources if (ROOT / "tests" / source).exists()}
        self.kind = min((KINDS.get(source.split("/")[0], 2) for source in sources), default=2)
        self.seconds = None

    def near(self, path):
        """Tags, as Catch2 has them, of the test files that include the header of a source or are named as it is."""
        header, stem = path.removesuffix(".cpp") + ".h", pathlib.Path(path).stem
        return [f"[#{pathlib.Path(source).stem}]" for source, text in self.text.items() if header in text or stem in source]

    def distance(self, path):
        """Unit tests first; among those the ones that include the header, then those that include another of its folder."""
        folder = str(pathlib.Path(path).parent) + "/"
        return (self.kind, 0 if self.near(path) else 1 if any(folder in text for text in self.text.values()) else 2, self.name)


class Bench:
    """The build, the test programs and their times."""

    def __init__(self, build, wanted):
        WORK.mkdir(parents=True, exist_ok=True)
        self.build = mutate_build.Build(build)
        self.programs = [Program(name, link) for name, link in self.build.programs().items()
                         if not LEFT_OUT.match(name) and re.search(wanted, name)]
        self.folder = WORK / "mutant"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.times = WORK / "times.json"

    def outcome(self, mutant):
        """`killed by PROGRAM`, `survived`, `survived (no test)` or `does not compile`."""
        original = self.build.archive(mutant.path)
        archive = self.archive_with(mutant, original)
        if archive is None:
            return "does not compile"
        concerned = [program for program in self.programs if original in program.link]
        for program in sorted(concerned, key=lambda program: program.distance(mutant.path)):
            binary = self.folder / program.name
            self.build.link(program.link, {**self.build.readable(program.link), original: archive}, binary)
            killed = self.fails(program, binary, program.near(mutant.path))
            binary.unlink()
            if killed:
                return f"killed by {program.name}"
        return "survived" if concerned else "survived (no test)"

    def archive_with(self, mutant, original):
        """A copy of the archive with the mutant in the place of its original; nothing if the compiler refuses it."""
        text = (ROOT / mutant.path).read_text()
        member = self.folder / self.build.member(mutant.path)
        if not self.build.compile(mutant.path, text[:mutant.start] + mutant.text + text[mutant.end:], member):
            return None
        sources = self.build.sources(original) if original in self.build.deferred else [mutant.path]
        archive = self.folder / "mutant.a"
        shutil.copyfile(self.build.split(original, sources), archive)
        subprocess.run(["ar", "r", archive, member], check=True, capture_output=True)
        return archive

    def fails(self, program, binary, near):
        """Whether a test does. Those near the mutant go first."""
        limit = int(5 + 4 * self.seconds_of(program))
        if near and run_test(binary, limit, ",".join(near)):
            return True
        return run_test(binary, limit, "".join(f"~{tag}" for tag in near) or "*") != 0

    def seconds_of(self, program):
        """What a program takes of the processor without a mutant. It must pass."""
        if program.seconds is None:
            known = json.loads(self.times.read_text()) if self.times.exists() else {}
            binary = self.build.folder / "tests" / program.name
            stamp = str(binary.stat().st_mtime_ns)
            if known.get(program.name, [None])[0] != stamp:
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                if run_test(binary, 600, "*") != 0:
                    raise SystemExit(f"tools/mutate: error: {program.name} fails without a mutant")
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                known[program.name] = [stamp, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime]
                self.times.write_text(json.dumps(known, indent=0))
            program.seconds = known[program.name][1]
        return program.seconds


def run_test(binary, seconds, tests):
    """The exit code of a program that may use the processor for so long, and stops at the first failure."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        return subprocess.run([binary, "--abort", "-#", tests], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=mutate_build.environment(), preexec_fn=limits,
                              timeout=60 + 40 * seconds, check=False).returncode
    except subprocess.TimeoutExpired:
        return -1
