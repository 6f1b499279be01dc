// SPDX-License-Identifier: Apache-2.0
// A sweep: what came of it in words, points with the Pareto front among them, parallel coordinates over what was varied and
// what came out, and a table. What is chosen in one is shown by all.
import { h } from "../shared/dom.js";
import { counted, listed, number, short } from "../shared/format.js";
import { colour, SERIES } from "../shared/palette.js";
import { chart } from "./chart.js";
import { SHAPES } from "./legend.js";
import { crossings, parallel } from "./parallel.js";
import { columnsOf, onFront, whatIs } from "./sweep_figures.js";
import { sortableTable } from "./table.js";

const MOST_AXES = 9;
const FRONT = "on the front", OTHER = "dominated";

/** What came of it: how many points, the front, and the best of each objective. */
export function sweepSummary(data) {
    const columns = columnsOf(data);
    const { points, done, refused, failed, missing } = data.tally;
    const rest = [[refused, "refused by their device"], [failed, "failed"], [missing, "not yet run"]].filter(([count]) => count > 0);
    const front = data.rows.filter((row) => onFront(row, columns));
    const names = listed(data.objectives.map(({ name }) => name));
    const lines = [`${counted(points, "points")}: ${[`${number(done)} done`, ...rest.map(([count, what]) => `${number(count)} ${what}`)].join(", ")}.`];
    if (data.objectives.length > 0)
        lines.push(front.length > 0
            ? `${number(front.length)} of them ${front.length === 1 ? "is" : "are"} on the Pareto front of ${names}: no other is at least as good in everything and better in something.`
            : `No point has a value of everything that was asked for (${names}): there is no Pareto front.`);
    const best = columns.objectives.map((objective) => {
        const told = data.rows.filter((row) => typeof row[objective.i] === "number");
        if (!told.length) return null;
        const [first] = [...told].sort((a, b) => (objective.more ? -1 : 1) * (a[objective.i] - b[objective.i]));
        const same = told.filter((row) => row[objective.i] === first[objective.i]).length;
        return h("li", {}, `${objective.more ? "Most" : "Least"} ${objective.name}: `, h("b", {}, objective.text(first[objective.i])),
            `, with ${whatIs(first, columns) || first[0]}${same > 1 ? ` (and ${number(same - 1)} more)` : ""}`);
    }).filter(Boolean);
    return [h("p", {}, lines.join(" ")), best.length ? h("ul", {}, best) : null];
}

/** Points that have both values, in the units of the axes. */
function points(data, [x, y], columns) {
    return data.rows
        .map((row, id) => ({
            id, rawX: row[x.i], rawY: row[y.i], front: onFront(row, columns) ? FRONT : OTHER, what: whatIs(row, columns),
            device: columns.device ? `0 ${row[columns.device.i]}` : "0 ", xText: x.text(row[x.i]), yText: y.text(row[y.i]),
        }))
        .filter((point) => typeof point.rawX === "number" && typeof point.rawY === "number")
        // What is drawn later lies above.
        .sort((a, b) => (a.front === FRONT) - (b.front === FRONT) || a.id - b.id);
}

const frontColours = () => ({ domain: [FRONT, OTHER], range: [colour(SERIES[1]), colour(SERIES[0])] });

/** How the front's points join: along what its best so far reaches. Only where both axes are all that was asked for. */
function frontLine([x, y], { objectives }) {
    const wanted = objectives.map(({ i }) => i);
    if (wanted.length !== 2 || !wanted.includes(x.i) || !wanted.includes(y.i) || x.i === y.i) return null;
    return objectives.find(({ i }) => i === x.i).more ? "step-before" : "step-after";
}

