// SPDX-License-Identifier: Apache-2.0
// What came out, in figures and in words.
import { h } from "../shared/dom.js";
import { bytes, joules, listed, number, percent, plain, seconds, short, si, times } from "../shared/format.js";
import { CLASSES, colour } from "../shared/palette.js";
import { inWords } from "./comparison.js";
import { dramBytes, itemsOf, losses, workOf } from "./runs.js";

const meaning = Object.fromEntries(CLASSES.map(({ key, what }) => [key, what]));
const one = (things) => ({ queries: "query" })[things] ?? things.replace(/s$/, "");

function tile(run) {
    const { total } = run;
    const perSecond = total.time_ns > 0 ? (2 * total.macs) / (total.time_ns * 1e-9) : null;
    const items = itemsOf(run);
    const rows = [
        ["Utilization", percent(total.utilization)],
        ["Operations", si(perSecond, "OP/s")],
        ["Most of the critical path", plain(total.bound_by)],
        ["Memory traffic", bytes(dramBytes(total))],
    ];
    if (workOf(run)) rows.unshift(["At once", workOf(run)]);
    if (items?.count > 1) rows.push([`Time per ${one(items.what)}`, seconds(total.time_ns / items.count)]);
    if (run.energy?.total_pj != null && run.energy.covers === "device") rows.push(["Energy", joules(run.energy.total_pj)]);
    if (run.power) rows.push(["Power, mean", si(run.power.average_w, "W")]);
    if (run.serving?.tokens_per_s) rows.push(["Tokens", si(run.serving.tokens_per_s, "token/s")]);
    return h(
        "li",
        { class: "tile", style: `--series: ${colour(run.series)}` },
        h("h3", {}, run.label),
        h("div", { class: "time" }, seconds(total.time_ns)),
        h("div", { class: "quiet" }, `${number(total.cycles)} cycles at ${si(run.clock_hz, "Hz")}`),
        h("dl", {}, rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])),
    );
}

/** Shares of the critical path, the longest first; what matrix units do themselves is "compute", as in the program's texts. */
function pathOf(run) {
    const shares = new Map();
    for (const { class: key, time_ns: time } of run.critical_path ?? []) {
        const name = ["useful", "padding", "ramp"].includes(key) ? "compute" : key;
        shares.set(name, (shares.get(name) ?? 0) + time);
    }
    return [...shares].sort((a, b) => b[1] - a[1]).slice(0, 4);
}

const ROOFS = {
    compute: "the matrix units", vector: "the vector unit", on_chip: "on-chip memory", memory: "memory", host: "the host link", chips: "the links to other chips",
};

/** How far the run is from the slowest of its roofs. */
function roofSentence({ total }) {
    const factor = total.cycles / total.roofline_cycles;
    if (!Number.isFinite(factor) || factor <= 0) return null;
    const roof = ROOFS[total.roofline_bound] ?? plain(total.roofline_bound);
    const sentence = `With everything at its peak and side by side, ${roof} would set the pace, with ${number(total.roofline_cycles)} cycles; the run takes ${times(factor)} times as long`;
    return total.bound_by === total.roofline_bound ? `${sentence}.` : `${sentence}, as not all of it overlaps: most of its critical path is ${plain(total.bound_by)}.`;
}

/** What one run is about, in sentences. */
export function sentences(run) {
    const { total, layers } = run;
    const lines = [];
    if (total.time_ns === 0) return [`${run.label}: nothing took any time.`];
    const lost = losses(total).slice(0, 3);
    const largest = lost.map(({ key, share }) => `${percent(share)} ${plain(key)} (${meaning[key]})`);
    lines.push(
        `Of the matrix units' capacity ${percent(total.utilization)} multiplies real data` +
            (largest.length ? `; most of the rest is ${listed(largest)}.` : "."),
    );
    const longest = [...layers].sort((a, b) => b.time_ns - a.time_ns).slice(0, 3).filter((row) => row.time_ns > 0);
    if (layers.length > 3)
        lines.push(
            `${listed(longest.map((row) => `${short(row.name)} (${percent(row.time_ns / total.time_ns)})`))} take the most time ` +
                `of ${number(layers.length)} layers.`,
        );
    const path = pathOf(run);
    if (path.length)
        lines.push(`The critical path is ${listed(path.map(([name, time]) => `${percent(time / total.time_ns)} ${plain(name)}`))}.`);
    lines.push(roofSentence(run));
    const moved = dramBytes(total);
    if (moved > 0 && total.bytes.compulsory_dram > 0)
        lines.push(
            `The memory moves ${bytes(moved)}, ${times(moved / total.bytes.compulsory_dram)} times what weights, inputs and outputs in it hold.`,
        );
    if (run.fidelity === "outline")
        lines.push("What is published of this chip does not carry a detailed model: its figures are an outline.");
    const reused = layers.filter((row) => row.reused).length;
    if (reused > 0) lines.push(`${number(reused)} ${reused === 1 ? "layer was" : "layers were"} not simulated as a whole: others stand for them${known(run.reuse)}.`);
    return lines.filter(Boolean);
}

