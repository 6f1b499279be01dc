# SPDX-License-Identifier: Apache-2.0
"""What docs/validation.md begins and ends with, for tools/validation: how far off each answer is, read out of the sections between, and
what is not modelled at all."""

import csv
import gzip
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent

EXACT = """
## In short

**What is exact**, because it is held to a twin or a witness, and what shows it:

| what | held to | how many | shown by |
|---|---|---|---|
| cycles, utilization, SRAM accesses of `scalesim` | SCALE-Sim v3's own answers, equal in all | {scalesim} rows | `tests/bench/scalesim.py build/systole --both`; three arrays of it in `ctest -R app_scalesim` |
| a matrix unit's closed form | its PE grid, register by register: every start, end and value | random lives of arrays, each dataflow | `ctest -R 'contract_mxu\\|machines'` |
| the PE grid | arrays in Verilog, cycle by cycle | ten lives a dataflow, any number by hand | `ctest -R rtl`, `tests/rtl/compare.py` |
| a DRAM channel | a controller that walks clock by clock, command for command, and a checker that shares no code with either | random traffic, each standard and policy | `ctest -R '^memory'`, `systole dram --check-dram` |
| slots, bytes, MACs, peaks, rooflines | sums of every run, release builds too | every run | any run; a violation is an error of ours |

**How far off the rest is.** Error: mean of |simulated / measured - 1|; bias: its mean with sign. Of the lines below, the first two are
other simulators and the fourth is Google's own model; all others are measured hardware, or published figures of it.

"""

LIMITS = """
## Known limits

What no section above can show, because it is not modelled. Folders' READMEs (`models/*/README.md`) have the finer list.

- **Instructions as compiled (SASS traces).** GPUs' kernels are warp programs of our own, counted by pipe from the libraries' published
  sources and from what compilers make of them. A real instruction stream cannot be played, so no cycle of a warp is that of a given binary.
- **DVFS curves.** Clocks follow a power limit and a clock of most (`power.*`, `sustained_clock`), with voltage in proportion to the clock.
  Tables of voltage by frequency, temperature, throttling within a kernel and the silicon's spread are not there.
- **Paged KV caches, continuous batching.** A step of decoding has one length for all sequences, in caches that lie in one piece. Tables of
  pages, requests that come and go, prefills in chunks beside steps of decoding, and speculation are not there: the tool answers for a step,
  not for a server.
- **Several tenants.** One network at a time has the device. No streams side by side, no partitions (MIG, NPS, CPX), no priorities.
- **Contention between chips.** Collectives have the links for themselves: a ring or a switch of one node, at measured or modelled bus
  bandwidths. Other traffic on the links, nodes beyond one, topologies of pods and congestion are not there.
- **Fidelity `outline`**: presets whose published facts carry no detailed model (every result of theirs says so). They run in the same
  simulator on values most of which are assumed; nothing above measures them, and their figures show the order of magnitude.
- **Training on GPUs.** Steps of training run on systolic devices; a GPU refuses products with a transposed first operand, which gradients of
  weights are.
- **Hosts.** The time of a framework, its launches from Python and its data loading is at most a constant of a protocol.
- **Numbers.** Only the PE grid computes values. Data decide nothing else: not the sparsity of activations, nor which experts are met, nor
  power by how bits toggle.
"""


def scalesim_rows():
    total = 0
    for path in sorted((ROOT / "tests" / "golden" / "scalesim").glob("*.csv.gz")):
        with gzip.open(path, "rt") as file:
            total += sum(1 for _ in csv.DictReader(file))
    return total


def found(pattern, page, flags=0):
    """The groups of what the page says; a page that does not say it any more is a mistake here."""
    match = re.search(pattern, page, flags)
    if not match:
        raise SystemExit(f"tools/validation: docs/validation.md does not say /{pattern}/ any more; tools/validation_summary.py reads it")
    return match.groups()


