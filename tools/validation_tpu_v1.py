# SPDX-License-Identifier: Apache-2.0
"""The section on TPU v1 of docs/validation.md, for tools/validation."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "support"))
import tpu_v1_rows  # noqa: E402
import tpu_v1_variants  # noqa: E402

HEAD = """
## TPU v1

Hardware counters of six networks in production (Jouppi et al., ISCA 2017, table 3; `tests/golden/tpu_v1`), in percent of
all cycles, beside Systole's accounts of `traces/classic/tpu_v1_*` on `tpu_v1`. Shapes follow from table 1 of the paper by
a rule that was written down before the first run: equal square layers that give the published weights. Nothing was
fitted. `difference` is in points of the four shares that sum to 100 %; it should be {points} at most for MLP0, MLP1, LSTM0 and
CNN0, and the useful share within {useful:.0f} % of itself.

What was changed after the first run, each for a published reason:

- the LSTMs run 16-bit activations on 8-bit weights at half speed (section 2; table 1's weights are bytes): array active of
  LSTM0 4.7 to 9.3 %, useful 4.4 to 8.6 %;
- results pass activation and normalization as stages of a pipeline (figure 1), a row a cycle, not one after the other;
- a layer begins when all of the one before is written (section 2: a delay slot in which the matrix unit waits for explicit
  synchronization): largest difference of MLP0 12.6 to 9.1, of MLP1 23.4 to 18.2; CNN0, whose first and last layers
  then stood in the way, 0.1 to 9.1;
- CNN0 is AlphaGo, whose boards have 48 planes and whose last layer has one filter (Silver et al., 2016): 9.1 to 5.6, with
  the pipeline of results 2.5. Its channels follow from the weights as before.

CNN0's non-matrix share is mostly conflicts in the banks of the unified buffer, whose number, ports and map are assumed: the
last table says how much hangs on them.

What is left: production networks are not squares (their unused share says so), and what they send over PCIe is not
published. Table 3 leaves the host's own time out, and its authors could not explain all of the non-matrix share
either: of MLP0's 17.5 %, RAW and input stalls explain 9.4 at most, of MLP1's 31.9 % 17.2. Where ours is smaller, it has less
of both. LSTM1's and CNN1's layers are of many shapes: 600 x 600 is one of LSTM1's, and half of CNN1's MACs are unused.

`RAW` and `input` overlap the other rows: the share of time in which the array stood still while results of an earlier
layer, or data from the host, were outstanding (`pending_vector` and `pending_dependency`, `pending_host`). TOPS come from
production code and not from the counters: the useful share alone implies others, `implied` (8 x 16 bit: half). Google's own
model of this chip differs from the counters' cycles by 5 to 11 % (table 7), which the next table shows beside ours: cycles
for the same work, as the useful share says them.

| network | share | counters | **Systole** | difference |
|---|---|---:|---:|---:|
"""

SHARE_NAMES = {"active": "array active", "weight_stall": "weight stall", "weight_shift": "weight shift",
               "non_matrix": "non-matrix", "useful": "useful MACs", "raw": "RAW (overlaps)", "input": "input (overlaps)"}

TOPS = """
### TOPS, host and unified buffer

`host`: bytes over PCIe at 14 GiB/s (figure 1), in percent of the time, beside the time in which the host communicates with
the TPU (table 5), whose data sizes nobody published. `buffer`: the most that is used of the unified buffer, in MiB
(table 8, after Google's allocator was improved). Ours holds one batch.

| network | TOPS, paper | implied | off % | **ours** | cycles, Google's model % | **ours %** | host % | **ours** | buffer | **ours** |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
"""

WHAT_IFS = """
### What-ifs

How much faster another TPU would be, by Google's model (section 7 and figure 11) and by ours, inputs and outputs in the
unified buffer, because the paper's figures leave the host out. It should have the right direction and be within 20 %.
`mlp`, `lstm` and `cnn` are geometric means of two networks, `gm` of all; `wm` is weighted by deployment
(`tests/golden/tpu_v1/README.md`). Four times the bandwidth: eight channels. GDDR5: 183.6 GB/s of GDDR6, which moves the
ridge as far as the paper says. With an array of 512 x 512 all paths are 512 elements wide.

| what if | networks | paper | **Systole** | within 20 % |
|---|---|---:|---:|---|
"""

WHY_NOT = """
The MLPs gain more than Google's model says because nothing here but the weights' way stands in theirs. At four times the clock
our mapper still cuts CNN0 into two blocks of rows, so that one can drain while the other runs, and fetches its weights twice,
which then takes longer than the work; fetched once, its 2,888 operations a weight byte over the ridge of 1,350 allow 2.1.
"""

SENSITIVITY = """
### What the assumptions do

The largest change of the four shares, in points, when an assumed value is a fifth less / a fifth more (whole numbers by
one at least; of names, the other end of the range). `–`: there is no such machine. What changes no share by {least} points is
{count} values: {silent}.

"""

LEAST = 0.1


def line(cells):
    return "| " + " | ".join(cells) + " |\n"


def shares(ours, counted):
    text = ""
    for network, counters in counted.items():
        name = network.upper()
        for key, share in SHARE_NAMES.items():
            difference = ours[network][key] - counters[key]
            shown = f"{100 * difference / counters[key]:+.0f} %" if key == "useful" else f"{difference:+.1f}"
            text += line([name, share, f"{counters[key]:.1f}", f"**{ours[network][key]:.1f}**", shown])
            name = ""
    text += "\nLargest difference of the four shares, in points: "
    text += ", ".join(f"{network.upper()} {tpu_v1_rows.worst(ours[network], counters):.1f}"
                      for network, counters in counted.items()) + ". "
    held = [network.upper() for network in tpu_v1_rows.GATED
            if tpu_v1_rows.worst(ours[network], counted[network]) <= tpu_v1_rows.POINTS]
    useful = [network.upper() for network in tpu_v1_rows.GATED
              if abs(ours[network]["useful"] / counted[network]["useful"] - 1) <= tpu_v1_rows.USEFUL_WITHIN]
    return text + (f"**Within {tpu_v1_rows.POINTS} points: {', '.join(held)}; the useful share within "
                   f"{100 * tpu_v1_rows.USEFUL_WITHIN:.0f} %: {', '.join(useful)}.**\n")


def tops(ours, counted):
    text, off = "", []
    for network, counters in counted.items():
        half = 2 if network.startswith("lstm") else 1  # PE-cycles are useful; a MAC of 8 x 16 bit takes two
        implied = counters["useful"] / 100 * 65536 * 2 * 0.7 / 1000 / half
        off.append(abs(implied / counters["tops"] - 1))
        result = ours[network]
        # The same work takes the longer, the smaller its useful share is.
        cycles = counters["useful"] / result["useful"] - 1
        text += line([network.upper(), f"{counters['tops']:.1f}", f"{implied:.1f}",
                      f"{100 * (implied / counters['tops'] - 1):+.0f}", f"**{result['tops']:.1f}**",
                      f"{counters['model_error']:.1f}", f"**{100 * cycles:+.1f}**", f"{counters['host']:.0f}",
                      f"**{result['host']:.1f}**", f"{counters['buffer_mib']:.1f}", f"**{result['buffer_mib']:.1f}**"])
    without = off[:-1]  # CNN1's are the farthest
    return text + (f"\nThe useful share implies TOPS that are {100 * sum(off) / len(off):.0f} % off on average, without "
                   f"CNN1 {100 * sum(without) / len(without):.0f} %.\n")


def what_ifs(program):
    answers = tpu_v1_variants.what_ifs(program)
    text, inside = "", 0
    published = tpu_v1_variants.published()
    for name, networks, speedup, words in published:
        ours = answers[name][networks]
        agrees = tpu_v1_variants.agrees(speedup, ours)
        inside += agrees
        text += line([name, networks, words, f"**{ours:.2f}**", "yes" if agrees else "**no**"])
    return text + f"\n**{inside} of {len(published)} are.** Network by network:\n\n" + each(answers)


def each(answers):
    networks = list(tpu_v1_rows.measured())
    text = line(["what if", *(network.upper() for network in networks)]) + "|---|" + "---:|" * len(networks) + "\n"
    for name, of in answers.items():
        text += line([name, *(f"{of[network]:.2f}" for network in networks)])
    return text


def sensitivity(program):
    networks = list(tpu_v1_rows.measured())
    shown, silent = "", []
    for what, value, changes in tpu_v1_variants.sensitivity(program):
        if all((change or 0) < LEAST for pair in changes.values() for change in pair):
            silent.append(f"`{what}`")
            continue
        cells = [" / ".join("–" if change is None else f"{change:.1f}" for change in changes[network])
                 for network in networks]
        shown += line([f"`{what}`" if value else what, value, *cells])
    text = SENSITIVITY.format(least=LEAST, count=len(silent), silent=", ".join(silent))
    text += line(["assumption", "value", *(network.upper() for network in networks)])
    return text + "|---|---|" + "---:|" * len(networks) + "\n" + shown


def written_sensitivity(page):
    """What the page says, from its heading to the next section."""
    begin = page.find(SENSITIVITY.split("\n\n")[0])
    return page[begin:page.index("\n## ", begin + 1)] if begin >= 0 else ""


def section(program, page, long):
    """`page`: what was written before; the sensitivities, which take a minute, are taken from it unless `long`."""
    counted = tpu_v1_rows.measured()
    ours = {network: tpu_v1_rows.simulated(program, network) for network in counted}
    text = HEAD.format(points=tpu_v1_rows.POINTS, useful=100 * tpu_v1_rows.USEFUL_WITHIN)
    text += shares(ours, counted) + TOPS + tops(ours, counted) + WHAT_IFS + what_ifs(program) + WHY_NOT
    return text + (sensitivity(program) if long else written_sensitivity(page))
