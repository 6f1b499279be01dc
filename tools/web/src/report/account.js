// SPDX-License-Identifier: Apache-2.0
// Where the memory's bandwidth went, and where the energy did: bars of parts, one for each run or layer.
import { joules, number, percent, prefixOf, seconds, si } from "../shared/format.js";
import { PARTS, colour } from "../shared/palette.js";
import { chart } from "./chart.js";
import { LABEL_OF_KEY, partLegend } from "./runs.js";

/** Owners of the buses' clocks; data first, then what kept data away. */
const OWNERS = [
    { key: "transfer", title: "data", light: "#0b4f8a", dark: "#4aa3e8" },
    { key: "refresh", title: "refresh", light: "#6a51a3", dark: "#a08ad6" },
    { key: "ccd_l", title: "same bank group (tCCD_L)", light: "#3f8fc9", dark: "#2f6ea3" },
    { key: "faw_rrd", title: "activations (tFAW, tRRD)", light: "#cc79a7", dark: "#dd93ba" },
    { key: "command_bus", title: "command bus", light: "#009e73", dark: "#1fbf92" },
    { key: "turnaround", title: "read/write turnaround", light: "#efe03c", dark: "#f0e442" },
    { key: "row_conflict", title: "row conflict", light: "#d55e00", dark: "#f0803c" },
    { key: "empty_queue", title: "nothing asked for", light: "#d9d9d6", dark: "#4b4b49" },
];

export function bandwidth(runs) {
    const with_bus = runs.filter((run) => run.memory_bus?.clocks > 0);
    if (!with_bus.length) return null;
    const known = new Set(OWNERS.map(({ key }) => key));
    const others = [...new Set(with_bus.flatMap((run) => Object.keys(run.memory_bus)))].filter((key) => key !== "clocks" && !known.has(key));
    const owners = [...OWNERS, ...others.map((key) => ({ key, title: key, light: "#555555", dark: "#bbbbbb" }))]
        .filter(({ key }) => with_bus.some((run) => run.memory_bus[key] > 0));
    const share = (run, key) => (run.memory_bus[key] ?? 0) / run.memory_bus.clocks;
    const values = with_bus.flatMap((run) => owners.map(({ key, title }, order) => ({
        run: run.key, label: run.label, n: run.number, owner: title, order, value: 100 * share(run, key), share: percent(share(run, key)),
        worth: si(share(run, key) * (run.ceilings.memory_bytes_per_s ?? 0), "B/s"),
    })).filter(({ value }) => value > 0));
    return chart({
        title: "Where the memory's bandwidth went",
        note: "Every clock of every data bus has one owner: data, or what kept data away.",
        label: `One stacked bar for each of ${with_bus.length} runs: shares of the clocks of the memory's data buses.`,
        legend: () => partLegend(owners),
        spec: (width) => ({
            data: { values }, width: width - 10, height: 34 * with_bus.length + 40, autosize: { type: "fit", contains: "padding" },
            mark: { type: "bar" },
            encoding: {
                y: { field: "run", type: "nominal", sort: { field: "n", op: "min" }, title: null, axis: { labelLimit: Math.min(220, width / 3), labelExpr: LABEL_OF_KEY } },
                x: { field: "value", type: "quantitative", title: "share of the data buses' clocks (%)", scale: { domain: [0, 100] } },
                color: {
                    field: "owner", type: "nominal", title: null, legend: null,
                    scale: { domain: owners.map(({ title }) => title), range: owners.map(colour) },
                },
                order: { field: "order" },
                tooltip: [{ field: "label", title: "run" }, { field: "owner", title: "owner" }, { field: "share", title: "share" }, { field: "worth", title: "worth" }],
            },
        }),
        table: {
            columns: [{ title: "run" }, { title: "peak", text: (value) => si(value, "B/s"), number: true, unit: "B/s" }, ...owners.map(({ title }) => ({ title, text: percent }))],
            rows: with_bus.map((run) => [run.label, run.ceilings.memory_bytes_per_s, ...owners.map(({ key }) => share(run, key))]),
        },
    });
}

export const hasEnergy = (run) => run.energy?.covers === "device" && run.total.energy_pj;

const partsIn = (rows) => PARTS.filter(({ key }) => rows.some((row) => row.energy_pj[key] > 0));
const partColours = (parts) => ({ domain: parts.map(({ key }) => key), range: parts.map(colour) });

