// SPDX-License-Identifier: Apache-2.0
// The timeline: a row for each lane of each track, and curves of counters below. Drawn on a canvas, as twenty thousand
// bars are too many for elements; zoomed by wheel, buttons and keys.
import { h } from "../shared/dom.js";
import { number, seconds } from "../shared/format.js";
import { CLASSES, colour, isDark, onScheme, SERIES } from "../shared/palette.js";
import { dataTable } from "./table.js";
import { showTip } from "./chart.js";

const LANE = 15, GAP = 7, CURVE = 40, AXIS = 22, NAMES = 150;  // pixels
const MOST_LANES = 8;  // of one track; what does not fit is drawn over the last

/** Spans by track and lane, each sorted by time: spans that overlap get lanes of their own, first fit. */
function laid(timeline) {
    const { track, begin, duration } = timeline.spans;
    const order = Array.from(begin, (_, i) => i).sort((a, b) => begin[a] - begin[b] || duration[b] - duration[a]);
    const tracks = timeline.tracks.map((name) => ({ name, lanes: [] }));
    for (const i of order) {
        const { lanes } = tracks[track[i]];
        let lane = lanes.find((one) => one.until <= begin[i]);
        if (!lane && lanes.length < MOST_LANES) lanes.push((lane = { until: 0, spans: [] }));
        lane ??= lanes.at(-1);
        lane.spans.push(i);
        lane.until = Math.max(lane.until, begin[i] + duration[i]);
    }
    return tracks.filter(({ lanes }) => lanes.length > 0);
}

/** The first of `spans` that may end after `time`. */
function firstAt(spans, timeline, time) {
    let low = 0, high = spans.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        const i = spans[middle];
        if (timeline.spans.begin[i] + timeline.spans.duration[i] < time) low = middle + 1;
        else high = middle;
    }
    return low;
}

class Drawing {
    constructor(run, canvas) {
        this.run = run;
        this.timeline = run.timeline;
        this.canvas = canvas;
        this.tracks = laid(run.timeline);
        this.from = 0;
        this.until = Math.max(1, run.timeline.end_ps);
        this.rows = this.#rows();
        this.height = AXIS + this.rows.reduce((sum, row) => Math.max(sum, row.top + row.tall), 0) + 4;
    }

