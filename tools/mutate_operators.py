# SPDX-License-Identifier: Apache-2.0
"""The small faults that tools/mutate puts into C++ sources, found by their text.

It leans on the house's format: binary operators stand between spaces, angle brackets of templates do not, a statement begins on a
line of its own. What the compiler refuses is no mutant.
"""

import dataclasses
import re

BLANK = "\x01"  # stands for the inside of a comment, of a string, of whatever is left alone

TOKENS = re.compile(r"""(?P<comment>//[^\n]*|/\*.*?\*/) | (?P<string>"(?:\\.|[^"\\\n])*") | (?P<char>'(?:\\.|[^'\\\n])') |
                        (?P<directive>^\#[^\n]*)""", re.VERBOSE | re.DOTALL | re.MULTILINE)

# A statement that names one of these is a message, a claim, or a declaration that has no code of its own.
SILENT = re.compile(r"\b(static_assert|SYSTOLE_CHECK|SYSTOLE_UNREACHABLE|throw|fmt::format|template|using|namespace)\b|\"")

LVALUE = r"[a-z_][\w.\[\]()*>-]*?"

# Name, what to find, what to write. Groups keep what stands around.
REPLACEMENTS = [
    ("comparison", r" < ", " <= "), ("comparison", r" <= ", " < "), ("comparison", r" > ", " >= "),
    ("comparison", r" >= ", " > "), ("comparison", r" == ", " != "), ("comparison", r" != ", " == "),
    ("arithmetic", r"(?<=[\w)\]]) \+ (?=[\w(*-])", " - "), ("arithmetic", r"(?<=[\w)\]]) - (?=[\w(*-])", " + "),
    ("arithmetic", r" \+= ", " -= "), ("arithmetic", r" -= ", " += "),
    ("extreme", r"(?<=\bstd::)min(?=[(<])", "max"), ("extreme", r"(?<=\bstd::)max(?=[(<])", "min"),
    ("logic", r" && ", " || "), ("logic", r" \|\| ", " && "),
]

CONSTANT = re.compile(r"(?<![\w.'])(\d[\d']*)(?=[,;:)\]} ]|u?l*\b)(?![\w.'])")

DROPPED = re.compile(rf"^[ ]*(?:(?:if \(.*\) |else )?)(?P<dropped>(?:(?:\+\+|--){LVALUE}|{LVALUE}(?:\+\+|--)|{LVALUE} [-+*/|&%]?= [^=].*|"
                     r"[a-z_][\w.>-]*\.(?:push_back|pop_front|pop_back|insert|erase|emplace_back|clear|reset|advance|resize|assign)\(.*\));)$",
                     re.MULTILINE)

CONDITION = re.compile(r"\b(?:if|while) \(")


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One change of one place in one file."""
    path: str
    line: int  # from 1
    kind: str
    start: int  # in the file's text
    end: int
    text: str  # what stands there instead
    before: str  # the line, and what becomes of it
    after: str

    @property
    def key(self):
        return f"{self.path} - {self.before} + {self.after}"


def masked(text):
    """The text with comments, strings and directives blanked out; quotes of strings stay."""
    def blank(match):
        kept = match.group(0)
        if match.lastgroup == "string":
            return '"' + BLANK * (len(kept) - 2) + '"'
        return re.sub(r"[^\n]", BLANK, kept)
    return TOKENS.sub(blank, text)


def closing(text, start):
    """Where the bracket that opens at `start` closes; nothing if it does not."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at
    return None


def silent_spans(code):
    """Statements that are left alone, as (start, end)."""
    spans, start = [], 0
    for match in re.finditer(r"[;{}]", code):
        if SILENT.search(code, start, match.end()):
            spans.append((start, match.end()))
        start = match.end()
    return spans


def edits(code):
    """(kind, start, end, text) of every change, silent places included."""
    for kind, pattern, text in REPLACEMENTS:
        for match in re.finditer(pattern, code):
            yield kind, match.start(), match.end(), text
    for match in CONSTANT.finditer(code):
        value = int(match.group(1).replace("'", ""))
        yield "constant", match.start(), match.end(1), str(value + 1)
        if value > 0:
            yield "constant", match.start(), match.end(1), str(value - 1)
    for match in DROPPED.finditer(code):
        yield "statement", match.start("dropped"), match.end("dropped"), ";"
    for match in CONDITION.finditer(code):
        end = closing(code, match.end() - 1)
        if end is not None and not re.search(r"; | = ", code[match.end():end]):
            yield "condition", match.end(), end, f"!({code[match.end():end]})"


def mutants(path, text):
    """All mutants of a file, in the order of their places."""
    code = masked(text)
    spans = silent_spans(code)
    found = []
    for kind, start, end, new in edits(code):
        if BLANK in code[start:end] or any(first <= start < last for first, last in spans):
            continue
        changed = text[:start] + new + text[end:]
        first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        after = changed[first:last + len(new) - (end - start)]
        found.append(Mutant(path, text.count("\n", 0, start) + 1, kind, start, end, new,
                            one_line(text[first:last]), one_line(after)))
    return sorted(found, key=lambda mutant: (mutant.start, mutant.end, mutant.text))


def one_line(text):
    return " ".join(text.split())
