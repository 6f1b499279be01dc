#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every command of a page of README.md or docs/ in a directory of its own, and compares what it prints with what the page
shows. usage: check_page.py [--update] [PAGE...] (all pages without one), with $SYSTOLE and $SYSTOLE_HOME as for other tests.
--update writes the output that is shown anew, and what was left out (…) stays out."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import figures
import pages
import transcripts

PATIENCE = 120  # seconds for a command; pages are meant to take a few in all
LESSONS = re.compile(r"docs/(tutorial|course/\d_.*)\.md")


class Desk:
    """A reader's directory: the program as `systole` and `build/systole`, the clone's traces and configs, and a page's files."""

    def __init__(self, program, home):
        self.directory = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.directory.name)
        (self.path / "build").mkdir()
        (self.path / "build" / "systole").symlink_to(pathlib.Path(program).resolve())
        for shelf in ("configs", "traces"):
            (self.path / shelf).symlink_to(home / shelf)
        self.environment = {**os.environ, "SYSTOLE_HOME": str(home), "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
                            "PATH": f"{self.path / 'build'}:{os.environ['PATH']}"}

    def run(self, words):
        """(exit code, lines of both outputs); pipes fail where one of their commands does."""
        done = subprocess.run(["bash", "-o", "pipefail", "-c", words], cwd=self.path, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=PATIENCE)
        return done.returncode, done.stdout.rstrip("\n").split("\n") if done.stdout.strip() else []


def check_command(desk, command, name):
    """(complaint or None, output). A page that shows an error means it: the exit code is then that of wrong input."""
    code, output = desk.run(command.words)
    refused = any("error: " in line for line in command.shown or ())
    if code != (2 if refused else 0):
        return f"{name}:{command.line}: exit code {code}: {command.words}\n" + "\n".join(output[-12:]), output
    if command.shown is None:
        return None, output
    wrong = transcripts.difference([line.rstrip() for line in command.shown], [line.rstrip() for line in output])
    return wrong and f"{name}:{command.line}: prints something else: {command.words}\n{wrong}", output


def check(text, name, desk):
    """(complaints, the page with output as it is now, commands that were run, what was not run)."""
    lines, complaints, run, skipped, changes = text.split("\n"), [], 0, [], []
    for step in pages.steps(text, name):
        if isinstance(step, pages.File):
            path = desk.path / step.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text)
        elif isinstance(step, pages.Skipped):
            skipped.append(step)
        else:
            complaint, output = check_command(desk, step, name)
            run += 1
            if complaint:
                complaints.append(complaint)
            if complaint and step.shown is not None:
                now = transcripts.renewed(step.shown, [line.rstrip() for line in output])
                changes.append((step, [step.indent + line if line else line for line in now]))
    for step, now in reversed(changes):
        lines[step.first:step.first + len(step.shown)] = now
    return complaints, "\n".join(lines), run, skipped


def main(arguments):
    program, home = os.environ["SYSTOLE"], pathlib.Path(os.environ["SYSTOLE_HOME"]).resolve()
    update = "--update" in arguments
    failed = False
    for name in [word for word in arguments if word != "--update"] or pages.pages(home):
        start, path = time.monotonic(), home / name
        text = path.read_text()
        desk = Desk(program, home)
        complaints, now, run, skipped = check(text, name, desk)
        if update and now != text:
            path.write_text(now)
            desk = Desk(program, home)
            complaints = check(now, name, desk)[0]
        if LESSONS.fullmatch(name):
            complaints += figures.wrong(now if update else text, name)
        print(*complaints, sep="\n", end="\n" if complaints else "")
        print(f"{name}: {run} commands, {len(skipped)} not run, {len(complaints)} wrong, {time.monotonic() - start:.1f} s", flush=True)
        failed = failed or bool(complaints)
    if failed and not update:
        print("tests/contract/docs/check_page.py --update PAGE writes the output anew; read it before you keep it")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except pages.PageError as error:
        sys.exit(str(error))
