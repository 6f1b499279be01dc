# SPDX-License-Identifier: Apache-2.0
"""Runs test programs with a mutant in them: those near its class first, then all others."""

import collections
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import xml.etree.ElementTree

import mutate_build
from mutate_build import ROOT, WORK

# Programs that run for minutes without a mutant, or that check how files are read.
LEFT_OUT = re.compile(r"test_(simt_engines_\w+|wave|lowering|training|onnx|importers|generators|network|stablehlo|explain)$")

KINDS = {"unit": 0, "module": 1, "contract": 2}  # folder of tests → how far it is from a class
MEMORY = 4 << 30  # bytes of addresses a test may have
TIMES = WORK / "times.json"


def text_of(path):
    """Of a test file, with that of what it includes from tests/."""
    text = (ROOT / path).read_text()
    return "".join([text, *(text_of(name) for name in re.findall(r'^#include "(tests/.*)"', text, re.MULTILINE))])


class Program:
    """A test program: what it is linked from, and how long it runs when nothing is wrong."""

    def __init__(self, name, link, binary):
        self.name = name
        self.link = link  # words
        self.binary = binary
        sources = [word.split(".dir/")[1].removesuffix(".o") for word in link if f"/{name}.dir/" in word]
        self.text = {source: text_of(f"tests/{source}") for source in sources if (ROOT / "tests" / source).exists()}
        self.kind = min((KINDS.get(source.split("/")[0], 2) for source in sources), default=2)
        self.stamp = str(binary.stat().st_mtime_ns)
        self.seconds = 0.0  # of the processor
        self.share = {}  # stem of a test file → its seconds

    def near(self, path):
        """Stems of test files: those that include the header of a source or are named as it is, those that include another header of
        its folder."""
        header, stem, folder = path.removesuffix(".cpp") + ".h", pathlib.Path(path).stem, str(pathlib.Path(path).parent) + "/"
        own = {name for name, text in self.text.items() if header in text or stem in name}
        beside = {name for name, text in self.text.items() if folder in text} - own
        return [sorted(pathlib.Path(name).stem for name in names) for names in (own, beside)]

    def measure(self):
        """What it takes without a mutant: [stamp, seconds, {stem of a test file: seconds}]. It must pass."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code, report = run_test(self.binary, 600, ["-r", "xml", "-d", "yes"])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if code != 0:
            raise SystemExit(f"tools/mutate: error: {self.name} fails without a mutant")
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        wall = collections.Counter()
        for case in xml.etree.ElementTree.fromstring(report).iter("TestCase"):
            wall[pathlib.Path(case.get("filename")).stem] += float(case.find("OverallResult").get("durationInSeconds"))
        scale = seconds / max(sum(wall.values()), 1e-9)
        return [self.stamp, seconds, {stem: time * scale for stem, time in wall.items()}]


class Bench:
    """The build, the test programs and their times. Processes that each judge a mutant may share it."""

    def __init__(self, build, wanted):
        WORK.mkdir(parents=True, exist_ok=True)
        self.build = mutate_build.Build(build)
        self.programs = [Program(name, link, self.build.folder / "tests" / name) for name, link in self.build.programs().items()
                         if not LEFT_OUT.match(name) and re.search(wanted, name)]

    def prepare(self, sources, pool):
        """Objects of their own for these sources, and the times of the tests near them."""
        self.build.take_apart(sources)
        self.measure([program for program in self.programs if any(self.concerns(program, source) and any(program.near(source))
                                                                  for source in sources)], pool)

    def prepare_far(self, sources, pool):
        self.measure([program for program in self.programs if any(self.concerns(program, source) for source in sources)], pool)

    def concerns(self, program, source):
        return self.build.archive(source) in program.link

    def measure(self, programs, pool):
        known = json.loads(TIMES.read_text()) if TIMES.exists() else {}
        fresh = [program for program in programs if known.get(program.name, [None])[0] != program.stamp]
        known.update(zip([program.name for program in fresh], pool.map(Program.measure, fresh)))
        TIMES.write_text(json.dumps(known, indent=0))
        for program in programs:
            _, program.seconds, program.share = known[program.name]

    def seconds(self, mutant, far):
        """What a survivor takes, without its compilation."""
        concerned = [program for program in self.programs if self.concerns(program, mutant.path)]
        return sum(limit for _, limit, _ in runs(concerned, mutant.path, far)) / 4

    def outcome(self, mutant, far):
        """`killed by PROGRAM`, `survived`, `survived (no test)` or `does not compile`; of the tests near the mutant, or of all others."""
        folder = WORK / f"mutant-{os.getpid()}"
        folder.mkdir(exist_ok=True)
        try:
            return self.outcome_in(folder, mutant, far)
        finally:
            shutil.rmtree(folder)

    def outcome_in(self, folder, mutant, far):
        original = self.build.archive(mutant.path)
        archive = self.archive_with(folder, mutant, original)
        if archive is None:
            return "does not compile"
        concerned = [program for program in self.programs if self.concerns(program, mutant.path)]
        for program, limit, tests in runs(concerned, mutant.path, far):
            binary = folder / program.name
            if not binary.exists():
                self.build.link(program.link, {**self.build.readable(program.link), original: archive}, binary)
            if run_test(binary, limit, [tests])[0] != 0:
                return f"killed by {program.name}"
        return "survived" if concerned else "survived (no test)"

    def archive_with(self, folder, mutant, original):
        """A copy of the archive with the mutant in the place of its original; nothing if the compiler refuses it."""
        text = (ROOT / mutant.path).read_text()
        member = folder / self.build.member(mutant.path)
        if not self.build.compile(mutant.path, text[:mutant.start] + mutant.text + text[mutant.end:], member):
            return None
        archive = folder / "mutant.a"
        shutil.copyfile(self.build.apart[original], archive)
        subprocess.run(["ar", "r", archive, member], check=True, capture_output=True)
        return archive


def runs(programs, path, far):
    return far_runs(programs, path) if far else near_runs(programs, path)


def near_runs(programs, path):
    """(program, seconds it may take, its tests as Catch2 names them) of the test files near a source, the nearest first."""
    found = []
    for program in programs:
        for distance, stems in enumerate(program.near(path)):
            if stems:
                seconds = sum(program.share.get(stem, 0.0) for stem in stems)
                found.append((distance, program.kind, seconds, program.name, program, ",".join(f"[#{stem}]" for stem in stems)))
    for _, _, seconds, _, program, tests in sorted(found, key=lambda run: run[:4]):
        yield program, int(5 + 4 * seconds), tests


def far_runs(programs, path):
    """All other tests, the shortest first."""
    for program in sorted(programs, key=lambda program: (program.seconds, program.name)):
        yield program, int(5 + 4 * program.seconds), "".join(f"~[#{stem}]" for stems in program.near(path) for stem in stems) or "*"


def run_test(binary, seconds, words):
    """(exit code, output) of a program that may use the processor for so long, and stops at the first failure."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    scratch = WORK / f"scratch-{os.getpid()}"  # tests at the same time may write files of the same name
    scratch.mkdir(exist_ok=True)
    try:
        done = subprocess.run([binary, "--abort", "-#", *words], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, env={**mutate_build.environment(), "TMPDIR": str(scratch)},
                              preexec_fn=limits, timeout=60 + 40 * seconds, check=False)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return -1, b""
    finally:
        shutil.rmtree(scratch)
