# SPDX-License-Identifier: Apache-2.0
"""Output beside what a page shows of it. A line of `…` stands for any number of lines, `…` at the end of a line for its rest."""

import difflib
import re

from pages import ELLIPSIS


def same_line(shown, line):
    if shown.endswith(ELLIPSIS):
        return line.startswith(shown[:-len(ELLIPSIS)])
    return shown == line


def runs(shown):
    """[lines, lines, …]: what stands between lines of `…`."""
    parts = [[]]
    for line in shown:
        if line.strip() == ELLIPSIS:
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def holds(part, output, at):
    return at + len(part) <= len(output) and all(same_line(s, o) for s, o in zip(part, output[at:]))


def difference(shown, output):
    """None if the page shows the output; else what to tell its author."""
    parts, at = runs(shown), 0
    for index, part in enumerate(parts):
        first, last = index == 0, index == len(parts) - 1
        places = [at] if first else [len(output) - len(part)] if last else range(at, len(output) - len(part) + 1)
        found = next((place for place in places if place >= at and holds(part, output, place)), None)
        if found is None or (first and last and len(part) != len(output)):
            near = output if first and last else output[at:][likest(part, output[at:], first, last):][:len(part)]
            return "\n".join(difflib.unified_diff(part, near, "shown", "printed", lineterm="", n=1))
        at = found + len(part)
    return None


def likest(part, output, first, last):
    """Where in the output a part would be, were it there."""
    if first or last:
        return 0 if first else max(0, len(output) - len(part))
    return max(range(max(0, len(output) - len(part)) + 1), key=lambda start: (likeness(part, output[start:]), -start))


def shape(line):
    """A line without its figures."""
    return re.sub(r"\s+", " ", re.sub(r"\d[\d,.]*", "#", line.replace(ELLIPSIS, ""))).strip()


def likeness(part, lines):
    return sum(difflib.SequenceMatcher(None, shape(a), shape(b), autojunk=False).ratio() for a, b in zip(part, lines))


def cut(shown, line):
    """The new line, as long as the one that is shown where that ends in `…`."""
    length = len(shown) - len(ELLIPSIS)
    return line[:length].rstrip() + ELLIPSIS if shown.endswith(ELLIPSIS) and len(line) > length else line


def renewed(shown, output):
    """The output with what the page leaves out left out again, found by the shape of the lines around it."""
    parts, kept, at = runs(shown), [], 0
    if len(parts) == 1 and len(shown) != len(output):
        return list(output)
    for index, part in enumerate(parts):
        place = at + likest(part, output[at:], index == 0, index == len(parts) - 1)
        lines = output[place:place + len(part)]
        kept += ([ELLIPSIS] if index else []) + [cut(old, new) for old, new in zip(part, lines)]
        at = place + len(lines)
    return kept