/** The scatter: {spec, points in the units of its axes}. */
function scatter(data, axes, columns, chosen, log, across) {
    const shown = points(data, axes, columns);
    const [x, y] = axes.map((axis, k) => axis.axis(shown.map((point) => (k === 0 ? point.rawX : point.rawY))));
    const values = shown.map((point) => ({ ...point, x: point.rawX / x.divisor, y: point.rawY / y.divisor, chosen: chosen.has(point.id) }));
    const scale = (key) => (log && values.every((point) => point[key] > 0) ? { type: "log" } : { zero: false });
    const position = (key, { title }) => ({ field: key, type: "quantitative", scale: scale(key), title, axis: { format: ",.4~r", tickCount: 8 } });
    const devices = devicesOf(data, columns);
    const color = { field: "front", type: "nominal", scale: frontColours(), legend: null };
    const line = frontLine(axes, columns);
    return {
        values,
        spec: {
            width: across, height: 330,
            layer: [
                ...(line ? [{
                    data: { values: values.filter(({ front }) => front === FRONT) },
                    mark: { type: "line", interpolate: line, strokeWidth: 1.2, color: colour(SERIES[1]), strokeDash: [4, 3] },
                    encoding: { x: position("x", x), y: position("y", y), order: { field: "x", type: "quantitative" } },
                }] : []),
                {
                    name: "points", data: { name: "points", values },
                    params: [{ name: "brush", select: { type: "interval" } }],
                    mark: { type: "point", strokeWidth: 1.6 },
                    encoding: {
                        x: position("x", x), y: position("y", y), color,
                        fill: { condition: { test: `datum.front == '${FRONT}'`, value: colour(SERIES[1]) }, value: "transparent" },
                        size: { condition: { test: `datum.front == '${FRONT}'`, value: 90 }, value: 60 },
                        shape: { field: "device", type: "nominal", scale: { domain: devices.map(({ key }) => key), range: devices.map(({ shape }) => shape) }, legend: null },
                        opacity: { condition: { test: "datum.chosen", value: 0.95 }, value: 0.12 },
                        tooltip: [{ field: "what", title: "point" }, { field: "xText", title: axes[0].name }, { field: "yText", title: axes[1].name }],
                    },
                },
            ],
        },
    };
}

function devicesOf(data, { device }) {
    if (!device) return [{ key: "0 ", shape: "circle" }];
    return [...new Set(data.rows.map((row) => row[device.i]))].map((name, i) => ({ key: `0 ${name}`, name, shape: SHAPES[i % SHAPES.length] }));
}

function legendOf(data, columns) {
    const devices = devicesOf(data, columns);
    const [front, other] = frontColours().range;
    return [
        ...(columns.pareto ? [{ text: FRONT, colour: front, shape: "circle" }, { text: OTHER, colour: other, shape: "circle", hollow: true }] : []),
        ...(devices.length > 1 ? devices.map(({ name, shape }) => ({ text: String(name), shape, hollow: true })) : []),
    ];
}

/** Choices by keys: for each axis of the parallel coordinates from where to where. */
function ranges(data, axes, changed) {
    const limits = axes.map((axis) => {
        const values = [...new Set(data.rows.map((row) => row[axis.i]))].filter((value) => value !== null)
            .sort((a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true })));
        return { axis, values, from: 0, to: values.length - 1 };
    });
    const pick = (limit, end) => h("select", {
        "aria-label": `${limit.axis.name} ${end}`, onchange: (event) => { limit[end] = Number(event.target.value); changed(); },
    }, limit.values.map((value, i) => h("option", { value: i, selected: i === limit[end] }, short(limit.axis.text(value), 30))));
    const box = h("details", { class: "data" }, h("summary", {}, "Choose points by values"),
        h("div", { class: "controls" }, limits.map((limit) => h("label", {}, `${limit.axis.name} from `, pick(limit, "from"), " to ", pick(limit, "to")))));
    const within = (row) => limits.every(({ axis, values, from, to }) => {
        if (from === 0 && to === values.length - 1) return true;
        const place = values.indexOf(row[axis.i]);
        return place >= from && place <= to;
    });
    return { box, within };
}

const NEAR = 0.02;  // of an upright: its ends are hit by who drags close to them
const within = (one, [a, b], slack = 0) => one >= Math.min(a, b) - slack && one <= Math.max(a, b) + slack;

