# SPDX-License-Identifier: Apache-2.0
"""Figures in the text of a lesson: each is on the page as a command's output, or comes out of arithmetic that is worked out here."""

import math
import re

from pages import blocks

NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
ARITHMETIC = re.compile(r"[\d\s.,+\-*/()e⌈⌉⌊⌋]+")
FUNCTIONS = {"max": max, "min": min, "sqrt": math.sqrt, "ceil": math.ceil, "floor": math.floor}
SIGNS = str.maketrans({"·": "*", "×": "*", "−": "-", "÷": "/"})
ROUNDED = ("⌈", "ceil("), ("⌉", ")"), ("⌊", "floor("), ("⌋", ")")
UNIT = re.compile(rf"^({NUMBER})(?:\s+[^\d\s=].*|\s*%)?$")


def value(words):
    """The number that arithmetic comes to; None if the words are something else."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", words.translate(SIGNS)).strip()
    for sign, call in ROUNDED:
        text = text.replace(sign, call)
    names = set(re.findall(r"[A-Za-z_]\w*", re.sub(r"\d(?:\.\d+)?e[+-]?\d+", "0", text)))
    if not re.search(r"\d", text) or names - set(FUNCTIONS):
        return None
    try:
        return float(eval(text, {"__builtins__": {}}, FUNCTIONS))
    except (SyntaxError, TypeError, ZeroDivisionError):
        return None


def place(number):
    """Half of the last digit that a number shows."""
    digits = number.replace(",", "").partition("e")[0]
    return 0.5 * 10.0 ** -len(digits.partition(".")[2])


def equations(line):
    """(equation, the values of its sides, what the last side allows) of `a + b = c unit` in a line."""
    sides = re.split(r" [=≈] ", line)
    for left, right in zip(sides, sides[1:]):
        shown = UNIT.match(right.strip())
        result, expected = value(left), value(shown[1] if shown else right)
        if result is not None and expected is not None:
            if right.rstrip().endswith("%") and abs(100 * result - expected) < abs(result - expected):
                result *= 100  # a fraction whose result is told in percent
            yield f"{left.strip()} = {right.strip()}", result, expected, (place(shown[1]) if shown else 0) * 1.000001 + 1e-9


def spans(lines, fenced):
    """(line, text) of inline code, and of blocks of the language `text`."""
    for index, line in enumerate(lines):
        if index not in fenced:
            for words in re.findall(r"(?<!`)`([^`]+)`(?!`)", line):
                yield index + 1, words
        elif fenced[index].language == "text":
            yield index + 1, line


def prose(lines, fenced):
    """(line, text) of sentences: no code, no links' targets, no comments, no headings."""
    for index, line in enumerate(lines):
        if index not in fenced and not line.startswith("#"):
            line = re.sub(r"`[^`]*`|\]\([^)]*\)|<[^>]*>", " ", line)
            yield index + 1, line


def wrong(text, name):
    """Complaints about equations that do not come out, and figures that no command and no equation gives."""
    lines = text.split("\n")
    fenced = {index: block for block in blocks(lines, name)
              for index in range(block.first - 1, block.first + len(block.lines) + 1)}
    complaints, given = [], []
    for line, words in spans(lines, fenced):
        for equation, result, expected, allowed in equations(words):
            if abs(result - expected) > allowed:
                complaints.append(f"{name}:{line}: {equation}: it is {result:.10g}")
        given += re.findall(NUMBER, words)
    # A comma divides thousands, or columns: both readings count.
    given += [number for index in fenced for form in (NUMBER, r"\d+(?:\.\d+)?") for number in re.findall(form, lines[index])]
    known = [float(number.replace(",", "").rstrip(".")) for number in given]
    for line, words in prose(lines, fenced):
        for number in re.findall(rf"(?<![\w.,-]){NUMBER}(?![\w-])", words):
            digits = re.sub(r"e.*|\D", "", number)
            if len(digits) < 3 and "." not in number:
                continue
            wanted, allowed = float(number.replace(",", "")), place(number) * 1.000001
            if not any(abs(other - wanted) <= allowed for other in known):
                complaints.append(f"{name}:{line}: no command and no equation on the page gives {number}")
    return complaints