    #rows() {
        const rows = [];
        let top = 0;
        for (const { name, lanes } of this.tracks) {
            lanes.forEach((lane, i) => {
                rows.push({ name: i === 0 ? name : "", spans: lane.spans, top, tall: LANE });
                top += LANE + 1;
            });
            top += GAP;
        }
        for (const counter of this.timeline.counters) {
            rows.push({ name: `${counter.track} ${counter.name}`, counter, top, tall: CURVE });
            top += CURVE + GAP;
        }
        return rows;
    }

    x(time) { return NAMES + ((time - this.from) / (this.until - this.from)) * (this.width - NAMES); }
    time(x) { return this.from + ((x - NAMES) / (this.width - NAMES)) * (this.until - this.from); }

    fill(i) {
        const owner = this.timeline.spans.owner[i];
        if (owner >= 0) return colour(CLASSES[owner]);
        const layer = this.timeline.spans.layer[i];
        return layer < 0 ? (isDark() ? "#777" : "#999") : colour(SERIES[layer % 6]);
    }

    draw() {
        const { canvas } = this;
        canvas.dataset.from = Math.round(this.from);
        canvas.dataset.until = Math.round(this.until);
        const scale = window.devicePixelRatio || 1;
        this.width = canvas.clientWidth || 900;
        canvas.style.height = `${this.height}px`;
        canvas.width = Math.round(this.width * scale);
        canvas.height = Math.round(this.height * scale);
        const at = canvas.getContext("2d");
        at.setTransform(scale, 0, 0, scale, 0, 0);
        at.clearRect(0, 0, this.width, this.height);
        at.font = "11px system-ui, sans-serif";
        at.textBaseline = "middle";
        this.#axis(at);
        for (const row of this.rows) row.counter ? this.#curve(at, row) : this.#bars(at, row);
        for (const row of this.rows) this.#name(at, row);
    }

    get ink() { return isDark() ? "#ececea" : "#1d1d1b"; }
    get faint() { return isDark() ? "#3a3a38" : "#dededa"; }

    #axis(at) {
        const span = this.until - this.from;
        const rough = span / Math.max(2, (this.width - NAMES) / 110);
        const power = 10 ** Math.floor(Math.log10(rough));
        const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
        at.textAlign = "center";
        for (let time = Math.ceil(this.from / step) * step; time <= this.until; time += step) {
            const x = this.x(time);
            at.fillStyle = this.faint;
            at.fillRect(x, AXIS - 4, 1, this.height);
            at.fillStyle = this.ink;
            at.fillText(seconds(time / 1000), Math.min(x, this.width - 26), AXIS / 2 - 2);
        }
    }

    #name(at, row) {
        if (!row.name) return;
        at.save();
        at.beginPath();
        at.rect(0, AXIS, NAMES - 6, this.height);
        at.clip();
        at.textAlign = "left";
        at.fillStyle = this.ink;
        const prefix = `${this.run.timeline_of ?? this.run.device}.`;
        at.fillText(row.name.startsWith(prefix) ? row.name.slice(prefix.length) : row.name, 0, AXIS + row.top + Math.min(row.tall, LANE) / 2);
        at.restore();
    }

    #bars(at, { spans, top }) {
        const { begin, duration, name } = this.timeline.spans;
        at.textAlign = "left";
        for (let k = firstAt(spans, this.timeline, this.from); k < spans.length; ++k) {
            const i = spans[k];
            if (begin[i] > this.until) break;
            const left = Math.max(NAMES, this.x(begin[i]));
            const wide = Math.max(0.6, this.x(begin[i] + duration[i]) - left);
            at.fillStyle = this.fill(i);
            at.fillRect(left, AXIS + top, wide > 3 ? wide - 0.5 : wide, LANE);
            if (wide > 46) this.#words(at, this.timeline.names[name[i]], left, top, wide, at.fillStyle);
        }
    }

    #words(at, text, left, top, wide, behind) {
        at.save();
        at.beginPath();
        at.rect(left, AXIS + top, wide - 3, LANE);
        at.clip();
        at.fillStyle = bright(behind) ? "#111" : "#fff";
        at.fillText(text, left + 4, AXIS + top + LANE / 2 + 0.5);
        at.restore();
    }

    #curve(at, { counter, top, tall }) {
        const most = counter.values.reduce((sum, value) => Math.max(sum, value), 0) || 1;
        const base = AXIS + top + tall;
        at.beginPath();
        at.moveTo(NAMES, base);
        let last = base;
        const y = (value) => base - (tall * value) / most;
        counter.times.forEach((time, k) => {
            const next = counter.times[k + 1] ?? this.timeline.end_ps;
            if (next < this.from || time > this.until) return;
            const x = Math.max(NAMES, this.x(time));
            at.lineTo(x, last);
            at.lineTo(x, (last = y(counter.values[k])));
        });
        at.lineTo(this.x(Math.min(this.until, this.timeline.end_ps)), last);
        at.lineTo(this.x(Math.min(this.until, this.timeline.end_ps)), base);
        at.closePath();
        at.fillStyle = colour(SERIES[7]);
        at.fill();
        at.fillStyle = this.ink;
        at.textAlign = "right";
        at.fillText(`${number(most)} ${counter.unit}`, this.width - 4, AXIS + top + 6);
    }

    /** The span at a place of the canvas, or -1. */
    spanAt(x, y) {
        if (x < NAMES) return -1;
        const row = this.rows.find(({ spans, top, tall }) => spans && y >= AXIS + top && y <= AXIS + top + tall);
        if (!row) return -1;
        const slack = ((this.until - this.from) / (this.width - NAMES)) * 1.5;
        const time = this.time(x);
        const { begin, duration } = this.timeline.spans;
        for (let k = firstAt(row.spans, this.timeline, time - slack); k < row.spans.length; ++k) {
            const i = row.spans[k];
            if (begin[i] > time + slack) return -1;
            if (begin[i] + duration[i] >= time - slack) return i;
        }
        return -1;
    }

    /** Shows `factor` of what is shown now, around the share `around` of it. */
    zoom(factor, around = 0.5) {
        const end = Math.max(1, this.timeline.end_ps);
        const span = Math.min(end, Math.max(10, (this.until - this.from) * factor));
        const middle = this.from + (this.until - this.from) * around;
        this.from = Math.min(Math.max(0, middle - span * around), end - span);
        this.until = this.from + span;
        this.draw();
    }

    pan(share) {
        const span = this.until - this.from;
        this.from = Math.min(Math.max(0, this.from + share * span), Math.max(1, this.timeline.end_ps) - span);
        this.until = this.from + span;
        this.draw();
    }
}