export function sweep(data) {
    const columns = columnsOf(data);
    const numeric = [...columns.objectives, ...columns.keys, ...columns.figures].filter((column, i, all) => column.is_number && all.findIndex((one) => one.i === column.i) === i);
    const axes = [...columns.keys, ...columns.objectives.filter(({ i }) => !columns.keys.some((key) => key.i === i))].slice(0, MOST_AXES);
    const table = h("div");
    const everything = new Set(data.rows.keys());
    const list = (chosen) => {
        const rows = data.rows.filter((_, id) => chosen.has(id));
        const what = chosen.size < data.rows.length ? `${number(chosen.size)} of ${number(data.rows.length)} points are chosen.` : "Points on the front are marked.";
        const told = columns.all.map(({ name, is_number: isNumber, text, unit }) => ({ title: name, text: isNumber ? text : undefined, number: isNumber, unit }));
        table.replaceChildren(h("p", { class: "note", role: "status" }, what), sortableTable("Points", { columns: told, rows }, { mark: (row) => onFront(row, columns) }));
    };
    list(everything);
    const all = h("figure", { class: "chart table-figure", "data-drawn": "yes" }, h("figcaption", {}, h("h3", {}, "All points")), table);
    if (numeric.length < 2) return [all];

    let [x, y] = numeric, log = false, brushed = null, crossed = null, drawn = { values: [], lines: [] }, view = null;
    /** Points within everything that is marked. */
    const choose = () => {
        const shown = new Map(drawn.values.map((point) => [point.id, point]));
        const inBrush = (id) => !brushed || (shown.has(id) && within(shown.get(id).x, brushed.x) && within(shown.get(id).y, brushed.y));
        const out = new Set(crossed ? drawn.lines.filter(({ axis, at }) => crossed.axis.includes(axis) && !within(at, crossed.at, NEAR)).map(({ id }) => id) : []);
        const chosen = new Set(Array.from(data.rows.keys()).filter((id) => inBrush(id) && !out.has(id) && filters.within(data.rows[id])));
        for (const [name, rows] of [["points", drawn.values], ["lines", drawn.lines]])
            // By names alone: Vega's own mark on a row would make it the old one again.
            view.data(name, rows.map((row) => ({ ...Object.fromEntries(Object.entries(row)), chosen: chosen.has(row.id) })));
        view.runAsync();
        list(chosen);
    };
    const filters = ranges(data, axes, () => choose());
    const pick = (title, current, set) => h("label", {}, `${title} `, h("select", {
        onchange: (event) => { set(numeric[Number(event.target.value)]); made.draw(); },
    }, numeric.map((column, i) => h("option", { value: i, selected: column === current }, column.name))));
    const names = listed(data.objectives.map(({ name }) => name));
    const made = chart({
        title: data.objectives.length ? `Pareto front of ${names}` : "Points",
        note: "Drag over points, or along the uprights below: drawings and table show only these. Each line is a point, each upright what was varied or came out, from its least to its most.",
        label: `${data.rows.length} points over ${x.name} and ${y.name}, and the same points as lines over ${axes.map(({ name }) => name).join(", ")}.`,
        controls: h("div", {}, h("div", { class: "controls" }, pick("Across", x, (column) => { x = column; }), pick("Up", y, (column) => { y = column; }),
            h("label", {}, h("input", { type: "checkbox", onchange: (event) => { log = event.target.checked; made.draw(); } }), " logarithmic")), filters.box),
        legend: () => legendOf(data, columns),
        spec: (width) => {
            const across = Math.max(220, width - 90);
            const above = scatter(data, [x, y], columns, everything, log, across);
            const below = crossings(data, axes, above.values, everything);
            drawn = { values: above.values, lines: below.lines };
            return { vconcat: [above.spec, parallel(below, frontColours(), across)], resolve: { scale: { color: "shared" } } };
        },
        onView: (made_view) => {
            view = made_view;
            brushed = crossed = null;  // a new drawing has no marks
            view.addSignalListener("brush", (_, value) => { brushed = value?.x ? value : null; view.runAfter(choose); });
            view.addSignalListener("range", (_, value) => { crossed = value?.axis ? value : null; view.runAfter(choose); });
            choose();
        },
        table: () => ({
            columns: [...columns.keys, x, y].map(({ name, text, is_number: isNumber, unit }) => ({ title: name, text: isNumber ? text : undefined, unit })),
            rows: data.rows.map((row) => [...columns.keys, x, y].map(({ i }) => row[i])),
        }),
    });
    return [made, all];
}
