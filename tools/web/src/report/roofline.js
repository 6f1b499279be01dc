// SPDX-License-Identifier: Apache-2.0
// The hierarchical roofline: what each layer reaches over what it moves at each level, below the roofs of that level
// (Williams et al., CACM 2009; of several levels as Yang et al., arXiv 2009.05257).
import { h } from "../shared/dom.js";
import { listed, number, si } from "../shared/format.js";
import { colour, isDark } from "../shared/palette.js";
import { chart } from "./chart.js";
import { dramBytes, runLegend } from "./runs.js";

const LEVELS = [
    { key: "memory", title: "memory", bytes: (run, row) => dramBytes(row), peak: (run) => run.ceilings.memory_bytes_per_s },
    {
        key: "on_chip", title: "on-chip memory",
        bytes: (run, row) => row.roofline.on_chip * (run.ceilings.on_chip?.bytes_per_cycle ?? 0),
        peak: (run) => (run.ceilings.on_chip ? run.ceilings.on_chip.bytes_per_cycle * run.clock_hz : null),
    },
    {
        key: "host", title: "host link",
        bytes: (run, row) => (row.roofline.host / run.clock_hz) * (run.ceilings.host_bytes_per_s_each_way ?? 0),
        peak: (run) => run.ceilings.host_bytes_per_s_each_way,
    },
];

const peakOps = (run) => 2 * run.peak_macs_per_cycle * run.clock_hz;

const WHOLE = "the whole run";

/** Rows with MACs that move something at `level`: layers, and the whole run. */
function points(runs, level) {
    return runs.flatMap((run) =>
        [...run.layers, { ...run.total, name: WHOLE, op: "", whole: true }]
            .map((row) => ({ row, moved: level.bytes(run, row) }))
            .filter(({ row, moved }) => row.matrix_macs > 0 && moved > 0 && row.time_ns > 0)
            .map(({ row, moved }) => {
                const ops = (2 * row.matrix_macs) / (row.time_ns * 1e-9);
                const intensity = (2 * row.matrix_macs) / moved;
                return {
                    run: run.key, label: run.label, layer: row.name, op: row.op, intensity, ops, bound: row.bound_by, whole: row.whole ?? false,
                    reached: si(ops, "OP/s"), each: `${number(intensity)} OP/B`,
                };
            }),
    );
}

/** Runs with a roof and something below it; of others why not. */
function shownAt(runs, level) {
    const withRoof = runs.filter((run) => level.peak(run));
    const shown = withRoof.filter((run) => points([run], level).length > 0);
    const names = (some) => listed(some.map((run) => run.label));
    const without = runs.filter((run) => !withRoof.includes(run)), idle = withRoof.filter((run) => !shown.includes(run));
    return {
        shown,
        why: [
            without.length ? `No roof is known of the ${level.title} of ${names(without)}.` : "",
            idle.length ? `No product of ${names(idle)} moves anything over the ${level.title}.` : "",
        ].filter(Boolean).join(" "),
    };
}

/** Two straight lines in a log-log drawing: the slope of the bandwidth and the flat of the matrix units. Equal ones of one device once. */
function roofs(runs, level, [left, right]) {
    const seen = new Set();
    return runs.flatMap((run) => {
        const flat = peakOps(run), peak = level.peak(run);
        const same = JSON.stringify([run.device, run.series, flat, peak]);
        if (seen.has(same)) return [];
        seen.add(same);
        const ridge = Math.min(Math.max(flat / peak, left), right);
        return [left, ridge, right].map((intensity) => ({ run: run.key, intensity, ops: Math.min(flat, intensity * peak) }));
    });
}

function range(runs, level, found) {
    const all = found.map(({ intensity }) => intensity);
    for (const run of runs) all.push(peakOps(run) / level.peak(run));
    return [10 ** Math.floor(Math.log10(Math.min(...all) / 1.5)), 10 ** Math.ceil(Math.log10(Math.max(...all) * 2))];
}

