// SPDX-License-Identifier: Apache-2.0
// A timeline on a canvas, as twenty thousand bars are too many for elements: a row for each lane of each track, and curves
// of counters below.
import { inUnit, seconds, short } from "../shared/format.js";
import { CLASSES, colour, isDark, isPrinting } from "../shared/palette.js";

const LANE = 15, LOW_LANE = 6, GAP = 7, CURVE = 40, AXIS = 22;  // pixels
const LEAST_NAMES = 90, MOST_NAMES = 300;  // the column of names
const FEW_LANES = 8;     // of one track; more are drawn low
const MOST_LANES = 200;  // what does not fit is drawn over the last, and said
const PAGE = 0.85;  // width over height of what a page of A4 has room for
const FONT = "11px system-ui, sans-serif";

/** Spans by track and lane, each sorted by time: spans that overlap get lanes of their own, first fit. */
function laid(timeline) {
    const { track, begin, duration } = timeline.spans;
    const order = Array.from(begin, (_, i) => i).sort((a, b) => begin[a] - begin[b] || duration[b] - duration[a]);
    const tracks = timeline.tracks.map((name) => ({ name, lanes: [], covered: 0 }));
    for (const i of order) {
        const own = tracks[track[i]], { lanes } = own;
        let lane = lanes.find((one) => one.until <= begin[i]);
        if (!lane && lanes.length < MOST_LANES) lanes.push((lane = { until: 0, spans: [] }));
        if (!lane) own.covered += 1;
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

const CURVE_COLOUR = { light: "#8a8aa8", dark: "#8f8fb4" };
/** Colours of bars without a class: shades of grey, another for each layer, as hues mean classes. */
export const LAYER_COLOURS = [{ light: "#9a9a97", dark: "#8b8b88" }, { light: "#c4c4c1", dark: "#5f5f5d" }, { light: "#7c7c79", dark: "#a9a9a6" }];

export class Drawing {
    constructor(run, canvas) {
        this.run = run;
        this.mixed = new Map(run.timeline.mixed ?? []);
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
            const tall = lanes.length > FEW_LANES ? LOW_LANE : LANE;
            lanes.forEach((lane, i) => {
                rows.push({ words: i === 0 ? [this.#own(name)] : [], spans: lane.spans, top, tall });
                top += tall + 1;
            });
            top += GAP;
        }
        for (const counter of this.timeline.counters) {
            const most = counter.values.reduce((sum, value) => Math.max(sum, value), 0);
            rows.push({ words: [this.#own(counter.track), counter.name, most > 0 ? `most ${inUnit(most, counter.unit)}` : "always 0"], counter, most, top, tall: CURVE });
            top += CURVE + GAP;
        }
        return rows;
    }

    /** A track's name without the device's, which all have. */
    #own(name) {
        const prefix = `${this.run.timeline_of ?? this.run.device}.`;
        return name.startsWith(prefix) ? name.slice(prefix.length) : name;
    }

    /** Spans that lie over others, as their track has too many lanes. */
    get covered() { return this.tracks.reduce((sum, { covered }) => sum + covered, 0); }

    x(time) { return this.names + ((time - this.from) / (this.until - this.from)) * (this.width - this.names); }
    time(x) { return this.from + ((x - this.names) / (this.width - this.names)) * (this.until - this.from); }

    fill(i) {
        const owner = this.timeline.spans.owner[i];
        if (owner >= 0) return colour(CLASSES[owner]);
        return colour(LAYER_COLOURS[(this.timeline.spans.layer[i] + LAYER_COLOURS.length) % LAYER_COLOURS.length]);
    }

    draw() {
        const { canvas } = this;
        canvas.dataset.from = Math.round(this.from);
        canvas.dataset.until = Math.round(this.until);
        const scale = window.devicePixelRatio || 1;
        // On paper, as wide as makes it fill a page with its height.
        this.width = isPrinting() ? Math.max(700, this.height * PAGE) : canvas.clientWidth || 900;
        canvas.style.height = `${this.height}px`;
        canvas.width = Math.round(this.width * scale);
        canvas.height = Math.round(this.height * scale);
        const at = canvas.getContext("2d");
        at.setTransform(scale, 0, 0, scale, 0, 0);
        at.clearRect(0, 0, this.width, this.height);
        at.font = FONT;
        at.textBaseline = "middle";
        const longest = Math.max(0, ...this.rows.flatMap(({ words }) => words).map((word) => at.measureText(word).width));
        this.names = Math.min(Math.max(LEAST_NAMES, longest + 10), MOST_NAMES, this.width * 0.35);
        this.#axis(at);
        for (const row of this.rows) row.counter ? this.#curve(at, row) : this.#bars(at, row);
        for (const row of this.rows) this.#name(at, row);
    }

    get ink() { return isDark() ? "#ececea" : "#1d1d1b"; }
    get quiet() { return isDark() ? "#b4b4b0" : "#5a5a57"; }
    get faint() { return isDark() ? "#3a3a38" : "#dededa"; }

    #axis(at) {
        const span = this.until - this.from;
        const rough = span / Math.max(2, (this.width - this.names) / 110);
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
        at.textAlign = "left";
        row.words.forEach((word, i) => {
            at.fillStyle = i === 2 ? this.quiet : this.ink;
            at.fillText(fitted(at, word, this.names - 8), 0, AXIS + row.top + Math.max(Math.min(row.tall, LANE) / 2, 4) + 13 * i);
        });
    }

    #bars(at, { spans, top, tall }) {
        const { begin, duration, name } = this.timeline.spans;
        at.textAlign = "left";
        for (let k = firstAt(spans, this.timeline, this.from); k < spans.length; ++k) {
            const i = spans[k];
            if (begin[i] > this.until) break;
            const left = Math.max(this.names, this.x(begin[i]));
            const wide = Math.max(0.6, this.x(begin[i] + duration[i]) - left);
            this.#bar(at, i, left, AXIS + top, wide > 3 ? wide - 0.5 : wide, tall);
            if (wide > 46 && tall === LANE) this.#words(at, this.timeline.names[name[i]], left, top, wide, this.fill(i));
        }
    }

    /** A bar in its colour; one whose slots are of several classes has a stripe of each, as high as its share. */
    #bar(at, i, x, y, wide, tall) {
        at.fillStyle = this.fill(i);
        at.fillRect(x, y, wide, tall);
        let low = y + tall;
        for (const [owner, share] of this.mixed.get(i) ?? []) {
            at.fillStyle = colour(CLASSES[owner]);
            at.fillRect(x, low - share * tall, wide, share * tall);
            low -= share * tall;
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

    #curve(at, { counter, most, top, tall }) {
        const base = AXIS + top + tall;
        at.fillStyle = this.faint;
        at.fillRect(this.names, base, this.width - this.names, 1);
        if (most === 0) return;
        at.beginPath();
        at.moveTo(this.names, base);
        let last = base;
        const y = (value) => base - (tall * value) / most;
        counter.times.forEach((time, k) => {
            const next = counter.times[k + 1] ?? this.timeline.end_ps;
            if (next < this.from || time > this.until) return;
            const x = Math.max(this.names, this.x(time));
            at.lineTo(x, last);
            at.lineTo(x, (last = y(counter.values[k])));
        });
        at.lineTo(this.x(Math.min(this.until, this.timeline.end_ps)), last);
        at.lineTo(this.x(Math.min(this.until, this.timeline.end_ps)), base);
        at.closePath();
        at.fillStyle = colour(CURVE_COLOUR);
        at.fill();
    }

    /** The span at a place of the canvas, or -1. */
    spanAt(x, y) {
        if (x < this.names) return -1;
        const row = this.rows.find(({ spans, top, tall }) => spans && y >= AXIS + top && y <= AXIS + top + tall);
        if (!row) return -1;
        const slack = ((this.until - this.from) / (this.width - this.names)) * 1.5;
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

/** `text`, or as much of its begin and end as fits. */
function fitted(at, text, most) {
    if (at.measureText(text).width <= most) return text;
    let length = text.length - 1;
    while (length > 4 && at.measureText(short(text, length)).width > most) length -= 1;
    return short(text, length);
}

function bright(hex) {
    const value = Number.parseInt(hex.slice(1), 16);
    return ((value >> 16) * 299 + ((value >> 8) & 255) * 587 + (value & 255) * 114) / 1000 > 140;
}