def part(page, title):
    """A section, from its title to the next of the same or a higher level."""
    level = len(title) - len(title.lstrip("#"))
    begin = page.find(f"\n{title}\n")
    if begin < 0:
        raise SystemExit(f"tools/validation: docs/validation.md has no section '{title}' any more; tools/validation_summary.py reads it")
    end = re.search(rf"\n#{{1,{level}}} ", page[begin + 1:])
    return page[begin:begin + 1 + end.start()] if end else page[begin:]


def table(text, column, rows=lambda cells: True):
    """The numbers of a column of a section's lines, counted from the left; of lines that `rows` takes."""
    numbers = []
    for line in text.splitlines():
        cells = [cell.strip().strip("*") for cell in line.strip("| ").split(" | ")]
        if line.startswith("| ") and len(cells) > column and re.fullmatch(r"[-+]?[\d,.]+", cells[column]) and rows(cells):
            numbers.append(float(cells[column].replace(",", "")))
    return numbers


def mean_of(percent):
    return f"{sum(map(abs, percent)) / len(percent):.1f} % off, bias {sum(percent) / len(percent):+.1f} %"


def weighted(counts, errors, biases):
    rows = sum(counts)
    return (f"{sum(c * e for c, e in zip(counts, errors)) / rows:.1f} % off, "
            f"bias {sum(c * b for c, b in zip(counts, biases)) / rows:+.1f} %")


