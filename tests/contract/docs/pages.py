# SPDX-License-Identifier: Apache-2.0
"""What a page of Markdown asks a reader to do: commands with the output it shows, files to write, and what is left out."""

import dataclasses
import re

PROGRAMS = ("systole", "build/systole")
BESIDE = ("awk", "cat", "cut", "grep", "head", "sed", "tail")  # what a reader has, beside the program under test
LEFT_OUT = ("tools/", "git ", "sudo ", "cmake ", "ninja ")  # set-up and the tools: they have tests of their own
ELLIPSIS = "…"
FENCE = re.compile(r"^( *)(```+)([^`]*)$")
MARK = re.compile(r"^<!-- not run: (.*?) -->$")
RECORDS = ("docs/journal.md", "docs/status.md")  # of what was once measured
GENERATED = re.compile(r"Written by `tools/")  # among a page's first lines: it has a test of its own


class PageError(Exception):
    """The page itself is wrong: `file:line: what`."""


@dataclasses.dataclass
class Block:
    """A fenced block: its lines between the fences, without their indentation."""
    first: int  # index of the first line after the fence
    lines: list
    indent: str
    words: list  # of the fence
    reason: str = ""  # why it is not run; empty if it is

    @property
    def language(self):
        return self.words[0] if self.words else ""


@dataclasses.dataclass
class Command:
    """One command, and what the page shows of its output; None where it shows nothing."""
    words: str
    line: int
    shown: list = None
    first: int = 0  # index in the page of the first line that is shown
    indent: str = ""


@dataclasses.dataclass
class File:
    """A block that the reader keeps under a name: the second word of its fence."""
    name: str
    text: str
    line: int


@dataclasses.dataclass
class Skipped:
    words: str
    line: int
    reason: str


def pages(home):
    """Paths of all pages that people write, the README first."""
    found = ["README.md", "CONTRIBUTING.md", *sorted(str(path.relative_to(home)) for path in (home / "docs").rglob("*.md"))]
    return [name for name in found if name not in RECORDS and not GENERATED.search((home / name).read_text()[:600])]


def blocks(lines, name):
    """All fenced blocks of a page; a reason stands in a comment of its own before the fence."""
    found, opened, mark = [], None, ""
    for index, line in enumerate(lines):
        fence = FENCE.match(line)
        if opened is None:
            if fence:
                opened = Block(index + 1, [], fence[1], fence[3].split(), mark)
                closing = fence[2]
            elif line.strip():
                reason = MARK.match(line.strip())
                mark = reason[1].strip() if reason else ""
                if "not run" in line and line.lstrip().startswith("<!--") and not mark:
                    raise PageError(f"{name}:{index + 1}: a mark reads '<!-- not run: reason -->'")
        elif fence and fence[2].startswith(closing) and not fence[3]:
            found.append(opened)
            opened, mark = None, ""
        else:
            opened.lines.append(line.removeprefix(opened.indent))
    if opened is not None:
        raise PageError(f"{name}:{opened.first}: this block is never closed")
    return found


def is_command(line):
    return line.startswith(tuple(program + " " for program in PROGRAMS))


def joined(lines, index):
    """A command that goes on behind a backslash, and the index of the line after it."""
    words = lines[index]
    while words.endswith("\\") and index + 1 < len(lines):
        index += 1
        words = words[:-1] + lines[index].strip()
    return words, index + 1


def transcript(block, name):
    """`$ command`, and below it what it prints."""
    index, found = 0, []
    while index < len(block.lines):
        line = block.first + index + 1
        if not block.lines[index].startswith("$ "):
            raise PageError(f"{name}:{line}: output without a command before it")
        words, index = joined(block.lines, index)
        words = words.removeprefix("$ ")
        if not words.startswith(tuple(first + " " for first in PROGRAMS + BESIDE)):
            raise PageError(f"{name}:{line}: '{words.split()[0]}' is none of {', '.join(PROGRAMS + BESIDE)}; "
                            "mark the block with <!-- not run: reason -->, or leave the '$' out")
        first = index
        while index < len(block.lines) and not block.lines[index].startswith("$ "):
            index += 1
        found.append(Command(words, line, block.lines[first:index], block.first + first, block.indent))
    return found


def listing(block, name):
    """Commands below each other, without their output; `#` begins a remark."""
    index, found = 0, []
    while index < len(block.lines):
        line = block.first + index + 1
        words, index = joined(block.lines, index)
        if is_command(words):
            found.append(Command(words, line))
        elif words.strip() and not words.startswith("#"):
            raise PageError(f"{name}:{line}: a list of commands has nothing else in it")
    return found


def of_block(block, name):
    """What a block asks for."""
    begin = next((line for line in block.lines if line.strip() and not line.startswith("#")), "")
    if block.language not in ("", "console", "sh", "bash"):
        named = len(block.words) > 1
        return [File(block.words[1], "\n".join(block.lines) + "\n", block.first)] if named else []
    if begin.startswith(LEFT_OUT):
        return []
    asks = [line.removeprefix("$ ") for line in block.lines if line.startswith("$ ") or is_command(line)]
    if block.reason:
        return [Skipped(words, block.first, block.reason) for words in asks]
    if begin.startswith("$ "):
        return transcript(block, name)
    if is_command(begin):
        return listing(block, name)
    if asks:
        raise PageError(f"{name}:{block.first}: a block with commands begins with one")
    return []


INLINE = re.compile(r"(?<!`)`((?:build/)?systole [^`]+)`(?!`)")
# Says how commands are written, or names one with an option, and is none.
PATTERN = re.compile(r"\b[A-Z]{2,}\b|…|\.\.\.|\||\[|systole \w+ -|systole (trace llm|show (device|memory|trace))$")


def inline(lines, name, fenced):
    """Whole commands inside sentences, to be run without a look at their output: three words at least, no placeholder."""
    found, mark = [], ""
    for index, line in enumerate(lines):
        if index in fenced:
            continue
        reason = MARK.match(line.strip())
        for words in INLINE.findall(line):
            if len(words.split()) >= 3 and not PATTERN.search(words):
                found.append(Skipped(words, index + 1, mark) if mark else Command(words, index + 1))
        if line.strip():
            mark = reason[1].strip() if reason else ""
    return found


def steps(text, name):
    """Everything that a page asks for, in its order."""
    lines = text.split("\n")
    found = blocks(lines, name)
    fenced = {index for block in found for index in range(block.first - 1, block.first + len(block.lines) + 1)}
    asked = [step for block in found for step in of_block(block, name)] + inline(lines, name, fenced)
    return sorted(asked, key=lambda step: step.line)
