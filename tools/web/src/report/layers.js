// SPDX-License-Identifier: Apache-2.0
// All layers of a run as a table that sorts.
import { h } from "../shared/dom.js";
import { bytes, joules, number, percent, seconds } from "../shared/format.js";
import { classesIn, dramBytes } from "./runs.js";
import { hasEnergy } from "./account.js";
import { sortableTable } from "./table.js";

export function layerTable(run) {
    if (!run.layers.length) return null;
    const classes = classesIn(run.layers);
    const energy = hasEnergy(run);
    const columns = [
        { title: "layer" }, { title: "operator" }, { title: "cycles", text: number, number: true }, { title: "time", text: seconds, number: true },
        ...classes.map(({ key }) => ({ title: key, text: percent, number: true })),
        { title: "memory traffic", text: bytes, number: true }, { title: "roofline (cycles)", text: number, number: true }, { title: "roof" }, { title: "bound by" },
        ...(energy ? [{ title: "energy", text: joules, number: true }] : []), { title: "mapping", prose: true },
    ];
    const cells = (row) => [
        row.name ?? "total", row.op ?? "", row.cycles, row.time_ns, ...classes.map(({ key }) => row.classes[key]), dramBytes(row),
        row.roofline_cycles, row.roofline_bound, row.bound_by, ...(energy ? [row.energy_pj.total] : []), row.mapping ?? "",
    ];
    const table = { columns, rows: run.layers.map(cells), total: cells(run.total) };
    return h("figure", { class: "chart table-figure", "data-drawn": "yes" }, h("figcaption", {}, h("h3", {}, `Layers, ${run.label}`)), sortableTable(`Layers, ${run.label}`, table));
}

export function counters(run) {
    if (!run.stats?.length) return null;
    const details = h("details", { class: "data" }, h("summary", {}, `Counters of ${run.label}`));
    details.addEventListener("toggle", () => {
        if (details.open && details.children.length === 1)
            details.append(sortableTable(`Counters of ${run.label}`, {
                columns: [{ title: "component" }, { title: "counter" }, { title: "value", text: number, number: true }, { title: "unit" }, { title: "meaning", prose: true }],
                rows: run.stats.map(({ path, name, value, unit, meaning }) => [path, name, value, unit, meaning]),
            }));
    });
    return details;
}
