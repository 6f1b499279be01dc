// SPDX-License-Identifier: Apache-2.0
// A sweep: points with the Pareto front among them, parallel coordinates over what was varied and what came out, and a
// table. What is brushed in the first is shown by the other two.
import { h } from "../shared/dom.js";
import { number, short } from "../shared/format.js";
import { colour, SERIES } from "../shared/palette.js";
import { chart } from "./chart.js";
import { sortableTable } from "./table.js";

const MOST_AXES = 9;

/** Columns as the page needs them: what was varied, and what of the figures tells points apart. */
function columnsOf(data) {
    const status = data.columns.findIndex(({ name }) => name === "status");
    const all = data.columns.map((column, i) => ({ ...column, i, varied: i > 0 && i < status }));
    const differs = (column) => new Set(data.rows.map((row) => row[column.i])).size > 1;
    const objectives = data.objectives.map((name) => all.find((column) => column.name === name)).filter(Boolean);
    const keys = all.filter((column) => column.varied && differs(column));
    const figures = all.filter((column) => column.i > status && column.is_number && column.name !== "pareto" && differs(column));
    return { all, keys, objectives, figures };
}

/** Points that have both values. */
function points(data, x, y, columns) {
    const pareto = columns.all.find(({ name }) => name === "pareto");
    return data.rows
        .map((row, id) => ({
            id, x: row[x.i], y: row[y.i], front: pareto && row[pareto.i] === 1 ? "on the front" : "dominated",
            what: columns.keys.map((column) => `${column.name}=${row[column.i]}`).join(", "),
        }))
        .filter((point) => typeof point.x === "number" && typeof point.y === "number")
        // What is drawn later lies above.
        .sort((a, b) => (a.front === "on the front") - (b.front === "on the front") || a.id - b.id);
}

/** For each axis and point where the point's line crosses, 0 … 1. */
function crossings(data, axes, shown) {
    const scales = axes.map((axis) => {
        const values = shown.map(({ id }) => data.rows[id][axis.i]);
        if (values.every((value) => typeof value === "number")) {
            const low = Math.min(...values), high = Math.max(...values);
            return { at: (value) => (high > low ? (value - low) / (high - low) : 0.5), ends: [number(low), number(high)] };
        }
        const names = [...new Set(values)].sort((a, b) => String(a).localeCompare(String(b), "en", { numeric: true }));
        return { at: (value) => (names.length > 1 ? names.indexOf(value) / (names.length - 1) : 0.5), ends: [String(names[0]), String(names.at(-1))] };
    });
    const lines = shown.flatMap((point) => axes.map((axis, k) => ({
        ...point, axis: axis.name, k, at: scales[k].at(data.rows[point.id][axis.i]), value: String(data.rows[point.id][axis.i] ?? "–"),
    })));
    const ends = axes.flatMap((axis, k) => [0, 1].map((at) => ({ axis: axis.name, k, at, text: short(scales[k].ends[at], 14) })));
    return { lines, ends };
}

const frontColours = () => ({ domain: ["on the front", "dominated"], range: [colour(SERIES[1]), colour(SERIES[0])] });

