# SPDX-License-Identifier: Apache-2.0
"""The section on GPUs of docs/validation.md, and its pictures, for tools/validation --long or --gpu CHIP."""

import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
import gpu_gemm_rows  # noqa: E402

CHIPS = {"a100": "A100 (SXM, 80 GB)", "h100": "H100 (SXM)", "h200": "H200 (SXM)", "l40s": "L40S", "b200": "B200", "gb200": "GB200"}
L2_MIB = {"a100": 40, "h100": 50, "h200": 50, "l40s": 96, "b200": 126, "gb200": 126}
COLOURS = ["#1f6fb4", "#c0392b", "#2e8b57", "#8e44ad", "#d68910", "#555555", "#00868b"]
PICTURES = ROOT / "docs" / "pictures"
ABLATION_ROWS = 60  # spread over the public rows
OFF = {
    "as shipped": [],
    "nothing calibrated": ["calibrated.kernel_overhead=0 ns", "calibrated.replay_gap=0 ns", "calibrated.memory_share=1",
                           "calibrated.larger_tiles=0", "calibrated.l2_loads=0", "calibrated.tensor_power=0 W",
                           "calibrated.burst_power=0 W"],
    "no overhead of a kernel": ["calibrated.kernel_overhead=0 ns"],
    "no gap between replays": ["calibrated.replay_gap=0 ns"],
    "all of the memory's bandwidth": ["calibrated.memory_share=1"],
    "tiles as estimated": ["calibrated.larger_tiles=0", "calibrated.l2_loads=0"],
    "no power of tensor cores": ["calibrated.tensor_power=0 W", "calibrated.burst_power=0 W"],
    "a CTA for each tile": ["kernels.persistent=false"],
    "ports for stores as wide as for loads": ["l2.sm_write_width=64 B"],
    "an ideal memory": ["memory.preset=ideal"],
    "the whole L2 for one working set": ["l2.usable={l2} MiB"],
    "an L2 of one set": ["l2.ways=0"],
    "one copy of the weights": ["run.weight_copies=1"],
    "no launch": ["run.launch=none"],
}

HEAD = """
## GPUs: products of matrices

Measured times of bf16 products (`tests/golden/gpu_gemm`: TensorRT-LLM's rows of ai-dynamo/aiconfigurator) beside those of
`a100`, `h100`, `h200`, `b200` and `gb200`, asked as they were timed: in a graph, with copies of the weights, in turns
(`run.protocol=graph_replay`). Of each chip 1,000 public rows; three constants a chip were found with 200 others
(`CHIP_calibration`), and a power of most with products that others published: `tensor_power` of `a100` and `h100`, which `h200`
has, too, `burst_power` of `b200`, `l4`'s two, from which `l40s`'s are derived. All stand under `calibrated:`, at most four a chip. The gap
between replays is the benchmark's, as given with the rows. The last 1,000 (`CHIP_apart`) have not been looked at, but for
their 47 products of one row, beside which the kernel for these was seen while it was written. Error: mean of
|simulated / measured - 1|; bias: its mean with sign; by time: weighted by the measured time.
Written by `tools/validation --long`, or `--gpu CHIP` for one (minutes).

What stands behind the step model is a chip with every SM in warps (`--set sm.engine=warps`): over 62 small products on both chips the
steps' times are within 17 % of its times, 3.6 % on average (`models/devices/simt/README.md`).
"""

NOT_MODELLED = """
**What is not modelled**, and shows: which kernel the library takes (ours is the best of the catalogue by estimate; the
library's are sometimes twice as slow: 2048 x 2048 x 128 takes 18.8 us on the A100, 16 x 3584 x 2048 21.1); rows of
matrices that meet in banks and pages of the memory, of which `memory_share` is what is left; walks through page tables; kernels for
vectors in batches; voltages other than in proportion to the clock.
The clock of a long kernel settles by what the one before drew, not within it. **Long kernels run at a lower clock than modelled**: rows that keep the tensor cores busy
are 4 % too fast here on the H100 from 0.8 to 1.6 ms (median), 5 to 6.4 ms, 10 above (an H200 held 755 TFLOP/s of 1536 x 2816 x 6144 for two seconds: ml-engineering, 2026), which `calibrated.tensor_power` explains 3 of. The rows'
machines throttle more than others did; a B200 is known to lose 15 % (flashinfer, pull request 2899).
"""


