// SPDX-License-Identifier: Apache-2.0
// How busy each matrix unit was over time: a heat map, and the classes of all of them stacked.
import { percent, prefixOf, seconds } from "../shared/format.js";
import { CLASSES, colour, isDark } from "../shared/palette.js";
import { chart } from "./chart.js";

const hasActivity = (run) => run.timeline?.activity?.length > 0;

/** The unit of a time axis: what nanoseconds are divided by, and its prefix. */
function scaleOf(run) {
    const { factor, prefix } = prefixOf(run.timeline.end_ps * 1e-12);
    return { scale: factor * 1e9, prefix };
}

/** [{unit, n, begin, end (ns), classes: {key: share}}] */
function cells(run) {
    const { activity, end_ps: end } = run.timeline;
    return activity.flatMap(({ track, units, bins }, n) =>
        bins.map((slots, i) => {
            const whole = slots.reduce((sum, one) => sum + one, 0);
            const share = (k) => (whole > 0 ? slots[k] / whole : 0);
            return {
                unit: units > 1 ? `${track} (${units})` : track, n,
                begin: (end * i) / bins.length / 1000, end: (end * (i + 1)) / bins.length / 1000,
                shares: CLASSES.map((_, k) => share(k)), whole,
            };
        }),
    );
}

export function heatMap(run) {
    if (!hasActivity(run)) return null;
    const { scale, prefix } = scaleOf(run);
    const values = cells(run).map(({ unit, n, begin, end, shares }) => ({
        unit, n, begin: begin / scale, end: end / scale, value: 100 * shares[0], share: percent(shares[0]), from: seconds(begin), until: seconds(end),
        most: CLASSES.map(({ key }, k) => ({ key, share: shares[k] })).slice(1).sort((a, b) => b.share - a.share)
            .filter(({ share }) => share > 0).slice(0, 2).map(({ key, share }) => `${key} ${percent(share)}`).join(", ") || "–",
    }));
    const units = run.timeline.activity.length;
    return chart({
        title: `Utilization over time, ${run.label}`,
        note: "Each row is a matrix unit (or alike ones together), each cell a stretch of time: the share of its slots that multiply real data.",
        label: `Heat map of ${units} matrix units over the time of the run: the share of useful slots.`,
        renderer: "canvas",
        spec: (width) => ({
            data: { values }, width: width - 10, height: Math.max(70, Math.min(420, 26 * units)) + 60, autosize: { type: "fit", contains: "padding" },
            mark: { type: "rect", stroke: null },
            encoding: {
                x: { field: "begin", type: "quantitative", axis: { title: `time (${prefix}s)` }, scale: { domain: [0, run.timeline.end_ps / 1000 / scale], nice: false } },
                x2: { field: "end" },
                y: { field: "unit", type: "ordinal", sort: { field: "n", op: "min" }, title: null, axis: { labelLimit: 180 } },
                color: {
                    field: "value", type: "quantitative", title: "useful (%)",
                    scale: { scheme: "cividis", domain: [0, 100], reverse: !isDark() }, legend: { orient: "right", gradientLength: 90 },
                },
                tooltip: [{ field: "unit", title: "unit" }, { field: "from", title: "from" }, { field: "until", title: "until" }, { field: "share", title: "useful" }, { field: "most", title: "else" }],
            },
        }),
        table: () => ({
            columns: [{ title: "unit" }, { title: "from", text: seconds, number: true }, { title: "until", text: seconds, number: true }, ...CLASSES.map(({ key }) => ({ title: key, text: percent }))],
            rows: cells(run).map(({ unit, begin, end, shares }) => [unit, begin, end, ...shares]),
        }),
    });
}

/** The classes of all units together over time. */
export function classesOverTime(run) {
    if (!hasActivity(run)) return null;
    const all = cells(run);
    const { scale, prefix } = scaleOf(run);
    const count = run.timeline.activity[0].bins.length;
    const values = [];
    const used = new Set();
    for (let i = 0; i < count; ++i) {
        const here = run.timeline.activity.map((_, n) => all[n * count + i]);
        const whole = here.reduce((sum, cell) => sum + cell.whole, 0);
        let low = 0;
        CLASSES.forEach(({ key }, k) => {
            const share = whole > 0 ? here.reduce((sum, cell) => sum + cell.shares[k] * cell.whole, 0) / whole : 0;
            if (share === 0) return;
            used.add(key);
            values.push({
                begin: here[0].begin / scale, end: here[0].end / scale, low, high: low + 100 * share, class: key,
                share: percent(share), from: seconds(here[0].begin),
            });
            low += 100 * share;
        });
    }
    const shown = CLASSES.filter(({ key }) => used.has(key));
    return chart({
        title: `Classes over time, ${run.label}`,
        note: null,
        label: "Stacked areas over the time of the run: the share of each class of all matrix units' capacity.",
        spec: (width) => ({
            data: { values }, width: width - 10, height: 220, autosize: { type: "fit", contains: "padding" },
            mark: { type: "rect", stroke: null },
            encoding: {
                x: { field: "begin", type: "quantitative", axis: { title: `time (${prefix}s)` }, scale: { domain: [0, run.timeline.end_ps / 1000 / scale], nice: false } },
                x2: { field: "end" },
                y: { field: "low", type: "quantitative", title: "share of capacity (%)", scale: { domain: [0, 100] } },
                y2: { field: "high" },
                color: { field: "class", type: "nominal", title: "class", scale: { domain: shown.map(({ key }) => key), range: shown.map(colour) } },
                tooltip: [{ field: "from", title: "from" }, { field: "class", title: "class" }, { field: "share", title: "share" }],
            },
        }),
        table: null,
    });
}