def lines(page):
    """(what, beside what, rows, result, command, section) of every section."""
    inside, of = found(r"\*\*(\d+) of (\d+) rows are inside", part(page, "## DRAM"))
    yield "DRAM: cycles of traces", "DRAMsim3, Ramulator 2.1, DRAMSys 5.5", of, f"{inside} inside the tools' own range", "tools/validation", "DRAM"
    inside, of = found(r"\*\*(\d+) of (\d+) rows are as expected", part(page, "## ONNXim"))
    yield "systolic array: products", "ONNXim's TPU v4", of, f"{inside} as expected", "tools/validation", "ONNXim"
    tpu_v1 = part(page, "## TPU v1")
    (close,) = found(r"the useful share within 10 %: ([^*]*?)\.\*\*", tpu_v1)
    largest = [float(n) for n in re.findall(r"[A-Z]+\d ([\d.]+)", found(r"Largest difference of the four shares, in points: ([^*]*?)\. ", tpu_v1)[0])]
    yield ("TPU v1: shares of time of six networks", "hardware counters in production", "6",
           f"useful share within 10 % in {len(close.split(', '))}; a share is off by up to {max(largest):.1f} points", "tools/validation", "TPU v1")
    inside, of = found(r"\*\*(\d+) of (\d+) are\.\*\*", tpu_v1)
    yield "TPU v1: what another design would gain", "Google's model", of, f"{inside} in direction and within 20 %", "tools/validation", "What-ifs"
    measured = part(page, "## TPU v5e, v6e, v7x")
    inside, of = found(r"\*\*(\d+) of (\d+) rows that gate are within 10 %", measured)
    yield "TPU v5e, v6e, v7x: products, copies", "published times, three constants fitted", of, f"{inside} within 10 %", "tools/validation --long", "TPU v5e, v6e, v7x"
    power = part(page, "## Power of whole devices")
    yield ("power of devices, rows that gate", "boards' limits, measured power", str(len(table(power, 5, lambda c: c[6] != "–"))),
           mean_of(table(power, 5, lambda c: c[6] != "–")), "tools/validation", "Power of whole devices")
    yield ("power of devices, other rows", "the same, of other work", str(len(table(power, 5, lambda c: c[6] == "–"))),
           mean_of(table(power, 5, lambda c: c[6] == "–")), "tools/validation", "Power of whole devices")
    products = part(page, "## GPUs: products of matrices")
    for chip, name in re.findall(r"### (.+)\n\n!\[[^\]]*\]\(pictures/gpu_gemm_(\w+)\.svg", products):
        rows, error, bias, _ = found(r"\| all \| ([\d,]+) \| ([\d.]+) \| ([-+\d.]+) \| ([\d.]+) \|", part(page, f"### {chip}"))
        yield f"`{name}`: products in bf16", "TensorRT-LLM's rows", rows, f"{error} % off, bias {bias} %", f"tools/validation --gpu {name}", "GPUs: products of matrices"
    narrow = table(part(page, "## GPUs: fp8, fp4 and numbers in blocks"), 6)
    yield "`b200`, `h100`: products in fp16, fp8, fp4", "a compiler's authors, cuBLAS and theirs", str(len(narrow)), mean_of(narrow), "tools/validation --section narrow", "GPUs: fp8, fp4 and numbers in blocks"
    for chip, name in (("A100 (SXM, 80 GB)", "a100"), ("H100 (SXM)", "h100"), ("H200 (SXM)", "h200")):
        text = part(page, f"### Layers on {chip}")
        yield (f"`{name}`: attention, norms, lookups …", "TensorRT-LLM, vLLM, PyTorch", f"{sum(table(text, 1)):.0f}", weighted(table(text, 1), table(text, 2), table(text, 3)),
               "tools/validation --section layers", "GPUs: attention, norms, lookups and others")
    layer = table(part(page, "## GPUs: a layer of GPT-3 on four A100"), 6)
    yield "four A100: a layer of GPT-3", "LLMCompass's measurement", str(len(layer)), mean_of(layer), "tools/validation --section transformer", "GPUs: a layer of GPT-3 on four A100"
    text = part(page, "## GPUs: collectives")
    yield ("GPUs: collectives in a node", "measured by three projects", f"{sum(table(text, 4)):.0f}", weighted(table(text, 4), table(text, 7), table(text, 8)),
           "tools/validation --section collectives", "GPUs: collectives")
    text = part(page, "## GPUs: AMD's CDNA")
    yield ("`mi210`: products in bf16; softmax, norms, GELU in fp32", "LLMCompass's measurement", f"{sum(table(text, 1, mi210)):.0f}",
           weighted(table(text, 1, mi210), table(text, 2, mi210), table(text, 3, mi210)), "tools/validation --section cdna", "GPUs: AMD's CDNA")
    instinct = table(text, 7)
    yield "`mi300x`, `mi325x`: products", "published by AMD and others", str(len(instinct)), mean_of(instinct), "tools/validation --section cdna", "GPUs: AMD's CDNA"
    text = part(page, "## GPUs: a V100 beside DeepBench")
    for op, name in (("gemm", "products"), ("conv", "convolutions")):
        rows, error, bias = found(rf"\| {op}, all \| ([\d,]+) \| ([\d.]+) \| ([-+\d.]+) \|", text)
        yield f"`v100`: {name}", "DeepBench", rows, f"{error} % off, bias {bias} %", "tools/validation --section deepbench", "GPUs: a V100 beside DeepBench"
    networks = table(part(page, "## GPUs: networks of convolutions"), 3)
    yield "`a100`: networks of convolutions", "TensorRT's latencies", str(len(networks)), mean_of(networks), "tools/validation", "GPUs: networks of convolutions"
    text = part(page, "## GPUs: rows kept apart")
    counts = table(text, 2)
    yield ("GPUs: rows kept apart until the release", "the same sources", f"{sum(counts):,.0f}",
           f"{weighted(counts, table(text, 3), table(text, 4))} (public rows, in like shares: {weighted(counts, table(text, 7), table(text, 8))})",
           "tools/validation --apart", "GPUs: rows kept apart")


def mi210(cells):
    return len(cells) == 5 and cells[0] in ("matmul, bf16", "softmax, fp32", "layernorm, fp32", "gelu, fp32")


def anchor(title):
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def in_short(page):
    text = EXACT.format(scalesim=f"{scalesim_rows():,}") + "| what | beside | rows | result | written by |\n|---|---|---:|---|---|\n"
    for what, beside, rows, result, command, section in lines(page):
        text += f"| [{what}](#{anchor(section)}) | {beside} | {rows} | {result} | `{command}` |\n"
    return text
