# SPDX-License-Identifier: Apache-2.0
"""Drawings of the tutorial and the course as SVG beside those of claims_pictures: shares of a whole, rooflines, and an array
clock by clock. The same bytes for the same figures."""

import html
import math

from claims_pictures import LEFT, PLOT, TOP, frame, text

# The common classes, in the order of the tables; after Okabe and Ito, told apart with any eyes, and hatched where two are close.
CLASSES = {"useful": "#0072b2", "padding": "#56b4e9", "ramp": "#f0e442", "host": "#cc79a7", "memory": "#d55e00", "on_chip": "#e69f00",
           "dependency": "#999999", "vector": "#009e73", "launch": "#444444", "tail": "#bbbbbb"}
DARK = ("useful", "memory", "launch", "vector")
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#444444")


def box(x, y, width, height, colour, more=""):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"{more}/>\n'


def line(points, colour, more=""):
    return f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="none" stroke="{colour}" stroke-width="2"{more}/>\n'


def shares(title, rows):
    """rows: {label: {class: share}}: a bar of full length each; a class is named where there is room, and below."""
    left, width, tall, gap = 190, 560, 30, 14
    body = ""
    for place, (label, classes) in enumerate(rows.items()):
        x, y = left, TOP + place * (tall + gap)
        body += text(left - 8, y + 19, label, "end")
        for name, colour in CLASSES.items():
            share = classes.get(name, 0)
            body += box(x, y, share * width, tall, colour, ' stroke="white" stroke-width="0.5"') if share >= 0.0005 else ""
            if share >= 0.035:
                ink = "white" if name in DARK else "#222"
                body += text(x + share * width / 2, y + 19, f"{100 * share:.0f}", size=11, colour=ink)
            x += share * width
    shown = [name for name in CLASSES if any(row.get(name, 0) >= 0.0005 for row in rows.values())]
    x, y = left, TOP + len(rows) * (tall + gap) + 14
    for name in shown:
        if x + 24 + 7 * len(name) > left + width:
            x, y = left, y + 20
        body += box(x, y - 10, 11, 11, CLASSES[name]) + text(x + 16, y, name, "start")
        x += 30 + 7.2 * len(name)
    return frame(left + width + 20, y + 16, title + ", % of the matrix units' capacity", body)


def curves(title, series, low, high, axis, form="{:.0f}"):
    """series: {name: [(x, y)]} on linear axes, y from low to high: for what changes often. All but the last are drawn thin."""
    wide = 560
    points = next(iter(series.values()))
    across = (points[0][0], points[-1][0])

    def at(x, y):
        return LEFT + wide * (x - across[0]) / (across[1] - across[0]), TOP + PLOT * (1 - (y - low) / (high - low))
    body = ""
    for part in range(5):
        x, y = at(across[0] + (across[1] - across[0]) * part / 4, low + (high - low) * part / 4)
        body += f'<path d="M{LEFT} {y:.1f}H{LEFT + wide}" stroke="#ddd"/>\n' + text(LEFT - 6, y + 4, form.format(low + (high - low) * part / 4), "end", 11)
        body += text(x, TOP + PLOT + 17, f"{across[0] + (across[1] - across[0]) * part / 4:.0f}", size=11)
    names = list(series)
    for name, colour, x in zip(reversed(names), SERIES, range(LEFT, LEFT + 250 * len(names), 250)):
        last = name == names[-1]
        body += line([at(*point) for point in series[name]], colour, "" if last else ' stroke-dasharray="6 3"')
        body += "".join(f'<circle cx="{at(*point)[0]:.1f}" cy="{at(*point)[1]:.1f}" r="3" fill="{colour}"/>\n' for point in series[name] if last)
        body += box(x, TOP + PLOT + 46, 11, 11, colour) + text(x + 16, TOP + PLOT + 56, name, "start", 12)
    return frame(LEFT + wide + 30, TOP + PLOT + 68, title, body + text(LEFT + wide / 2, TOP + PLOT + 36, axis))


def powers(low, high):
    return range(math.floor(low), math.ceil(high) + 1)


