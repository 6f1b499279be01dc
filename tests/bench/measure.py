# SPDX-License-Identifier: Apache-2.0
"""How long whole processes take: what the benches share."""

import dataclasses
import mmap
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

HOME = pathlib.Path(__file__).resolve().parent.parent.parent
LIBRARY = "libbench_allocations.so"


@dataclasses.dataclass
class Run:
    """Of one process and its children: seconds by the wall, of processors in the program and in the system, peak MB."""
    wall: float
    user: float
    system: float
    megabytes: float

    @property
    def cpu(self):
        return self.user + self.system


def once(command, output=subprocess.DEVNULL, **options):
    """Runs it, its output into a file. Ends this program where the command fails.

    A process counts as its own memory what the one had that started it: so this one must stay small, and outputs are not read here.
    """
    with tempfile.TemporaryFile() as errors:
        begin = time.monotonic()
        process = subprocess.Popen(command, stdout=output, stderr=errors, **options)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            sys.exit(f"{' '.join(map(str, command))} failed: {errors.read().decode(errors='replace').strip()}")
        return Run(wall, usage.ru_utime, usage.ru_stime, usage.ru_maxrss / 1024)


def median(runs):
    """Of every figure by itself; of memory the most."""
    return Run(*(statistics.median(getattr(run, key) for run in runs) for key in ("wall", "user", "system")),
               max(run.megabytes for run in runs))


def allocations(command, library, **options):
    """How often the command and its children ask for memory: counted by a library that is preloaded (allocations.cpp)."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(bytes(8))
        file.flush()
        environment = {**os.environ, "LD_PRELOAD": str(library), "SYSTOLE_ALLOCATIONS": file.name}
        once(command, env=environment, **options)
        with mmap.mmap(file.fileno(), 8, access=mmap.ACCESS_READ) as count:
            return int.from_bytes(count[:], sys.byteorder)


def machine():
    """What the figures were taken on, in general words."""
    text = pathlib.Path("/proc/cpuinfo").read_text() if pathlib.Path("/proc/cpuinfo").exists() else ""
    clock = re.search(r"cpu MHz\s*:\s*([0-9.]+)", text)
    compiler = subprocess.run(["c++", "--version"], capture_output=True, text=True).stdout.splitlines()
    return (f"{os.cpu_count()} {platform.machine()} cores" + (f" at {float(clock[1]) / 1000:.1f} GHz" if clock else "")
            + (f", {compiler[0]}" if compiler else "") + ", Release")


def replace_block(page, name, lines):
    """Writes `lines` between the page's marks `<!-- NAME -->` and `<!-- end of NAME -->`."""
    text = page.read_text()
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    if begin not in text or end not in text:
        sys.exit(f"{page}: there are no marks of '{name}'")
    head, rest = text.split(begin, 1)
    page.write_text(head + begin + "".join(line + "\n" for line in lines) + end + rest.split(end, 1)[1])