/** How well the time of a run is known of which some was taken over; results of older versions do not say. */
function known(reuse) {
    if (!reuse) return "";
    const cent = 100 * reuse.time_known_to;
    return `, and the run's time is known to about ${Math.max(cent, 0.01).toFixed(2)} %${reuse.confidence === null ? "" : " in 19 of 20 cases"}`;
}

/** What runs of one trace are compared by: {of: run → ns, each: "image", "" for whole runs}; null: by nothing. */
function measure(runs) {
    const items = runs.map(itemsOf);
    if (new Set(runs.map(workOf)).size === 1) return { of: (run) => run.total.time_ns, each: "" };
    const alike = items.every((each) => each && each.what === items[0].what && each.count > 0);
    const phases = new Set(runs.map((run) => run.serving?.phase));
    if (!alike || phases.size > 1) return null;
    return { of: (run) => run.total.time_ns / itemsOf(run).count, each: one(items[0].what) };
}

function comparedOn(trace, runs) {
    if (runs.length < 2 || runs.some((run) => run.total.time_ns === 0)) return [];
    const by = measure(runs);
    if (!by) return [`The runs of ${trace} do different work, so that their times do not compare.`];
    const [first, ...others] = [...runs].sort((a, b) => by.of(a) - by.of(b));
    const said = others.map((run) => {
        const factor = times(by.of(run) / by.of(first));
        return factor === "1" ? `as fast as ${run.within}` : `${factor} times as fast as ${run.within}`;
    });
    const each = by.each ? ` an ${by.each}`.replace(/ an (?=[^aeiou])/, " a ") : "";
    return [`On ${trace}, ${first.within} is ${listed(said)}${each ? `, by the time${each} (${seconds(by.of(first))})` : ""}.`];
}

/** Who is faster on each trace: in the program's words, where it compared them, and in factors. */
function compared(runs, comparisons) {
    return [...new Set(runs.map((run) => run.trace))].flatMap((trace) => {
        const here = runs.filter((run) => run.trace === trace);
        const of = comparisons.filter((one) => one.trace === trace && one.total.why);
        const lines = of.map(({ total }) => `On ${trace}, ${inWords(total.why)}`);
        // The words are of the two fastest.
        return of.length === 1 && here.length === 2 ? lines : [...comparedOn(trace, here), ...lines];
    });
}

/** A line below the title: what was run at once, and where data come from and go to. */
export function subtitle(runs) {
    if (!runs.length) return "";
    const lines = [...new Set(runs.map(workOf))].filter(Boolean);
    const { inputs_at: from, outputs_to: to } = runs[0].protocol;
    const alike = runs.every((run) => run.protocol.inputs_at === from && run.protocol.outputs_to === to);
    const place = (key) => ({ host: "the host", dram: "memory", onchip: "the chip" })[key] ?? key;
    const formats = [...new Set(runs.map((run) => run.formats?.join(" and ")))].filter(Boolean);
    return [
        lines.length === 1 ? lines[0] : lines.length > 1 ? `${lines[0]} to ${lines.at(-1)}` : "",
        formats.length === 1 ? formats[0] : "",
        alike && from && to ? `inputs from ${place(from)}, outputs to ${place(to)}` : "",
    ].filter(Boolean).join(" · ");
}

export function summary(runs, comparisons) {
    return [
        h("ul", { class: "tiles" }, runs.map(tile)),
        compared(runs, comparisons).map((line) => h("p", {}, line)),
        runs.map((run) => [
            runs.length > 1 ? h("h3", {}, run.label) : null,
            h("p", {}, sentences(run).join(" ")),
        ]),
    ];
}
