# SPDX-License-Identifier: Apache-2.0
"""The section on ONNXim of docs/validation.md, for tools/validation."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "support"))
import onnxim_rows  # noqa: E402
import onnxim_traffic  # noqa: E402

HEAD = """
## ONNXim

Cycles of products [m,k] · [k,n] on ONNXim's configuration of a TPU v4 (`a1e8629`; `tests/golden/onnxim`) beside those of
`onnxim_tpuv4`, the same machine in our words: arrays of 128 x 128 at 1 GHz, its HBM2 with its timings and address map, 512 B
a cycle between a core and the memory. Everything is in memory before and after. Tiles are chosen by each program itself.
Nothing was fitted; rows marked ° were asked after the device was described.

`arrays` is what both need: 128 cycles for each tile of weights and 128 rows that meet it. `by its rules` is a closed form of
ONNXim's source (`tests/support/onnxim_rows.py`) without latencies and without waits for memory: where it agrees, we know
what ONNXim's time is made of. `commands` is the share of ONNXim's time in which its memory, which gives one command a clock
to a channel, was busy with those of its own counters. Where ONNXim's arrays hold it up, our answer is expected within 1 % and
what it may begin earlier or later (below); where its memory does, between `arrays` and ONNXim's answer.

"""

# Of 256³: its best, of the blocks and depths that it can be cut into.
BY_HAND = """\
mapping: 256³ by hand
layers:
  matmul: {rows: 128, columns: 128, depth: 256, outer: m}
"""

COLUMNS = ("product", "arrays", "by its rules", "commands %", "ONNXim", "**Systole**", "difference", "%", "expected", "inside")

EXPLAINED = """
What the differences are:

- **Start and end.** ONNXim's first pass waits for 128 columns of weights and 128 rows of inputs in all of a tile's depth, and
  for 255 cycles of preload; ours for one step of K, and 128 cycles. The smaller the product, the more that is:
  {small}. At 256³ our mapper is off its best: in blocks of 128 x 128 with all of K the
  product takes {by_hand:,} cycles. At 2048³ and 4096³ its blocks read less than ONNXim's tiles, and begin with more.
- **{wide}.** A tile of weights waits for nobody in ONNXim. With `tpu_v4`'s way from the scratchpad into a weight FIFO of two
  tiles (16 cycles to begin, 8 of latency), each tile keeps its place for {place:.0f} cycles: {fifo_two:,} cycles, with three places
  {fifo_three:,}.
- **{deep}.** ONNXim cuts K in two, and reads rows in pieces of 8 KiB, 16 KiB apart: with its address map, which
  has the pseudo-channel above the column, all pieces of a tile lie in half of the memory's data buses. By half of its bandwidth
  and its rules the product takes {halved:,.0f} cycles. Its requests in its order take {deep_alone:,.0f} ns of our memory alone.
  Our mapper sees that, takes all of K in one step, and so loads everything before it computes. With a map that has both
  pseudo-channels in each 1 KiB it cuts K: {spread:,} cycles.
- **{flat}.** ONNXim's memory is busy with commands all the time: it writes results as blocks of 128 x 128, rows of
  256 B that lie 4 KiB apart, so that nearly each of 262,144 bursts opens a row, with two commands more; and every tile reads
  both of its operands, {flat_read:.1f} MiB in all, of which ours reads {flat_ours:.1f}. Its requests in its order take
  {flat_alone:,.0f} ns of our memory, which opens {flat_opened:,} rows for them (ONNXim's: 187,954; where its tensors begin is
  not known) and has a bus for row commands beside that for columns.
- **Two channels** and **four cores** are held up by commands and bytes likewise: ONNXim's cores share nothing but the memory, so
  a product of 2048³ reads 64 MiB, of 4096³ 512 MiB, 16 MiB and 64 MiB here, where four arrays read one scratchpad.
"""


def line(cells):
    return "| " + " | ".join(cells) + " |\n"


def shown(row, cycles):
    commands = onnxim_rows.by_commands(row)
    expected = "arrays … ONNXim" if onnxim_rows.bound_by_memory(row) else f"± {onnxim_rows.allowed(row):,.0f}"
    return line([row.name + (" °" if row.apart else ""), f"{row.steady:,}", f"{onnxim_rows.by_rules(row):,.0f}",
                 "–" if commands is None else f"{100 * commands / row.cycles:.0f}", f"{row.cycles:,}", f"**{cycles:,}**",
                 f"{cycles - row.cycles:+,}", f"{100 * (cycles / row.cycles - 1):+.1f}", expected,
                 "yes" if onnxim_rows.inside(row, cycles) else "**no**"])


def explained(program, by_name, ours):
    """The differences in words, with what was measured for them."""
    small, wide, deep, flat = (by_name[name] for name in ("128 x 128 x 128", "1 x 4096 x 4096", "128 x 8192 x 128",
                                                         "2048 x 128 x 2048"))

    def cycles(row, *settings):
        return onnxim_rows.answers(program, [row], settings)[row]["cycles"]

    slow = ("dma.setup_cycles=16", "scratchpad.latency=8")
    two, three = (cycles(wide, f"mxu.weight_fifo_tiles={places}", *slow) for places in (2, 3))
    played = onnxim_traffic.play(program, flat)
    return EXPLAINED.format(
        small=f"{small.cycles - ours[small]['cycles']} of {small.cycles} cycles at 128³", wide=wide.name, deep=deep.name,
        flat=flat.name, fifo_two=two, fifo_three=three, place=2 * (onnxim_rows.ARRAY + (two - three) / wide.passes),
        by_hand=onnxim_rows.mapped(program, by_name["256 x 256 x 256"], BY_HAND)["cycles"], halved=onnxim_rows.by_half_of_the_buses(deep),
        deep_alone=onnxim_traffic.play(program, deep)["time_ns"], spread=cycles(deep, onnxim_rows.SPREAD),
        flat_read=flat.dram_rd / 2**20, flat_ours=ours[flat]["bytes"]["dram_read"] / 2**20, flat_alone=played["time_ns"],
        flat_opened=played["activates"])


def section(program):
    rows = onnxim_rows.rows()
    ours = onnxim_rows.answers(program, rows)
    inside = sum(onnxim_rows.inside(row, ours[row]["cycles"]) for row in rows)
    text = HEAD + line(COLUMNS) + "|---|" + "---:|" * 7 + "---|" * 2 + "\n"
    text += "".join(shown(row, ours[row]["cycles"]) for row in rows)
    text += f"\n**{inside} of {len(rows)} rows are as expected.**\n"
    return text + explained(program, {row.name: row for row in rows}, ours)
