// SPDX-License-Identifier: Apache-2.0
// What came out, in figures and in words.
import { h } from "../shared/dom.js";
import { bytes, joules, listed, number, percent, seconds, short, si } from "../shared/format.js";
import { CLASSES, colour } from "../shared/palette.js";
import { dramBytes, losses } from "./runs.js";

const meaning = Object.fromEntries(CLASSES.map(({ key, what }) => [key, what]));

function tile(run) {
    const { total } = run;
    const perSecond = total.time_ns > 0 ? (2 * total.macs) / (total.time_ns * 1e-9) : null;
    const rows = [
        ["Utilization", percent(total.utilization)],
        ["Operations", si(perSecond, "OP/s")],
        ["Bound by", total.bound_by],
        ["Memory traffic", bytes(dramBytes(total))],
    ];
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

/** What one run is about, in sentences. */
export function sentences(run) {
    const { total, layers } = run;
    const lines = [];
    if (total.time_ns === 0) return [`${run.label}: nothing took any time.`];
    const lost = losses(total).slice(0, 3);
    const largest = lost.map(({ key, share }) => `${percent(share)} ${key} (${meaning[key]})`);
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
        lines.push(`The critical path is ${listed(path.map(([name, time]) => `${percent(time / total.time_ns)} ${name}`))}.`);
    const factor = total.cycles / total.roofline_cycles;
    if (Number.isFinite(factor) && factor > 0)
        lines.push(
            `The slowest roof is ${total.roofline_bound}, with ${number(total.roofline_cycles)} cycles: the run takes ${number(factor)} times as long.`,
        );
    const moved = dramBytes(total);
    if (moved > 0 && total.bytes.compulsory_dram > 0)
        lines.push(
            `The memory moves ${bytes(moved)}, ${number(moved / total.bytes.compulsory_dram)} times what weights, inputs and outputs in it hold.`,
        );
    if (run.fidelity === "outline")
        lines.push("What is published of this chip does not carry a detailed model: its figures are an outline.");
    if (layers.some((row) => row.reused))
        lines.push(
            `${number(layers.filter((row) => row.reused).length)} layers were not simulated: equal ones stand for them.`,
        );
    return lines;
}

function compared(runs) {
    const traces = [...new Set(runs.map((run) => run.trace))];
    return traces.flatMap((trace) => {
        const sorted = runs.filter((run) => run.trace === trace).sort((a, b) => a.total.time_ns - b.total.time_ns);
        if (sorted.length < 2 || sorted[0].total.time_ns === 0) return [];
        const others = sorted.slice(1).map((run) => `${number(run.total.time_ns / sorted[0].total.time_ns)} times as fast as ${run.device}`);
        return [`On ${trace}, ${sorted[0].device} is ${listed(others)}.`];
    });
}

export function summary(runs) {
    return [
        h("ul", { class: "tiles" }, runs.map(tile)),
        compared(runs).map((line) => h("p", {}, line)),
        runs.map((run) => [
            runs.length > 1 ? h("h3", {}, run.label) : null,
            h("p", {}, sentences(run).join(" ")),
        ]),
    ];
}
