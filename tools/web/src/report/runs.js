// SPDX-License-Identifier: Apache-2.0
// What the page knows of runs, and what several charts ask of them.
import { CLASSES, SERIES } from "../shared/palette.js";

/** Runs with a name that tells them apart (`label`) and a colour (`series`). */
export function named(runs) {
    const distinct = (key) => new Set(runs.map((run) => run[key])).size > 1;
    const seen = new Map();
    return runs.map((run, i) => {
        const parts = [run.device];
        if (distinct("trace")) parts.push(run.trace);
        let label = parts.join(", ");
        const count = (seen.get(label) ?? 0) + 1;
        seen.set(label, count);
        if (count > 1) label += ` (${count})`;
        return { ...run, number: i, label, series: SERIES[i % SERIES.length] };
    });
}

/** Classes that own something in any of `rows`. */
export const classesIn = (rows) => CLASSES.filter(({ key }) => rows.some((row) => row.classes[key] > 0));

export const dramBytes = (row) => row.bytes.dram_read + row.bytes.dram_written;

/** A level's time of a row in nanoseconds, of its cycles. */
export const levelTime = (run, cycles) => (cycles / run.clock_hz) * 1e9;

/** The share of all capacity that is not useful, largest first: [{key, share}]. */
export const losses = (row) =>
    CLASSES.slice(1)
        .map(({ key }) => ({ key, share: row.classes[key] }))
        .filter(({ share }) => share > 0)
        .sort((a, b) => b.share - a.share);