function specOf(width, shown, x, y, { lines, ends }, log) {
    const chosen = (then, otherwise) => ({ condition: { param: "brush", value: then }, value: otherwise });
    const scale = (axis) => (log && shown.every((point) => point[axis] > 0) ? { type: "log" } : { zero: false });
    const across = Math.max(220, width - 90);
    return {
        vconcat: [
            {
                data: { values: shown }, width: across, height: 330,
                layer: [
                    {
                        transform: [{ filter: "datum.front == 'on the front'" }],
                        mark: { type: "line", interpolate: "step-after", strokeWidth: 1.2, color: colour(SERIES[1]), strokeDash: [4, 3] },
                        encoding: { x: { field: "x", type: "quantitative", scale: scale("x"), title: x.name }, y: { field: "y", type: "quantitative", scale: scale("y"), title: y.name } },
                    },
                    {
                        params: [{ name: "brush", select: { type: "interval" } }],
                        mark: { type: "point", filled: true, size: 70 },
                        encoding: {
                            x: { field: "x", type: "quantitative", scale: scale("x"), title: x.name, axis: { format: "~s" } },
                            y: { field: "y", type: "quantitative", scale: scale("y"), title: y.name, axis: { format: "~s" } },
                            color: { field: "front", type: "nominal", title: null, scale: frontColours(), legend: { orient: "top" } },
                            shape: { field: "front", type: "nominal", title: null, scale: { domain: ["on the front", "dominated"], range: ["diamond", "circle"] } },
                            opacity: chosen(0.9, 0.15),
                            tooltip: [{ field: "what", title: "point" }, { field: "x", title: x.name, format: ",.6~g" }, { field: "y", title: y.name, format: ",.6~g" }],
                        },
                    },
                ],
            },
            {
                width: across, height: 230,
                layer: [
                    {
                        data: { values: lines },
                        mark: { type: "line", strokeWidth: 1.4 },
                        encoding: {
                            x: { field: "axis", type: "ordinal", sort: { field: "k", op: "min" }, scale: { type: "point", padding: 0.3 }, axis: { title: null, labelAngle: 0, labelLimit: 130, labelPadding: 18, grid: true, domain: false, ticks: false } },
                            y: { field: "at", type: "quantitative", axis: null, scale: { domain: [0, 1] } },
                            detail: { field: "id" },
                            color: { field: "front", type: "nominal", title: null, scale: frontColours() },
                            opacity: chosen(0.75, 0.04),
                            tooltip: [{ field: "what", title: "point" }],
                        },
                    },
                    {
                        data: { values: ends },
                        mark: { type: "text", fontSize: 11, dy: { expr: "datum.at > 0.5 ? -9 : 10" } },
                        encoding: { x: { field: "axis", type: "ordinal", sort: { field: "k", op: "min" } }, y: { field: "at", type: "quantitative" }, text: { field: "text" } },
                    },
                ],
            },
        ],
        resolve: { scale: { color: "shared" } },
    };
}

export function sweep(data) {
    const columns = columnsOf(data);
    const numeric = [...columns.objectives, ...columns.keys, ...columns.figures].filter((column, i, all) => column.is_number && all.indexOf(column) === i);
    const table = h("div");
    const tableOf = (ids, what) => {
        const rows = ids ? data.rows.filter((_, id) => ids.has(id)) : data.rows;
        const pareto = columns.all.find(({ name }) => name === "pareto");
        table.replaceChildren(
            h("p", { class: "note", role: "status" }, what),
            sortableTable("Points", { columns: data.columns.map(({ name, is_number }) => ({ title: name, text: is_number ? number : undefined, number: is_number })), rows },
                { mark: (row) => pareto && row[pareto.i] === 1 }));
    };
    tableOf(null, "Points on the front are marked.");
    const list = h("figure", { class: "chart", "data-drawn": "yes" }, h("figcaption", {}, h("h3", {}, "All points")), table);
    if (numeric.length < 2) return [list];
    let [x, y] = numeric, log = false;
    const axes = [...columns.keys, ...columns.objectives.filter((column) => !columns.keys.includes(column))].slice(0, MOST_AXES);
    const shown = () => points(data, x, y, columns);
    const pick = (title, current, set) => h("label", {}, `${title} `, h("select", {
        onchange: (event) => { set(numeric[Number(event.target.value)]); made.draw(); },
    }, numeric.map((column, i) => h("option", { value: i, selected: column === current }, column.name))));
    const made = chart({
        title: data.objectives.length ? `Pareto front of ${data.objectives.join(" and ")}` : "Points",
        note: "Drag over points: the lines below and the table show only these. Each line is a point, each upright what was varied or came out, from its least to its most.",
        label: `${data.rows.length} points over ${x.name} and ${y.name}, and the same points as lines over ${axes.map(({ name }) => name).join(", ")}.`,
        controls: h("div", { class: "controls" }, pick("Across", x, (column) => { x = column; }), pick("Up", y, (column) => { y = column; }),
            h("label", {}, h("input", { type: "checkbox", onchange: (event) => { log = event.target.checked; made.draw(); } }), " logarithmic")),
        spec: (width) => specOf(width, shown(), x, y, crossings(data, axes, shown()), log),
        onView: (view) => view.addSignalListener("brush", (_, value) => {
            if (!value?.x) return tableOf(null, "Points on the front are marked.");
            const within = (one, [a, b]) => one >= Math.min(a, b) && one <= Math.max(a, b);
            const ids = new Set(shown().filter((point) => within(point.x, value.x) && within(point.y, value.y)).map(({ id }) => id));
            tableOf(ids, `${ids.size} of ${data.rows.length} points are chosen.`);
        }),
        table: null,
    });
    return [made, list];
}
