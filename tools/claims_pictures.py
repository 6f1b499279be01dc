# SPDX-License-Identifier: Apache-2.0
"""Pictures of claims as SVG, the same bytes for the same figures: bars and lines, on a white ground of their own so that
they read in light and dark pages."""

import html
import math

BLUES = ("#0d3f6e", "#1f6fb4", "#4b9bd8", "#7fc0e8")  # of TPUs, and of what is no chip
ORANGES = ("#8a3d00", "#d1660a", "#f0973c")  # of GPUs
LEFT, TOP, PLOT, LEGEND = 56, 34, 230, 24


def colours(series):
    """{series: colour}: TPUs in blue, other chips in orange; all in blue where none is a TPU."""
    tpus = [name for name in series if name.startswith("tpu")]
    others = [name for name in series if name not in tpus]
    shades = {name: BLUES[index % len(BLUES)] for index, name in enumerate(tpus)}
    return {**shades, **{name: (ORANGES if tpus else BLUES)[index % 3] for index, name in enumerate(others)}}


def text(x, y, words, anchor="middle", size=12, colour="#222"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}">'
            f"{html.escape(str(words))}</text>\n")


def frame(width, height, title, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif">\n'
            f"<title>{html.escape(title)}</title>\n"
            f'<rect width="100%" height="100%" fill="white"/>\n{text(LEFT, 20, title, "start", 13)}{body}</svg>\n')


def step(top):
    """A round distance of grid lines, about four of them."""
    raw = top / 4
    power = 10 ** math.floor(math.log10(raw))
    return next(unit * power for unit in (1, 2, 2.5, 5, 10) if unit * power >= raw)


def grid(left, right, top, form):
    """Lines and their values; the function from a value to its height."""
    def height(value):
        return TOP + PLOT * (1 - value / top)
    body, between = "", step(top)
    for line in range(int(top / between + 1e-9) + 1):
        y = height(line * between)
        body += f'<path d="M{left:.1f} {y:.1f}H{right:.1f}" stroke="#ddd"/>\n' + text(left - 6, y + 4, form.format(line * between), "end", 11)
    return body, height


def legend(series, y):
    body, x = "", LEFT
    for name in series:
        body += f'<rect x="{x:.1f}" y="{y - 10:.1f}" width="11" height="11" fill="{colours(series)[name]}"/>\n'
        body += text(x + 16, y, name, "start", 12)
        x += 30 + 7.5 * len(name)
    return body


def bars(title, values, form="{:.0f}", unit=""):
    """values: {group: {series: number or None}}; None is a point without a figure, and says so."""
    series = list(dict.fromkeys(name for group in values.values() for name in group))
    each = 30
    span = each * len(series) + 24
    width = max(LEFT + span * len(values) + 16, LEFT + 7 * (len(title) + len(unit)) + 16, 480)
    known = [v for group in values.values() for v in group.values() if v is not None]
    body, height = grid(LEFT, width - 16, 1.08 * max(known, default=1), form)
    for place, (group, row) in enumerate(values.items()):
        left = LEFT + 12 + place * span
        for index, name in enumerate(series):
            x, value = left + each * index, row.get(name)
            if value is None:
                body += text(x + each / 2, TOP + PLOT - 4, "–", colour="#888")
                continue
            y = height(value)
            body += (f'<rect x="{x + 2:.1f}" y="{y:.1f}" width="{each - 4}" height="{TOP + PLOT - y:.1f}" '
                     f'fill="{colours(series)[name]}"/>\n' + text(x + each / 2, y - 3, form.format(value), size=10))
        body += text(left + each * len(series) / 2, TOP + PLOT + 17, group)
    bottom = TOP + PLOT + 20 + LEGEND
    return frame(width, bottom + 12, f"{title}{', ' + unit if unit else ''}", body + legend(series, bottom))


def apart(ends):
    """Heights of labels, a line apart at least, from above to below."""
    placed, last = {}, -math.inf
    for name, y in sorted(ends.items(), key=lambda end: (end[1], end[0])):
        last = placed[name] = max(y, last + 12)
    return placed


def lines(title, panels, form="{:.1f}", unit="", axis="", above=False):
    """panels: {panel: {series: [(label, number)]}}: one plot beside the other, the same values across. Above their plots stand
    panels that name what goes up, below them those that are cases."""
    each, body = 300, ""
    known = [v for panel in panels.values() for row in panel.values() for _, v in row]
    series = list(dict.fromkeys(name for panel in panels.values() for name in panel))
    for place, (panel, rows) in enumerate(panels.items()):
        left = LEFT + place * (each + 50)
        ground, height = grid(left, left + each, 1.05 * max(known, default=1), form)
        body += ground + text(left + each / 2, TOP + PLOT + 34, axis if above else f"{panel}: {axis}")
        body += text(left, TOP - 7, panel, "start") if above else ""
        labels = list(dict.fromkeys(label for row in rows.values() for label, _ in row))
        where = {label: left + 20 + (each - 60) * i / max(len(labels) - 1, 1) for i, label in enumerate(labels)}
        body += "".join(text(x, TOP + PLOT + 17, label, size=11) for label, x in where.items())
        ends = apart({name: height(row[-1][1]) + 4 for name, row in rows.items()})
        for name, row in rows.items():
            colour = colours(series)[name]
            points = " ".join(f"{where[label]:.1f},{height(value):.1f}" for label, value in row)
            body += f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>\n'
            body += text(where[row[-1][0]] + 4, ends[name], name, "start", 11, colour)
    width, lower = LEFT + len(panels) * (each + 50), 18 if above else 0
    body = f'<g transform="translate(0 {lower})">\n{body}</g>\n' if above else body
    return frame(width, TOP + PLOT + 48 + lower, f"{title}{', ' + unit if unit else ''}", body)
