// SPDX-License-Identifier: Apache-2.0
// What the page knows of runs, and what several charts ask of them.
import { counted } from "../shared/format.js";
import { CLASSES, SERIES, colour } from "../shared/palette.js";
import { SHAPES } from "./legend.js";

/** What was run at once: "8 images", "decode of 32 sequences of 2,048 tokens"; "" where results do not say. */
export function workOf(run) {
    if (run.serving) {
        const { phase, batch, context } = run.serving;
        return `${phase} of ${counted(batch, "sequences")} of ${counted(context, "tokens")}`;
    }
    return run.batch_of ? counted(run.batch_of.count, run.batch_of.what) : "";
}

/** How much that is: {count, what} of what times can be told for each; null where results do not say. */
export function itemsOf(run) {
    if (run.serving) {
        const { phase, batch, context, new_tokens: made } = run.serving;
        return { count: batch * (phase === "decode" ? made : context), what: "tokens" };
    }
    return run.batch_of;
}

/**
 * Runs with a name that tells them apart (`label`), one that does among those of its trace (`within`), one that is no other's
 * (`key`), a colour and a shape.
 */
export function named(runs) {
    const distinct = (of) => [...new Set(runs.map(of))];
    const device = (run) => run.device, trace = (run) => run.trace;
    const told = [device, trace, workOf].filter((of, i) => i === 0 || distinct(of).length > 1);
    const words = runs.map((run) => told.map((of) => of(run)).filter(Boolean).join(", "));
    const inTrace = runs.map((run) => told.filter((of) => of !== trace).map((of) => of(run)).filter(Boolean).join(", "));
    const devices = distinct(device), traces = distinct(trace);
    // Several devices on several traces: a device keeps its colour, a trace its shape.
    const grid = devices.length > 1 && traces.length > 1 && new Set(runs.map((run) => JSON.stringify([run.device, run.trace]))).size === runs.length;
    return runs.map((run, i) => {
        const same = words.slice(0, i).filter((one) => one === words[i]).length;
        const behind = same > 0 ? ` (${same + 1})` : "";
        const label = words[i] + behind;
        return {
            ...run, number: i, label, within: inTrace[i] + behind, key: `${i} ${label}`, series: SERIES[(grid ? devices.indexOf(run.device) : i) % SERIES.length],
            shape: SHAPES[(grid ? traces.indexOf(run.trace) : i) % SHAPES.length],
        };
    });
}

/** Shows a `key` as its label on an axis. Keys begin with a number: names alone may be words that objects know. */
export const LABEL_OF_KEY = "slice(datum.label, indexof(datum.label, ' ') + 1)";

/** What tells runs apart in a drawing; nothing of one alone. */
export const runLegend = (runs) => (runs.length < 2 ? [] : runs.map((run) => ({ text: run.label, colour: colour(run.series), shape: run.shape })));

/** Classes that own something in any of `rows`. */
export const classesIn = (rows) => CLASSES.filter(({ key }) => rows.some((row) => row.classes[key] > 0));

/** Entries of a legend for parts with a key or a title. */
export const partLegend = (parts) => parts.map((part) => ({ text: part.title ?? part.key, colour: colour(part) }));

export const dramBytes = (row) => row.bytes.dram_read + row.bytes.dram_written;

/** The share of all capacity that is not useful, largest first: [{key, share}]. */
export const losses = (row) =>
    CLASSES.slice(1)
        .map(({ key }) => ({ key, share: row.classes[key] }))
        .filter(({ share }) => share > 0)
        .sort((a, b) => b.share - a.share);
