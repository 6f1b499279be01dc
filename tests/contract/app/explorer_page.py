# SPDX-License-Identifier: Apache-2.0
"""A reader of the dataflow explorer's pages, written from docs/formats.md and not from the page's own script."""

import base64
import bisect
import json
import re
import struct

DATA = re.compile(r'<script id="data" type="application/json">(.*?)</script>', re.DOTALL)


def read_page(html):
    """The JSON of a page."""
    found = DATA.findall(html)
    if len(found) != 1:
        raise ValueError(f"{len(found)} elements with data")
    return json.loads(found[0])


def unpacked(values):
    """The integers of {"type", "data"}."""
    size = {"i8": "b", "i16": "h", "i32": "i"}[values["type"]]
    data = base64.b64decode(values["data"], validate=True)
    return [number for (number,) in struct.iter_unpack("<" + size, data)]


class Recording:
    """Registers of an array by clock: clock n of the run is position n + 1 of the page."""

    def __init__(self, panel):
        self.panel = panel
        self.rows, self.cols = panel["rows"], panel["cols"]
        self.frames = unpacked(panel["frames"])
        self.registers = {name: unpacked(values) for name, values in panel["registers"].items()}
        self.columns = {name: unpacked(values) for name, values in panel["columns"].items()}
        self.clocks = {name: unpacked(values) for name, values in panel["clocks"].items()}
        self.accumulators = {name: unpacked(values) for name, values in panel["accumulators"].items()}
        self.passes = panel["passes"]

    def frame(self, clock):
        """The frame that holds in `clock`; below 0 before the first."""
        return bisect.bisect_right(self.frames, clock) - 1

    def at(self, name, clock, row, col):
        return self.registers[name][(self.frame(clock) * self.rows + row) * self.cols + col]

    def multiplies(self, clock, row, col):
        """0, or 1 for padding, 2 for useful work."""
        frame = self.frame(clock)
        return self.at("work", clock, row, col) if frame >= 0 and self.frames[frame] == clock else 0

    def column(self, name, clock, col):
        return self.columns[name][self.frame(clock) * self.cols + col]

    def accumulator(self, clock, row, col):
        value = 0
        held = self.accumulators
        for when, at_row, at_col, new in zip(held["clock"], held["row"], held["col"], held["value"]):
            if when <= clock and (at_row, at_col) == (row, col):
                value = new
        return value
