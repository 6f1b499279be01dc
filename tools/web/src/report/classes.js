// SPDX-License-Identifier: Apache-2.0
// Where the time of each layer goes: bars of classes, in the order of layers.
import { h } from "../shared/dom.js";
import { percent, prefixOf, seconds } from "../shared/format.js";
import { CLASSES, colour } from "../shared/palette.js";
import { chart } from "./chart.js";
import { LABEL_OF_KEY, classesIn, partLegend } from "./runs.js";

const HEIGHT = 260;

/** One row for each layer and class that has some of it. */
function bars(run, factor, asShare) {
    const rows = [];
    run.layers.forEach((layer, i) => {
        const whole = asShare ? 100 : (layer.time_ns * 1e-9) / factor;
        CLASSES.forEach(({ key, what }, order) => {
            const share = layer.classes[key];
            if (share > 0)
                rows.push({
                    n: i, layer: `${i + 1} ${layer.name}`, name: layer.name, op: layer.op, class: key, order, what,
                    value: share * whole, share: percent(share), time: seconds(layer.time_ns), bound: layer.bound_by,
                });
        });
    });
    return rows;
}

/** Time or shares: buttons of which one is pressed. */
function choice(words, choose) {
    const buttons = words.map((text, i) =>
        h("button", {
            type: "button", "aria-pressed": String(i === 0),
            onclick: () => {
                buttons.forEach((button, other) => button.setAttribute("aria-pressed", String(other === i)));
                choose(i);
            },
        }, text));
    return h("div", { class: "controls" }, buttons);
}

export function layerClasses(run) {
    const shown = classesIn(run.layers);
    if (!shown.length) return null;
    const most = Math.max(...run.layers.map((layer) => layer.time_ns), 0) * 1e-9;
    const { factor, prefix } = prefixOf(most);
    let asShare = false;
    const spec = (width) => ({
        data: { values: bars(run, factor, asShare) },
        width: width - 10,
        height: HEIGHT,
        autosize: { type: "fit", contains: "padding" },
        mark: { type: "bar", stroke: null, binSpacing: 0 },
        encoding: {
            x: {
                field: "layer", type: "ordinal", sort: { field: "n", op: "min" }, scale: { paddingInner: run.layers.length > 150 ? 0 : 0.12 },
                axis: { title: null, labelAngle: -50, labelLimit: 110, labelExpr: "datum.label", ticks: false },
            },
            y: {
                field: "value", type: "quantitative", stack: "zero",
                title: asShare ? "share of matrix capacity (%)" : `time (${prefix}s)`,
                scale: asShare ? { domain: [0, 100] } : undefined,
            },
            color: { field: "class", type: "nominal", scale: { domain: shown.map(({ key }) => key), range: shown.map(colour) }, legend: null },
            order: { field: "order" },
            tooltip: [
                { field: "name", title: "layer" }, { field: "op", title: "operator" }, { field: "time", title: "time" },
                { field: "class", title: "class" }, { field: "share", title: "of capacity" }, { field: "what", title: "PEs" },
                { field: "bound", title: "bound by" },
            ],
        },
    });
    const made = chart({
        title: `Time of each layer by class, ${run.label}`,
        note: "Classes share out the slots of all matrix units: what they did, or what they waited for.",
        label: `Stacked bars, one for each of ${run.layers.length} layers of ${run.trace} on ${run.device}, by class.`,
        controls: choice(["Time", "Shares"], (i) => { asShare = i === 1; made.draw(); }),
        legend: () => partLegend(shown),
        spec,
        table: () => ({
            columns: [
                { title: "layer" }, { title: "operator" }, { title: "time", text: seconds, number: true },
                ...shown.map(({ key }) => ({ title: key, text: percent })),
            ],
            rows: run.layers.map((layer) => [layer.name, layer.op, layer.time_ns, ...shown.map(({ key }) => layer.classes[key])]),
            total: ["total", "", run.total.time_ns, ...shown.map(({ key }) => run.total.classes[key])],
        }),
    });
    return made;
}

/** Totals of all runs, one bar each. */
export function totalClasses(runs) {
    const shown = classesIn(runs.map((run) => run.total));
    if (!shown.length) return null;
    const values = runs.flatMap((run) =>
        CLASSES.map(({ key, what }, order) => ({
            run: run.key, label: run.label, n: run.number, class: key, order, what, value: 100 * run.total.classes[key], share: percent(run.total.classes[key]),
        })).filter(({ value }) => value > 0),
    );
    return chart({
        title: "Capacity of the matrix units by class",
        note: "Of whole runs: every slot of every cycle has one owner.",
        label: `One stacked bar for each of ${runs.length} runs: shares of the classes.`,
        legend: () => partLegend(shown),
        spec: (width) => ({
            data: { values },
            width: width - 10,
            height: 34 * runs.length + 40,
            autosize: { type: "fit", contains: "padding" },
            mark: { type: "bar", stroke: null },
            encoding: {
                y: { field: "run", type: "nominal", sort: { field: "n", op: "min" }, title: null, axis: { labelLimit: Math.min(220, width / 3), labelExpr: LABEL_OF_KEY } },
                x: { field: "value", type: "quantitative", title: "share of matrix capacity (%)", scale: { domain: [0, 100] } },
                color: { field: "class", type: "nominal", scale: { domain: shown.map(({ key }) => key), range: shown.map(colour) }, legend: null },
                order: { field: "order" },
                tooltip: [{ field: "label", title: "run" }, { field: "class", title: "class" }, { field: "share", title: "of capacity" }, { field: "what", title: "PEs" }],
            },
        }),
        table: {
            columns: [{ title: "run" }, ...shown.map(({ key }) => ({ title: key, text: percent }))],
            rows: runs.map((run) => [run.label, ...shown.map(({ key }) => run.total.classes[key])]),
        },
    });
}
