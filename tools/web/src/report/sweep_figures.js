// SPDX-License-Identifier: Apache-2.0
// Columns of a sweep: which were varied and which came out, and what their numbers are in.
import { number, percent, prefixOf, si } from "../shared/format.js";
import { CLASSES } from "../shared/palette.js";

const SHARES = new Set(["utilization", ...CLASSES.map(({ key }) => key)]);
const UNITS = {
    time_ns: ["s", 1e-9], cycles: ["cycles", 1], dram_read: ["B", 1], dram_written: ["B", 1], compulsory_dram: ["B", 1], energy_pj: ["J", 1e-12],
    power_w: ["W", 1], peak_w: ["W", 1], gops_per_w: ["OP/s/W", 1e9], tokens_per_s: ["token/s", 1],
};

/** How numbers of a column are told: `text`, the unit in a file where the name does not say it, and for an axis over `values` what they are divided by and its title. */
export function measureOf(name) {
    const own = (table) => (Object.hasOwn(table, name) ? table[name] : null);
    const unit = own(UNITS);
    if (SHARES.has(name))
        return { text: percent, unit: "fraction", axis: () => ({ divisor: 0.01, title: `${name} (%)` }) };
    if (unit && unit[0] !== "cycles") {
        const [base, factor] = unit;
        const words = name.replace(/_(ns|pj|w)$/, "").replaceAll("_", " ");
        return {
            text: (value) => (typeof value === "number" ? si(value * factor, base) : "–"), unit: base === "B" ? base : null,
            axis: (values) => {
                const { factor: by, prefix } = prefixOf(Math.max(...values.map((value) => Math.abs(value * factor)), 0));
                return { divisor: by / factor, title: `${words} (${prefix}${base})` };
            },
        };
    }
    return { text: (value) => (typeof value === "number" ? number(value) : (value ?? "–")), unit: null, axis: () => ({ divisor: 1, title: name }) };
}

/** Columns as the page needs them: what was varied, and what of the figures tells points apart. */
export function columnsOf(data) {
    const status = data.columns.findIndex(({ name }) => name === "status");
    const all = data.columns.map((column, i) => ({ ...column, ...measureOf(column.name), i, varied: i > 0 && i < status }));
    const differs = (column) => new Set(data.rows.map((row) => row[column.i])).size > 1;
    const find = (name) => all.find((column) => column.name === name);
    const objectives = data.objectives
        .map(({ name, more_is_better: more }) => ({ ...find(name), more }))
        .filter(({ i }) => i !== undefined);
    const keys = all.filter((column) => column.varied && differs(column));
    const figures = all.filter((column) => column.i > status && column.is_number && column.name !== "pareto" && differs(column));
    return { all, keys, objectives, figures, status: all[status], pareto: find("pareto"), device: keys.find(({ name }) => name === "device") };
}

/** What a point is: the values of what was varied. */
export const whatIs = (row, columns) => columns.keys.map((column) => `${column.name}=${row[column.i]}`).join(", ");

export const onFront = (row, columns) => columns.pareto !== undefined && row[columns.pareto.i] === 1;
