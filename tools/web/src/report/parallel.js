// SPDX-License-Identifier: Apache-2.0
// Parallel coordinates: an upright for each of several columns, and a line for each point across them.
import { short } from "../shared/format.js";
import { LABEL_OF_KEY } from "./runs.js";

/** For each axis and point where the point's line crosses, 0 … 1, and what stands at the axes' ends. */
export function crossings(data, axes, shown, chosen) {
    const scales = axes.map(({ i, text }) => {
        const values = shown.map(({ id }) => data.rows[id][i]);
        if (values.every((value) => typeof value === "number")) {
            const low = Math.min(...values), high = Math.max(...values);
            return { at: (value) => (high > low ? (value - low) / (high - low) : 0.5), ends: [text(low), text(high)] };
        }
        const names = [...new Set(values)].sort((a, b) => String(a).localeCompare(String(b), "en", { numeric: true }));
        return { at: (value) => (names.length > 1 ? names.indexOf(value) / (names.length - 1) : 0.5), ends: [String(names[0]), String(names.at(-1))] };
    });
    const key = (axis, k) => `${k} ${axis.name}`;
    const lines = shown.flatMap(({ id, front, what }) => axes.map((axis, k) => ({
        id, front, what, axis: key(axis, k), k, at: scales[k].at(data.rows[id][axis.i]), chosen: chosen.has(id),
    })));
    const ends = axes.flatMap((axis, k) => [0, 1].map((at) => ({ axis: key(axis, k), k, at, text: short(scales[k].ends[at], 14) })));
    return { lines, ends };
}

/** A drawing of them, with the selection "range" along the uprights and the data "lines". */
export function parallel({ lines, ends }, colours, across) {
    const x = {
        field: "axis", type: "ordinal", sort: { field: "k", op: "min" }, scale: { type: "point", padding: 0.3 },
        axis: { title: null, labelAngle: 0, labelLimit: Math.max(60, across / (new Set(ends.map(({ k }) => k)).size + 0.5)), labelPadding: 18, labelExpr: LABEL_OF_KEY, grid: true, domain: false, ticks: false },
    };
    return {
        width: across, height: 230,
        layer: [
            {
                name: "lines", data: { name: "lines", values: lines },
                params: [{ name: "range", select: { type: "interval", encodings: ["x", "y"] } }],
                mark: { type: "line", strokeWidth: 1.4 },
                encoding: {
                    x, y: { field: "at", type: "quantitative", axis: null, scale: { domain: [0, 1] } },
                    detail: { field: "id" },
                    color: { field: "front", type: "nominal", scale: colours, legend: null },
                    opacity: { condition: { test: "datum.chosen", value: 0.75 }, value: 0.04 },
                    tooltip: [{ field: "what", title: "point" }],
                },
            },
            {
                data: { values: ends },
                mark: { type: "text", fontSize: 11, dy: { expr: "datum.at > 0.5 ? -9 : 10" } },
                encoding: { x: { field: "axis", type: "ordinal", sort: { field: "k", op: "min" } }, y: { field: "at", type: "quantitative" }, text: { field: "text" } },
            },
        ],
    };
}
