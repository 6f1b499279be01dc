// SPDX-License-Identifier: Apache-2.0
// The hierarchical roofline: what each layer reaches over what it moves at each level, below the roofs of that level
// (Williams et al., CACM 2009; of several levels as Yang et al., arXiv 2009.05257).
import { h } from "../shared/dom.js";
import { number, si } from "../shared/format.js";
import { colour } from "../shared/palette.js";
import { chart } from "./chart.js";
import { dramBytes } from "./runs.js";

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

/** Layers with MACs that move something at `level`. */
function points(runs, level) {
    return runs.flatMap((run) =>
        run.layers
            .map((row) => ({ row, moved: level.bytes(run, row) }))
            .filter(({ row, moved }) => row.matrix_macs > 0 && moved > 0 && row.time_ns > 0)
            .map(({ row, moved }) => {
                const ops = (2 * row.matrix_macs) / (row.time_ns * 1e-9);
                const intensity = (2 * row.matrix_macs) / moved;
                return {
                    run: run.label, layer: row.name, op: row.op, intensity, ops, bound: row.bound_by,
                    reached: si(ops, "OP/s"), each: `${number(intensity)} OP/B`,
                };
            }),
    );
}

/** Two straight lines in a log-log drawing: the slope of the bandwidth and the flat of the matrix units. */
function roofs(runs, level, [left, right]) {
    return runs.flatMap((run) => {
        const flat = peakOps(run);
        const peak = level.peak(run);
        if (!peak) return [{ run: run.label, intensity: left, ops: flat }, { run: run.label, intensity: right, ops: flat }];
        const ridge = Math.min(Math.max(flat / peak, left), right);
        return [
            { run: run.label, intensity: left, ops: Math.min(flat, left * peak) },
            { run: run.label, intensity: ridge, ops: Math.min(flat, ridge * peak) },
            { run: run.label, intensity: right, ops: flat },
        ];
    });
}

function range(runs, level, found) {
    const all = found.map(({ intensity }) => intensity);
    for (const run of runs) {
        const peak = level.peak(run);
        if (peak) all.push(peakOps(run) / peak);
    }
    if (!all.length) return [1, 1000];
    return [10 ** Math.floor(Math.log10(Math.min(...all) / 1.5)), 10 ** Math.ceil(Math.log10(Math.max(...all) * 2))];
}

const SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left"];

export function roofline(runs) {
    const levels = LEVELS.filter((level) => points(runs, level).length > 0);
    if (!levels.length) return null;
    let level = levels[0];
    const names = runs.map((run) => run.label);
    const scale = () => ({ domain: names, range: runs.map((run) => colour(run.series)) });
    const spec = (width) => {
        const found = points(runs, level);
        const [left, right] = range(runs, level, found);
        const x = {
            field: "intensity", type: "quantitative", scale: { type: "log", domain: [left, right], nice: false },
            axis: { title: `operations per byte of the ${level.title} (OP/B)`, format: "~s", grid: true, tickCount: 8 },
        };
        const y = {
            field: "ops", type: "quantitative", scale: { type: "log" },
            axis: { title: "operations per second (OP/s)", format: "~s", grid: true, tickCount: 6 },
        };
        return {
            resolve: { legend: { color: "independent", strokeDash: "independent" } },
            width: width - 10,
            height: 380,
            autosize: { type: "fit", contains: "padding" },
            layer: [
                {
                    data: { values: roofs(runs, level, [left, right]) },
                    mark: { type: "line", strokeWidth: 2.2 },
                    encoding: { x, y, color: { field: "run", type: "nominal", title: null, scale: scale(), legend: null }, strokeDash: { field: "run", type: "nominal", legend: null, scale: { domain: names } } },
                },
                {
                    data: { values: found },
                    mark: { type: "point", filled: true, size: 55, opacity: 0.75, clip: true },
                    encoding: {
                        x, y,
                        color: { field: "run", type: "nominal", title: null, scale: scale(), legend: { orient: "top", labelLimit: 300 } },
                        shape: { field: "run", type: "nominal", title: null, scale: { domain: names, range: names.map((_, i) => SHAPES[i % SHAPES.length]) } },
                        tooltip: [
                            { field: "layer", title: "layer" }, { field: "run", title: "run" }, { field: "op", title: "operator" },
                            { field: "reached", title: "reached" }, { field: "each", title: "intensity" }, { field: "bound", title: "bound by" },
                        ],
                    },
                },
            ],
        };
    };
    const choice = h(
        "label", {}, "Level ",
        h("select", { onchange: (event) => { level = levels.find(({ key }) => key === event.target.value); made.draw(); } },
            levels.map(({ key, title }) => h("option", { value: key }, title))),
    );
    const made = chart({
        title: "Roofline, level by level",
        note: "A layer's point lies below the slope of its level's bandwidth and below the flat of the matrix units at their peak. Layers whose data came ahead of their time may lie above the slope.",
        label: `Log-log drawing of operations per second over operations per byte, for the layers of ${names.join(", ")}, with the roofs of each device.`,
        controls: h("div", { class: "controls" }, choice),
        spec,
        table: () => ({
            columns: [
                { title: "layer" }, { title: "run" }, { title: "level" }, { title: "operations per byte", text: number, number: true },
                { title: "operations per second", text: (value) => si(value, "OP/s"), number: true }, { title: "bound by" },
            ],
            rows: levels.flatMap((one) => points(runs, one).map((p) => [p.layer, p.run, one.title, p.intensity, p.ops, p.bound])),
        }),
    });
    return made;
}