def log_axes(across, up, x_title, y_title):
    """Grid of two logarithmic axes (powers of ten of both ends), and the place of a point."""
    wide = 520

    def at(x, y):
        return (LEFT + 20 + wide * (math.log10(x) - across[0]) / (across[1] - across[0]),
                TOP + PLOT * (1 - (math.log10(y) - up[0]) / (up[1] - up[0])))
    body = ""
    for power in powers(*across):
        x = at(10 ** power, 1)[0]
        body += f'<path d="M{x:.1f} {TOP}V{TOP + PLOT}" stroke="#ddd"/>\n' + text(x, TOP + PLOT + 17, f"{10 ** power:g}", size=11)
    for power in powers(*up):
        y = at(1, 10 ** power)[1]
        body += f'<path d="M{LEFT + 20} {y:.1f}H{LEFT + 20 + wide}" stroke="#ddd"/>\n' + text(LEFT + 14, y + 4, f"{10 ** power:g}", "end", 11)
    body += text(LEFT + 20 + wide / 2, TOP + PLOT + 36, x_title) + text(LEFT + 24, TOP + 12, y_title, "start", 11)
    return body, at, LEFT + 20 + wide


def roofline(title, devices, across=(-1, 4), up=(-1, 3)):
    """devices: {name: (peak TMAC/s, memory TB/s, [(MACs a byte, TMAC/s), …])}: a roof and its points for each."""
    body, at, right = log_axes(across, up, "MACs for each byte of the memory", "TMAC/s")
    for (name, (peak, memory, points)), colour, place in zip(devices.items(), SERIES, range(len(SERIES))):
        first, last = 10.0 ** across[0], 10.0 ** across[1]
        first = max(first, 10.0 ** up[0] / memory)
        body += line([at(first, first * memory), at(peak / memory, peak), at(last, peak)], colour)
        body += text(right - 4, at(last, peak)[1] - 6, f"{name}: {peak:.0f} TMAC/s, ridge {peak / memory:.0f}", "end", 11, colour)
        for x, y in points:
            cx, cy = at(x, y)
            mark = f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="4"' if place % 2 == 0 else f'<rect x="{cx - 4:.1f}" y="{cy - 4:.1f}" width="8" height="8"'
            body += f'{mark} fill="{colour}" fill-opacity="0.8"/>\n'
    return frame(right + 20, TOP + PLOT + 48, title, body)


STATES = {"b": ("#e69f00", "a weight moves in"), ".": ("#eeeeee", "no vector"), "": ("#0072b2", "multiplies vector n"), "r": ("#009e73", "a result moves out")}


def strip(title, cycles, keep):
    """cycles: [{(row, column): state}], the state a vector's number, b, r or a point: the array at the clocks of `keep`."""
    cell, gap = 24, 26
    rows = 1 + max(row for row, _ in cycles[0])
    columns = 1 + max(column for _, column in cycles[0])
    body, across = "", 6
    for place, clock in enumerate(keep):
        x0 = LEFT - 40 + place % across * (columns * cell + gap)
        y0 = TOP + 24 + place // across * (rows * cell + gap + 14)
        body += text(x0 + columns * cell / 2, y0 - 6, f"cycle {clock}", size=11)
        for (row, column), state in sorted(cycles[clock].items()):
            x, y = x0 + column * cell, y0 + row * cell
            body += box(x, y, cell, cell, STATES[state if state in STATES else ""][0], ' stroke="white"')
            body += text(x + cell / 2, y + 16, state, size=11, colour="white" if state.isdigit() else "#222") if state != "." else ""
    shown = {state if state in STATES else "" for clock in keep for state in cycles[clock].values()}
    bottom = TOP + 24 + math.ceil(len(keep) / across) * (rows * cell + gap + 14)
    x = LEFT - 40
    for state, (colour, words) in STATES.items():
        if state in shown:
            body += box(x, bottom - 10, 11, 11, colour) + text(x + 16, bottom, html.unescape(words), "start")
            x += 40 + 7 * len(words)
    return frame(max(LEFT + min(len(keep), across) * (columns * cell + gap) - 40, 560), bottom + 16, title, body)