def scatter(title, series):
    """Simulated against measured time, both logarithmic, as SVG; of each of `series` a name, a colour and its errors."""
    low, high, size, margin = 0.3, 5.0, 480, 46  # decades of a microsecond
    place = lambda us: margin + (math.log10(us) - low) / (high - low) * size  # noqa: E731
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size + 2 * margin} {size + 2 * margin}" '
             'font-family="sans-serif" font-size="12">',
             f'<rect width="100%" height="100%" fill="white"/><rect x="{margin}" y="{margin}" width="{size}" '
             f'height="{size}" fill="none" stroke="#888"/>']
    flip = size + 2 * margin
    for decade in range(1, 5):
        at = place(10 ** decade)
        lines.append(f'<path d="M{at:.1f} {margin}V{margin + size}M{margin} {flip - at:.1f}H{margin + size}" stroke="#ddd"/>'
                     f'<text x="{at:.1f}" y="{flip - margin + 16}" text-anchor="middle">{10 ** decade:,}</text>'
                     f'<text x="{margin - 6}" y="{flip - at + 4:.1f}" text-anchor="end">{10 ** decade:,}</text>')
    for factor, dash in ((1, ""), (1.2, ' stroke-dasharray="4 3"'), (1 / 1.2, ' stroke-dasharray="4 3"')):
        begin, end = 10 ** low * max(1, 1 / factor), 10 ** high / max(1, factor)
        lines.append(f'<path d="M{place(begin):.1f} {flip - place(begin * factor):.1f}L{place(end):.1f} '
                     f'{flip - place(end * factor):.1f}" stroke="#444" fill="none"{dash}/>')
    for number, (name, colour, found) in enumerate(series):
        for measured, error in found:
            lines.append(f'<circle cx="{place(measured):.1f}" cy="{flip - place(measured * (1 + error)):.1f}" r="2" '
                         f'fill="{colour}" fill-opacity="0.5"/>')
        if len(series) > 1:
            at = margin + 16 + 16 * number
            lines.append(f'<circle cx="{margin + 12}" cy="{at - 4}" r="4" fill="{colour}"/>'
                         f'<text x="{margin + 22}" y="{at}">{name} ({len(found):,})</text>')
    lines.append(f'<text x="{flip / 2}" y="{margin - 14}" text-anchor="middle">{title}; dashed: 20 % off</text><text x="{flip / 2}" y="{flip - 10}" text-anchor="middle">measured, us</text>'
                 f'<text transform="translate(14 {flip / 2}) rotate(-90)" text-anchor="middle">simulated, us</text></svg>')
    return "\n".join(lines) + "\n"


def cells(found):
    rows, mean, bias, weighted = gpu_gemm_rows.summary(found)
    return [f"{rows:,}", f"{100 * mean:.1f}", f"{100 * bias:+.1f}", f"{100 * weighted:.1f}"]


def line(texts):
    return "| " + " | ".join(texts) + " |\n"


def unbeaten(chip, rows, found):
    """The same without what the library does faster for a larger product."""
    error_of = dict(zip(rows, found))
    left = [error_of[row] for row in gpu_gemm_rows.unbeaten(chip, rows)]
    biases = ", ".join(cells(part)[2] for _, part in gpu_gemm_rows.by_regime(left))
    return (f"\nWithout the {len(rows) - len(left)} rows that take longer than a product of no fewer rows, columns and K, by more than 5 % (noise): {cells(left)[1]} % off, "
            f"bias by measured time {biases} %.\n")


def regimes(chip, found):
    text = f"\n### {CHIPS[chip]}\n\n![simulated against measured time](pictures/gpu_gemm_{chip}.svg)\n\n"
    text += line(["measured, us", "rows", "error %", "bias %", "by time %"]) + "|---|" + "---:|" * 4 + "\n"
    for (low, high), part in gpu_gemm_rows.by_regime(found):
        text += line([f"{low} to {high}" if high != math.inf else f"{low} and more", *cells(part)])
    return text + line(["all", *cells(found)])


def ablation(program, chip, rows):
    text = f"\nWithout one of them, {len(rows)} of the rows, spread over all:\n\n" + line(["", "error %", "bias %", "by time %"])
    text += "|---|" + "---:|" * 3 + "\n"
    for name, settings in OFF.items():
        settings = [setting.format(l2=L2_MIB[chip]) for setting in settings]
        found = gpu_gemm_rows.errors(rows, gpu_gemm_rows.ask(program, chip, rows, settings))
        text += line([name, *cells(found)[1:]])
    return text


def kept_between(written, title, begin, end):
    """What the page says in a section from `begin` on (with it) up to `end`; nothing where it has no such section."""
    section = written.find(title)
    first, last = written.find(begin, section + len(title)), written.find(end, section + 1)
    return written[first:last] if 0 <= section < first < last else ""


def kept(chip, written):
    """What the page says of a chip."""
    found = re.search(rf"\n### {re.escape(CHIPS[chip])}\n.*?(?=\n### |\n\*\*What is not modelled)", written, re.DOTALL)
    return found.group(0) if found else ""


def section(program, written, again):
    """Of the chips in `again` all rows are simulated; of others the page is kept."""
    text = HEAD
    PICTURES.mkdir(exist_ok=True)
    for chip in CHIPS:
        if chip not in again:
            text += kept(chip, written)
            continue
        rows = gpu_gemm_rows.read(chip, "public")
        found = gpu_gemm_rows.errors(rows, gpu_gemm_rows.ask(program, chip, rows))
        (PICTURES / f"gpu_gemm_{chip}.svg").write_text(
            scatter(f"{CHIPS[chip]}: {len(found):,} bf16 products", [("products", "#1f6fb4", found)]))
        text += regimes(chip, found) + unbeaten(chip, rows, found) + ablation(program, chip, rows[:: len(rows) // ABLATION_ROWS])
    return text + NOT_MODELLED
