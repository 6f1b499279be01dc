// SPDX-License-Identifier: Apache-2.0
// The timeline: what each unit did when, zoomed by wheel, buttons and keys.
import { h } from "../shared/dom.js";
import { listed, number, percent, seconds } from "../shared/format.js";
import { CLASSES, colour, onScheme } from "../shared/palette.js";
import { showTip } from "./chart.js";
import { items } from "./legend.js";
import { partLegend } from "./runs.js";
import { dataTable } from "./table.js";
import { Drawing, LAYER_COLOURS } from "./timeline_drawing.js";

function describe(run, mixed, i) {
    const { names, tracks, spans } = run.timeline;
    const told = { span: names[spans.name[i]], track: tracks[spans.track[i]], from: seconds(spans.begin[i] / 1000), time: seconds(spans.duration[i] / 1000) };
    if (spans.layer[i] >= 0) told.layer = run.layers[spans.layer[i]]?.name ?? String(spans.layer[i]);
    if (spans.owner[i] >= 0) told.class = `${CLASSES[spans.owner[i]].key}: ${CLASSES[spans.owner[i]].what}`;
    const shares = mixed.get(i);
    if (shares) told.slots = [...shares].sort((a, b) => b[1] - a[1]).map(([owner, share]) => `${CLASSES[owner].key} ${percent(share)}`).join(", ");
    return told;
}

function listen(drawing, canvas) {
    const keys = {
        ArrowLeft: () => drawing.pan(-0.2), ArrowRight: () => drawing.pan(0.2), Home: () => drawing.zoom(Infinity),
        "+": () => drawing.zoom(0.5), "=": () => drawing.zoom(0.5), "-": () => drawing.zoom(2),
    };
    canvas.addEventListener("keydown", (event) => {
        if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        keys[event.key]();
    });
    canvas.addEventListener("wheel", (event) => {
        // A wheel over the page scrolls it; over a timeline that has the focus, or with Ctrl, it zooms.
        if (document.activeElement !== canvas && !event.ctrlKey) return;
        event.preventDefault();
        const x = event.offsetX - drawing.names;
        drawing.zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.min(1, Math.max(0, x / (drawing.width - drawing.names))));
    }, { passive: false });
    let held = null;
    canvas.addEventListener("pointerdown", (event) => { held = event.clientX; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointerup", () => { held = null; });
    canvas.addEventListener("pointermove", (event) => {
        if (held !== null) {
            drawing.pan((held - event.clientX) / (drawing.width - drawing.names));
            held = event.clientX;
            return;
        }
        const i = drawing.spanAt(event.offsetX, event.offsetY);
        showTip(null, event, null, i < 0 ? null : describe(drawing.run, drawing.mixed, i));
    });
    canvas.addEventListener("pointerleave", (event) => showTip(null, event, null, null));
}

/** Classes of bars and of their stripes, and what stands for bars of units that have none. */
function legend({ spans, mixed }) {
    const used = new Set([...spans.owner, ...(mixed ?? []).flatMap(([, shares]) => shares.map(([owner]) => owner))]);
    const entries = partLegend(CLASSES.filter((_, k) => used.has(k)));
    if (used.has(-1)) entries.push({ text: "without a class (shades tell layers apart)", colour: colour(LAYER_COLOURS[0]) });
    return entries;
}

/** Why runs have no timeline, and how to get one: a sentence each, or nothing. */
export function missingTimelines(runs, ownCommand) {
    const without = runs.filter((run) => !run.timeline);
    const reused = without.filter((run) => run.layers.some((layer) => layer.reused));
    const others = without.filter((run) => !reused.includes(run));
    const names = (some) => listed(some.map((run) => run.label));
    return [
        reused.length
            ? `${names(reused)}: repeated blocks were simulated once and reused, so that there is no whole timeline. With --timeline FILE or --set run.reuse=off beside --report everything is simulated and shown.`
            : "",
        others.length ? `${names(others)}: ${ownCommand ? "the device told no timeline." : "result files hold no timeline. 'systole run' and 'systole compare' with --report draw it."}` : "",
    ].filter(Boolean).map((text) => h("p", { class: "note" }, text));
}

export function timeline(run) {
    if (!run.timeline?.spans?.begin.length) return null;
    const canvas = h("canvas", {
        tabindex: "0", role: "application", "aria-roledescription": "timeline",
        "aria-label": `Timeline of ${run.label}: ${number(run.timeline.spans.begin.length)} spans on ${run.timeline.tracks.length} tracks. Arrow keys move, plus and minus zoom, Home shows all. The table below has the same spans.`,
    });
    const key = h("ul", { class: "legend" });
    const covered = h("p", { class: "note" });
    let drawing = null;
    const button = (words, what) => h("button", { type: "button", onclick: () => what(drawing) }, words);
    const { merged } = run.timeline;
    const figure = h(
        "figure", { class: "chart" },
        h("figcaption", {}, h("h3", {}, `Timeline, ${run.label}`),
            h("p", {}, "What each unit did when. Bars of matrix units have a stripe for each class of their slots, as high as its share. Click into it, then the wheel zooms; drag to move; or use arrow keys, + and −."),
            (run.timeline.notes ?? []).map((note) => h("p", {}, note)),
            merged ? h("p", {}, `${number(merged.from)} spans were merged into ${number(merged.to)}: short neighbours became one.`) : null),
        h("div", { class: "controls" }, button("Zoom in", (one) => one.zoom(0.5)), button("Zoom out", (one) => one.zoom(2)),
            button("Earlier", (one) => one.pan(-0.4)), button("Later", (one) => one.pan(0.4)), button("All", (one) => one.zoom(Infinity))),
        key, covered, canvas,
        dataTable(`Timeline, ${run.label}`, () => ({
            columns: [{ title: "span" }, { title: "track" }, { title: "layer" }, { title: "begin", text: (value) => seconds(value / 1000), number: true },
                { title: "time", text: (value) => seconds(value / 1000), number: true }, { title: "class" }],
            rows: Array.from(run.timeline.spans.begin, (_, i) => {
                const { names, tracks, spans } = run.timeline;
                return [names[spans.name[i]], tracks[spans.track[i]], run.layers[spans.layer[i]]?.name ?? "", spans.begin[i], spans.duration[i], CLASSES[spans.owner[i]]?.key ?? ""];
            }),
        })),
    );
    const draw = () => {
        if (!drawing) listen((drawing = new Drawing(run, canvas)), canvas);
        drawing.draw();
        key.replaceChildren(...items(legend(run.timeline)));
        covered.textContent = drawing.covered > 0 ? `${number(drawing.covered)} spans lie over others: their tracks have more at once than can be drawn.` : "";
        figure.dataset.drawn = "yes";
    };
    onScheme(draw);
    window.addEventListener("resize", draw);
    return { figure, draw };
}
