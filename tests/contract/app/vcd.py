# SPDX-License-Identifier: Apache-2.0
"""A strict reader of value change dumps, written from the standard (IEEE 1364-2005, clause 18) and the `string`
extension, not from our writer. Anything it does not expect is a ValueError."""


class Vcd:
    """signals: path → (type, width); changes: path → [(time, value)] in order. Integers are read as signed."""

    def __init__(self, text):
        self.signals, self.changes, self.times = {}, {}, []
        self._paths = {}  # code → path
        words = iter(text.split())
        self._read_header(words)
        self._read_changes(words)

    def at(self, path, time):
        """The value that holds at `time`."""
        before = [value for when, value in self.changes[path] if when <= time]
        if not before:
            raise ValueError(f"{path} has no value at {time}")
        return before[-1]

    def sampled(self, path, times):
        """The values that hold at each of the ascending `times`."""
        values, changes, i = [], self.changes[path], 0
        for time in times:
            while i < len(changes) and changes[i][0] <= time:
                i += 1
            values.append(changes[i - 1][1])
        return values

    def _read_header(self, words):
        scope = []
        for word in words:
            body = []
            while (part := next(words)) != "$end":
                body.append(part)
            if word == "$scope":
                if body[0] != "module":
                    raise ValueError(f"a scope of {body}")
                scope.append(body[1])
            elif word == "$upscope":
                scope.pop()
            elif word == "$var":
                self._declare(scope, body)
            elif word == "$timescale":
                self.timescale = " ".join(body)
            elif word == "$enddefinitions":
                if scope:
                    raise ValueError(f"{scope} was never closed")
                return
            elif word not in ("$comment", "$version"):
                raise ValueError(f"{word} in the header")

    def _declare(self, scope, body):
        kind, width, code, name = body[0], int(body[1]), body[2], body[3]
        if kind not in ("wire", "string") or (width > 1) != (len(body) == 5):
            raise ValueError(f"$var {body}")
        if len(body) == 5 and body[4] != f"[{width - 1}:0]":
            raise ValueError(f"$var {body}")
        path = ".".join(scope + [name])
        if code in self._paths or path in self.signals:
            raise ValueError(f"{path} ({code}) is declared twice")
        self._paths[code] = path
        self.signals[path] = (kind, width)
        self.changes[path] = []

    def _read_changes(self, words):
        dumped = False
        for word in words:
            if word[0] == "#":
                time = int(word[1:])
                if self.times and time <= self.times[-1]:
                    raise ValueError(f"time goes from {self.times[-1]} to {time}")
                self.times.append(time)
            elif word == "$dumpvars":
                dumped = True
            elif word == "$end" and dumped:
                if any(len(changes) != 1 for changes in self.changes.values()):
                    raise ValueError("a signal has no first value")
                dumped = False
            elif word[0] in "01z":
                self._change(word[1:], 1, word[0])
            elif word[0] in "bs":
                code = next(words)
                self._change(code, None if word[0] == "s" else 2, word[1:])
            else:
                raise ValueError(f"{word} among the changes")

    def _change(self, code, least_width, text):
        path = self._paths[code]
        kind, width = self.signals[path]
        if (kind == "string") != (least_width is None) or (least_width == 1) != (width == 1 and kind != "string"):
            raise ValueError(f"{path}: a value '{text}' of another type")
        value = text if kind == "string" else self._number(text, width)
        if self.changes[path] and self.changes[path][-1][1] == value:
            raise ValueError(f"{path}: {value} at {self.times[-1]} is no change")
        self.changes[path].append((self.times[-1], value))

    @staticmethod
    def _number(text, width):
        if set(text) == {"z"}:
            return None
        if len(text) > width or set(text) - {"0", "1"}:
            raise ValueError(f"'{text}' in {width} bits")
        value = int(text, 2)
        return value - (1 << width) if width > 1 and len(text) == width and text[0] == "1" else value
