// SPDX-License-Identifier: Apache-2.0
// How busy each matrix unit was over time: a heat map, and the classes of all of them stacked.
import { percent, prefixOf, seconds } from "../shared/format.js";
import { CLASSES, colour, isDark } from "../shared/palette.js";
import { chart } from "./chart.js";
import { partLegend } from "./runs.js";

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
    const most = Math.max(...values.map(({ value }) => value));
    // Work shows even where there is little of it: the scale ends at a round number above the most.
    const top = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100].find((end) => most <= end) ?? 100;
    return chart({
        title: `Utilization over time, ${run.label}`,
        note: "Each row is a matrix unit (or alike ones together), each cell a stretch of time: the share of its slots that multiply real data. " +
            `The most is ${most.toPrecision(3)} %; idle cells fade into the page.`,
        label: `Heat map of ${units} matrix units over the time of the run: the share of useful slots.`,
        renderer: "canvas",
        spec: (width) => ({
            data: { values }, width: width - 10, height: Math.max(70, Math.min(420, 26 * units)) + 60, autosize: { type: "fit", contains: "padding" },
            mark: { type: "rect", stroke: null },
            encoding: {
                x: { field: "begin", type: "quantitative", axis: { title: `time (${prefix}s)` }, scale: { domain: [0, run.timeline.end_ps / 1000 / scale], nice: false } },
                x2: { field: "end" },
                y: { field: "unit", type: "ordinal", sort: { field: "n", op: "min" }, title: null, axis: { labelLimit: Math.min(180, width / 3) } },
                color: {
                    field: "value", type: "quantitative", title: "useful (%)",
                    scale: { domain: [0, top / 2, top], range: isDark() ? ["#262624", "#1d6fb0", "#e6f3ff"] : ["#f4f4f1", "#5ba3d9", "#05294d"], interpolate: "lab" },
                    legend: { orient: "right", gradientLength: 90 },
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

/** The classes of all units together, by stretch of time: [{begin, end (ns), shares}] */
function together(run) {
    const all = cells(run);
    const count = run.timeline.activity[0].bins.length;
    return Array.from({ length: count }, (_, i) => {
        const here = run.timeline.activity.map((__, n) => all[n * count + i]);
        const whole = here.reduce((sum, cell) => sum + cell.whole, 0);
        const share = (k) => (whole > 0 ? here.reduce((sum, cell) => sum + cell.shares[k] * cell.whole, 0) / whole : 0);
        return { begin: here[0].begin, end: here[0].end, shares: CLASSES.map((__, k) => share(k)) };
    });
}

/** Shares of classes stacked over time. */
export function classesOverTime(run) {
    if (!hasActivity(run)) return null;
    const { scale, prefix } = scaleOf(run);
    const stretches = together(run);
    const shown = CLASSES.map((entry, k) => ({ ...entry, k })).filter(({ k }) => stretches.some(({ shares }) => shares[k] > 0));
    const values = stretches.flatMap(({ begin, end, shares }) => {
        let low = 0;
        return shown.filter(({ k }) => shares[k] > 0).map(({ key, k }) => {
            const one = { begin: begin / scale, end: end / scale, low, high: low + 100 * shares[k], class: key, share: percent(shares[k]), from: seconds(begin) };
            low = one.high;
            return one;
        });
    });
    return chart({
        title: `Classes over time, ${run.label}`,
        note: null,
        label: "Stacked areas over the time of the run: the share of each class of all matrix units' capacity.",
        legend: () => partLegend(shown),
        spec: (width) => ({
            data: { values }, width: width - 10, height: 220, autosize: { type: "fit", contains: "padding" },
            mark: { type: "rect", stroke: null },
            encoding: {
                x: { field: "begin", type: "quantitative", axis: { title: `time (${prefix}s)` }, scale: { domain: [0, run.timeline.end_ps / 1000 / scale], nice: false } },
                x2: { field: "end" },
                y: { field: "low", type: "quantitative", title: "share of capacity (%)", scale: { domain: [0, 100] } },
                y2: { field: "high" },
                color: { field: "class", type: "nominal", scale: { domain: shown.map(({ key }) => key), range: shown.map(colour) }, legend: null },
                tooltip: [{ field: "from", title: "from" }, { field: "class", title: "class" }, { field: "share", title: "share" }],
            },
        }),
        table: () => ({
            columns: [{ title: "from", text: seconds, number: true }, { title: "until", text: seconds, number: true }, ...shown.map(({ key }) => ({ title: key, text: percent }))],
            rows: stretches.map(({ begin, end, shares }) => [begin, end, ...shown.map(({ k }) => shares[k])]),
        }),
    });
}