// Small numbers as they are ("0.1"), large ones with a prefix ("10k").
const PLAIN = "datum.value < 1 ? format(datum.value, '~g') : format(datum.value, '~s')";

function specOf(width, runs, level) {
    const found = points(runs, level);
    const [left, right] = range(runs, level, found);
    const keys = runs.map(({ key }) => key);
    const colours = { domain: keys, range: runs.map((run) => colour(run.series)) };
    const x = {
        field: "intensity", type: "quantitative", scale: { type: "log", domain: [left, right], nice: false },
        axis: { title: `operations per byte of the ${level.title} (OP/B)`, labelExpr: PLAIN, grid: true, tickCount: 8 },
    };
    const y = {
        field: "ops", type: "quantitative", scale: { type: "log" },
        axis: { title: "operations per second (OP/s)", format: "~s", grid: true, tickCount: 6 },
    };
    const color = { field: "run", type: "nominal", scale: colours, legend: null };
    return {
        width: width - 10,
        height: 380,
        autosize: { type: "fit", contains: "padding" },
        layer: [
            {
                data: { values: roofs(runs, level, [left, right]) },
                mark: { type: "line", strokeWidth: 2.2 },
                encoding: { x, y, color, strokeDash: { field: "run", type: "nominal", legend: null, scale: { domain: keys } } },
            },
            {
                data: { values: found },
                mark: { type: "point", filled: true, opacity: 0.75, clip: true },
                encoding: {
                    x, y, color,
                    shape: { field: "run", type: "nominal", scale: { domain: keys, range: runs.map(({ shape }) => shape) }, legend: null },
                    size: { condition: { test: "datum.whole", value: 190 }, value: 55 },
                    stroke: { condition: { test: "datum.whole", value: isDark() ? "#ffffff" : "#000000" }, value: null },
                    tooltip: [
                        { field: "layer", title: "layer" }, { field: "label", title: "run" }, { field: "op", title: "operator" },
                        { field: "reached", title: "reached" }, { field: "each", title: "intensity" }, { field: "bound", title: "bound by" },
                    ],
                },
            },
        ],
    };
}

export function roofline(runs) {
    const levels = LEVELS.filter((level) => shownAt(runs, level).shown.length > 0);
    if (!levels.length) return null;
    let level = levels[0];
    const missing = h("p", { class: "note", role: "status" });
    const choice = h(
        "label", {}, "Level ",
        h("select", { onchange: (event) => { level = levels.find(({ key }) => key === event.target.value); made.draw(); } },
            levels.map(({ key, title }) => h("option", { value: key }, title))),
    );
    const made = chart({
        title: "Roofline, level by level",
        note: "Slopes are bandwidths, flats the peaks of matrix units. The whole run, the large mark with a rim, lies below both. A layer may lie above: its time begins where the layer before it ended, so that what was loaded or multiplied for it before then takes none of it.",
        label: `Log-log drawing of operations per second over operations per byte, for the layers of ${runs.map((run) => run.label).join(", ")}, with the roofs of each device.`,
        controls: h("div", { class: "controls" }, choice, missing),
        legend: () => runLegend(shownAt(runs, level).shown),
        spec: (width) => {
            const { shown, why } = shownAt(runs, level);
            missing.textContent = why;
            return specOf(width, shown, level);
        },
        table: () => ({
            columns: [
                { title: "layer" }, { title: "run" }, { title: "level" }, { title: "operations per byte", text: number, number: true },
                { title: "operations per second", text: (value) => si(value, "OP/s"), number: true, unit: "OP/s" }, { title: "bound by" },
            ],
            rows: levels.flatMap((one) => points(shownAt(runs, one).shown, one).map((p) => [p.layer, p.label, one.title, p.intensity, p.ops, p.bound])),
        }),
    });
    return made;
}
