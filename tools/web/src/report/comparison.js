// SPDX-License-Identifier: Apache-2.0
// A comparison: who wins each layer, by how much, and why, as the program says it.
import { h } from "../shared/dom.js";
import { number, prefixOf, seconds, times } from "../shared/format.js";
import { CLASSES, colour } from "../shared/palette.js";
import { chart } from "./chart.js";
import { partLegend, runLegend } from "./runs.js";
import { sortableTable } from "./table.js";

const TOLD = 5;  // layers of which the reason stands on the page before anybody opens a table

/** The program's sentences, with the sign that this page has for microseconds. */
export const inWords = (why) => why.replace(/(\d) us\b/g, "$1 µs");

const difference = ({ times_ns: time, fastest, next }) => time[next] - time[fastest];
const factorOf = (standing) => (standing.factor === null ? "–" : `${times(standing.factor)}×`);

/** Bars of each layer's time, a device beside the other. */
function layerTimes(comparison, runs) {
    const { layers, trace } = comparison;
    const { factor, prefix } = prefixOf(Math.max(...layers.flatMap((layer) => layer.times_ns), 0) * 1e-9);
    const values = layers.flatMap((layer, n) => runs.map((run, i) => ({
        n, layer: `${n + 1} ${layer.name}`, name: layer.name, op: layer.op, run: run.key, i, label: run.label,
        value: (layer.times_ns[i] * 1e-9) / factor, time: seconds(layer.times_ns[i]), fastest: runs[layer.fastest].label, by: factorOf(layer),
    })));
    return chart({
        title: `Time of each layer by device, ${trace}`,
        note: comparison.left_out > 0 ? `${number(comparison.left_out)} further layers, on which the devices differ less, are left out.` : null,
        label: `Bars for each of ${layers.length} layers of ${trace}: the time on ${runs.map((run) => run.label).join(", ")}.`,
        legend: () => runLegend(runs).map(({ text, colour: ink }) => ({ text, colour: ink })),
        spec: (width) => ({
            data: { values }, width: width - 10, height: 260, autosize: { type: "fit", contains: "padding" },
            mark: { type: "bar", stroke: null },
            encoding: {
                x: {
                    field: "layer", type: "ordinal", sort: { field: "n", op: "min" }, scale: { paddingInner: layers.length > 150 ? 0 : 0.2 },
                    axis: { title: null, labelAngle: -50, labelLimit: 110, labelExpr: "datum.label", ticks: false },
                },
                xOffset: { field: "run", type: "nominal", sort: { field: "i", op: "min" } },
                y: { field: "value", type: "quantitative", title: `time (${prefix}s)` },
                color: { field: "run", type: "nominal", scale: { domain: runs.map(({ key }) => key), range: runs.map((run) => colour(run.series)) }, legend: null },
                tooltip: [
                    { field: "name", title: "layer" }, { field: "op", title: "operator" }, { field: "label", title: "device" }, { field: "time", title: "time" },
                    { field: "fastest", title: "fastest" }, { field: "by", title: "by" },
                ],
            },
        }),
        table: null,
    });
}

/** Bars to the right of what the next fastest spends longer on, to the left of what less. */
function lostTime({ total, trace }, runs) {
    const owners = CLASSES.filter(({ key }) => total.next_longer_ns[key] !== 0);
    if (!owners.length || total.fastest === total.next) return null;
    const { factor, prefix } = prefixOf(Math.max(...owners.map(({ key }) => Math.abs(total.next_longer_ns[key]))) * 1e-9);
    const values = owners.map(({ key, what }, order) => ({
        class: key, order, what, value: (total.next_longer_ns[key] * 1e-9) / factor, time: seconds(total.next_longer_ns[key]),
    }));
    const [first, next] = [runs[total.fastest].label, runs[total.next].label];
    return chart({
        title: `What ${next} takes longer for than ${first}, ${trace}`,
        note: "To the right: longer; to the left: less long. Together they are the difference of the two times.",
        label: `A bar for each class: how much longer ${next} spends on it than ${first}.`,
        legend: () => partLegend(owners),
        spec: (width) => ({
            data: { values }, width: width - 10, height: 22 * owners.length + 50, autosize: { type: "fit", contains: "padding" },
            mark: { type: "bar" },
            encoding: {
                y: { field: "class", type: "nominal", sort: { field: "order", op: "min" }, title: null },
                x: { field: "value", type: "quantitative", title: `time (${prefix}s)` },
                color: { field: "class", type: "nominal", scale: { domain: owners.map(({ key }) => key), range: owners.map(colour) }, legend: null },
                tooltip: [{ field: "class", title: "class" }, { field: "time", title: "longer by" }, { field: "what", title: "PEs" }],
            },
        }),
        table: { columns: [{ title: "class" }, { title: "longer by", text: seconds, number: true }], rows: owners.map(({ key }) => [key, total.next_longer_ns[key]]) },
    });
}

/** Every layer with its winner, the factor, and the reason in words. */
function winners(comparison, runs) {
    const { layers, total, trace } = comparison;
    const cells = (one) => {
        const even = difference(one) === 0;
        return [one.name, one.op, ...one.times_ns, even ? "even" : runs[one.fastest].label, even ? null : one.factor, inWords(one.why)];
    };
    const table = {
        columns: [
            { title: "layer" }, { title: "operator" }, ...runs.map((run) => ({ title: run.label, text: seconds, number: true })),
            { title: "fastest" }, { title: "times as fast", text: (value) => (value === null ? "–" : value.toFixed(2)), number: true }, { title: "why", prose: true },
        ],
        rows: layers.map(cells), total: cells(total),
    };
    const title = `Who wins each layer, ${trace}`;
    return h("figure", { class: "chart table-figure", "data-drawn": "yes" }, h("figcaption", {}, h("h3", {}, title)), sortableTable(title, table));
}

/** How many layers whom, and where it is decided. */
function words({ layers, trace }, runs, several) {
    const won = runs.map((_, i) => layers.filter((layer) => layer.fastest === i && difference(layer) > 0).length);
    const even = layers.length - won.reduce((sum, one) => sum + one, 0);
    const counts = [...runs.map((run, i) => `${run.label} is fastest on ${number(won[i])}`), ...(even > 0 ? [`${number(even)} are even`] : [])];
    const decisive = layers.filter((layer) => difference(layer) > 0).sort((a, b) => difference(b) - difference(a)).slice(0, TOLD);
    return [
        several ? h("h3", {}, trace) : null,
        h("p", {}, `Of ${number(layers.length)} layers, ${counts.join(", ")}.`),
        decisive.length ? [h("p", {}, "The largest differences:"), h("ul", {}, decisive.map((layer) => h("li", {}, h("b", {}, layer.name), `: ${inWords(layer.why)}`)))] : null,
    ];
}

/** Of each of the page's comparisons: words, charts and a table. */
export function comparison(comparisons, runs) {
    return comparisons.filter(({ devices }) => devices.length > 1).flatMap((one) => {
        const own = runs.slice(one.first_run, one.first_run + one.devices.length).map((run) => ({ ...run, label: run.within }));
        const parts = [lostTime(one, own)];
        if (one.layers.length) parts.unshift(words(one, own, comparisons.length > 1), layerTimes(one, own));
        return [...parts, winners(one, own)];
    });
}