function bright(hex) {
    const value = Number.parseInt(hex.slice(1), 16);
    return ((value >> 16) * 299 + ((value >> 8) & 255) * 587 + (value & 255) * 114) / 1000 > 140;
}

function describe(run, i) {
    const { names, tracks, spans } = run.timeline;
    const told = { span: names[spans.name[i]], track: tracks[spans.track[i]], from: seconds(spans.begin[i] / 1000), time: seconds(spans.duration[i] / 1000) };
    if (spans.layer[i] >= 0) told.layer = run.layers[spans.layer[i]]?.name ?? String(spans.layer[i]);
    if (spans.owner[i] >= 0) told.class = `${CLASSES[spans.owner[i]].key}: ${CLASSES[spans.owner[i]].what}`;
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
        const x = event.offsetX - NAMES;
        drawing.zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.min(1, Math.max(0, x / (drawing.width - NAMES))));
    }, { passive: false });
    let held = null;
    canvas.addEventListener("pointerdown", (event) => { held = event.clientX; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointerup", () => { held = null; });
    canvas.addEventListener("pointermove", (event) => {
        if (held !== null) {
            drawing.pan((held - event.clientX) / (drawing.width - NAMES));
            held = event.clientX;
            return;
        }
        const i = drawing.spanAt(event.offsetX, event.offsetY);
        showTip(null, event, null, i < 0 ? null : describe(drawing.run, i));
    });
    canvas.addEventListener("pointerleave", (event) => showTip(null, event, null, null));
}

export function timeline(run) {
    if (!run.timeline?.spans?.begin.length) return null;
    const canvas = h("canvas", {
        tabindex: "0", role: "application", "aria-roledescription": "timeline",
        "aria-label": `Timeline of ${run.label}: ${number(run.timeline.spans.begin.length)} spans on ${run.timeline.tracks.length} tracks. Arrow keys move, plus and minus zoom, Home shows all. The table below has the same spans.`,
    });
    let drawing = null;
    const button = (words, what) => h("button", { type: "button", onclick: () => what(drawing) }, words);
    const { merged } = run.timeline;
    const figure = h(
        "figure", { class: "chart" },
        h("figcaption", {}, h("h3", {}, `Timeline, ${run.label}`),
            h("p", {}, "What each unit did when. Click into it, then the wheel zooms; drag to move; or use arrow keys, + and −."),
            (run.timeline.notes ?? []).map((note) => h("p", {}, note)),
            merged ? h("p", {}, `${number(merged.from)} spans were merged into ${number(merged.to)}: short neighbours became one.`) : null),
        h("div", { class: "controls" }, button("Zoom in", (one) => one.zoom(0.5)), button("Zoom out", (one) => one.zoom(2)),
            button("Earlier", (one) => one.pan(-0.4)), button("Later", (one) => one.pan(0.4)), button("All", (one) => one.zoom(Infinity))),
        h("ul", { class: "legend" }, CLASSES.filter((_, k) => run.timeline.spans.owner.includes(k)).map((entry) =>
            h("li", {}, h("span", { class: "swatch", style: `background: ${colour(entry)}` }), entry.key))),
        canvas,
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
        figure.dataset.drawn = "yes";
    };
    onScheme(draw);
    window.addEventListener("resize", draw);
    return { figure, draw };
}