/** Totals, one bar for each run. */
export function energyTotals(runs) {
    const told = runs.filter(hasEnergy);
    if (!told.length) return null;
    const parts = partsIn(told.map((run) => run.total));
    const { factor, prefix } = prefixOf(Math.max(...told.map((run) => run.total.energy_pj.total)) * 1e-12);
    const values = told.flatMap((run) => parts.map(({ key }, order) => ({
        run: run.key, label: run.label, n: run.number, part: key, order, value: (run.total.energy_pj[key] * 1e-12) / factor, energy: joules(run.total.energy_pj[key]),
        share: percent(run.total.energy_pj[key] / run.total.energy_pj.total),
    })).filter(({ value }) => value > 0));
    return chart({
        title: "Energy by part",
        note: "Operations, bytes and commands times what each takes in the chip's process, and the power that it draws when it does nothing.",
        label: `One stacked bar for each of ${told.length} runs: energy by part of the device.`,
        legend: () => partLegend(parts),
        spec: (width) => ({
            data: { values }, width: width - 10, height: 34 * told.length + 40, autosize: { type: "fit", contains: "padding" },
            mark: { type: "bar" },
            encoding: {
                y: { field: "run", type: "nominal", sort: { field: "n", op: "min" }, title: null, axis: { labelLimit: Math.min(220, width / 3), labelExpr: LABEL_OF_KEY } },
                x: { field: "value", type: "quantitative", title: `energy (${prefix}J)` },
                color: { field: "part", type: "nominal", title: null, scale: partColours(parts), legend: null },
                order: { field: "order" },
                tooltip: [{ field: "label", title: "run" }, { field: "part", title: "part" }, { field: "energy", title: "energy" }, { field: "share", title: "share" }],
            },
        }),
        table: {
            columns: [{ title: "run" }, { title: "total", text: joules, number: true }, ...parts.map(({ key }) => ({ title: key, text: joules })),
                { title: "mean power", text: (value) => si(value, "W"), unit: "W" }, { title: "peak power", text: (value) => si(value, "W"), unit: "W" }, { title: "TOP/s per W", text: number }],
            rows: told.map((run) => [run.label, run.total.energy_pj.total, ...parts.map(({ key }) => run.total.energy_pj[key]),
                run.power?.average_w, run.power?.peak_w, run.power?.tops_per_w]),
        },
    });
}

/** Of each layer. */
export function energyLayers(run) {
    if (!hasEnergy(run)) return null;
    const parts = partsIn(run.layers);
    if (!parts.length) return null;
    const { factor, prefix } = prefixOf(Math.max(...run.layers.map((layer) => layer.energy_pj.total), 0) * 1e-12);
    const values = run.layers.flatMap((layer, n) => parts.map(({ key }, order) => ({
        n, layer: `${n + 1} ${layer.name}`, name: layer.name, part: key, order, value: (layer.energy_pj[key] * 1e-12) / factor, energy: joules(layer.energy_pj[key]),
        power: layer.time_ns > 0 ? si((layer.energy_pj.total * 1e-12) / (layer.time_ns * 1e-9), "W") : "–",
    })).filter(({ value }) => value > 0));
    return chart({
        title: `Energy of each layer, ${run.label}`,
        note: null,
        label: `Stacked bars, one for each of ${run.layers.length} layers: energy by part of the device.`,
        legend: () => partLegend(parts),
        spec: (width) => ({
            data: { values }, width: width - 10, height: 220, autosize: { type: "fit", contains: "padding" },
            mark: { type: "bar" },
            encoding: {
                x: { field: "layer", type: "ordinal", sort: { field: "n", op: "min" }, axis: { title: null, labelAngle: -50, labelLimit: 110, ticks: false } },
                y: { field: "value", type: "quantitative", stack: "zero", title: `energy (${prefix}J)` },
                color: { field: "part", type: "nominal", scale: partColours(parts), legend: null },
                order: { field: "order" },
                tooltip: [{ field: "name", title: "layer" }, { field: "part", title: "part" }, { field: "energy", title: "energy" }, { field: "power", title: "mean power of the layer" }],
            },
        }),
        table: () => ({
            columns: [{ title: "layer" }, { title: "time", text: seconds, number: true }, { title: "total", text: joules, number: true }, ...parts.map(({ key }) => ({ title: key, text: joules }))],
            rows: run.layers.map((layer) => [layer.name, layer.time_ns, layer.energy_pj.total, ...parts.map(({ key }) => layer.energy_pj[key])]),
            total: ["total", run.total.time_ns, run.total.energy_pj.total, ...parts.map(({ key }) => run.total.energy_pj[key])],
        }),
    });
}

