// SPDX-License-Identifier: Apache-2.0
// The array as a figure: PEs with what stays in them, operands that march in from the left (and, output stationary,
// from above), sums on their way down, and the accumulators below. Arrows are what moves, squares what stays.
import { number, setClass, setText, svg } from "./dom.js";
import { IDLE, PADDING } from "./recording.js";
import { describePe } from "./words.js";

const CELL = 60;
const PITCH = 78;
const QUEUE = 32;  // from one operand that waits at the left to the next
const QUEUED = 3;  // that are shown of a row
const ABOVE = 25;  // the same at the top
const QUEUED_ABOVE = 3;
const SUM_HEIGHT = 24;
const SUMS_SHOWN = 8;

const RIGHT = "M-15,-10 h22 l9,10 l-9,10 h-22 z";
const DOWN = "M-19,-10 h38 v12 l-19,9 l-19,-9 z";
const FALL = "M-13,-10 h26 v12 l-13,8 l-13,-8 z";
const DOWN_AT = 21;  // from a PE's left edge: the ways of sums and of operands that fall
const FALL_AT = 46;

/** An arrow with a number. */
class Token {
    constructor(kind, shape, x, y, dy = 4) {
        this.text = svg("text", { "text-anchor": "middle", y: dy });
        this.moved = svg("g", {}, svg("path", { d: shape }), this.text);
        this.node = svg("g", { class: `token ${kind}`, transform: `translate(${x} ${y})` }, this.moved);
        this.show(null);
    }

    /** `value` null: nothing is there. `from`: where it comes from, in units; slides in `milliseconds`. */
    show(value, from = null, milliseconds = 0) {
        this.node.style.display = value === null ? "none" : "";
        if (value === null) return;
        setText(this.text, number(value));
        this.animation?.cancel();
        if (milliseconds > 0 && from)
            this.animation = this.moved.animate(
                [{ transform: `translate(${from[0]}px, ${from[1]}px)` }, { transform: "none" }],
                { duration: milliseconds, easing: "cubic-bezier(.3, 0, .2, 1)" });
    }
}

export class ArrayView {
    /** `choose(row, col, pinned)`: a PE is pointed at or focused, or (pinned) picked to stay. */
    constructor(recording, choose) {
        this.recording = recording;
        this.choose = choose;
        this.rows = recording.accumulatorRows();
        this.left = QUEUED * QUEUE + 30;
        this.top = QUEUED_ABOVE * ABOVE + 26;
        this.width = this.left + recording.cols * PITCH + 16;
        this.sumsTop = this.top + recording.rows * PITCH + 34;
        this.height = this.sumsTop + Math.min(this.rows.length, SUMS_SHOWN) * SUM_HEIGHT + 14;
        this.node = svg("svg", {
            viewBox: `0 0 ${this.width} ${this.height}`, class: "array", role: "group",
            "aria-label": `${recording.title}: array of ${recording.rows} × ${recording.cols} PEs`,
            style: `min-width: ${Math.round(this.width * 0.6)}px; max-width: ${Math.round(this.width * 1.25)}px`,
        });
        this.drawWires();
        this.drawQueues();
        this.drawPes();
        this.drawSums();
    }

    x(col) {
        return this.left + col * PITCH;
    }

    y(row) {
        return this.top + row * PITCH;
    }

    drawWires() {
        const { rows, cols } = this.recording;
        const wires = svg("g", { class: "wires", "aria-hidden": "true" });
        for (let row = 0; row < rows; ++row)
            wires.append(svg("path", { d: `M${this.left - QUEUED * QUEUE - 12},${this.y(row) + 22} H${this.x(cols - 1)}` }));
        for (let col = 0; col < cols; ++col)
            wires.append(svg("path", { d: `M${this.x(col) + CELL / 2},${this.top - QUEUED_ABOVE * ABOVE - 8} V${this.sumsTop - 6}` }));
        this.node.append(wires);
    }

    drawQueues() {
        const { rows, cols } = this.recording;
        const queues = svg("g", { "aria-hidden": "true" });
        this.queued = [];
        for (let row = 0; row < rows; ++row)
            for (let ahead = 1; ahead <= QUEUED; ++ahead)
                this.queued.push({ row, ahead, token: new Token("moving", RIGHT, this.left - 4 - ahead * QUEUE, this.y(row) + 22) });
        this.above = [];
        for (let col = 0; col < cols; ++col)
            for (let ahead = 1; ahead <= QUEUED_ABOVE; ++ahead)
                this.above.push({ col, ahead, token: new Token("falling", FALL, this.x(col) + FALL_AT, this.top - 8 - ahead * ABOVE, 3) });
        for (const { token } of [...this.queued, ...this.above]) queues.append(token.node);
        this.node.append(queues);
    }

    drawPes() {
        const { rows, cols } = this.recording;
        this.pes = [];
        const cells = svg("g", {});
        const numbers = svg("g", { "aria-hidden": "true", class: "numbers" });
        const tokens = svg("g", { "aria-hidden": "true", class: "tokens" });
        for (let row = 0; row < rows; ++row)
            for (let col = 0; col < cols; ++col) {
                const pe = this.drawPe(row, col);
                this.pes.push(pe);
                cells.append(pe.node);
                numbers.append(pe.stays, pe.next);
                tokens.append(pe.moving.node, pe.falling.node, pe.sum.node);
            }
        this.node.append(cells, numbers, tokens);
    }

    drawPe(row, col) {
        const x = this.x(col);
        const y = this.y(row);
        // Beside the button, whose label says more than these.
        const stays = svg("text", { "text-anchor": "middle", x: x + 34, y: y + 41 });
        const next = svg("text", { "text-anchor": "end", x: x + CELL - 5, y: y + 14 });
        const cell = svg("rect", { width: CELL, height: CELL, rx: 7 });
        const work = svg("rect", { width: CELL, height: CELL, rx: 7, class: "work" });
        const node = svg("g", {
            class: "pe", transform: `translate(${x} ${y})`, role: "button", tabindex: row + col === 0 ? 0 : -1,
            "aria-label": `PE row ${row}, column ${col}`, "aria-pressed": "false",
            onpointerenter: () => this.choose(row, col, false),
            onfocus: () => this.focused(row, col),
            onclick: () => this.choose(row, col, true),
            onkeydown: (event) => this.key(event, row, col),
        }, cell, work);
        return {
            row, col, node, stays, next,
            moving: new Token("moving", RIGHT, x - 3, y + 22),
            falling: new Token("falling", FALL, x + FALL_AT, y - 2, 3),
            sum: new Token("sum", DOWN, x + DOWN_AT, y + CELL + 2),
        };
    }

    drawSums() {
        const { cols } = this.recording;
        const group = svg("g", { "aria-hidden": "true", class: "sums" });
        this.sums = [];
        for (let line = 0; line < Math.min(this.rows.length, SUMS_SHOWN); ++line) {
            const y = this.sumsTop + line * SUM_HEIGHT;
            const label = svg("text", { class: "label", "text-anchor": "end", x: this.left - 8, y: y + 16 });
            group.append(label);
            const cells = [];
            for (let col = 0; col < cols; ++col) {
                const text = svg("text", { "text-anchor": "middle", x: this.x(col) + CELL / 2, y: y + 16 });
                const box = svg("rect", { x: this.x(col), y: y + 1, width: CELL, height: SUM_HEIGHT - 3, rx: 4 });
                group.append(box, text);
                cells.push({ box, text });
            }
            this.sums.push({ label, cells });
        }
        this.node.append(group);
    }

    focused(row, col) {
        for (const pe of this.pes) pe.node.setAttribute("tabindex", pe.row === row && pe.col === col ? 0 : -1);
        this.choose(row, col, false);
    }

    /** Arrows go from PE to PE while one has the focus; they step the clock elsewhere. */
    key(event, row, col) {
        const { rows, cols } = this.recording;
        const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
        if (step) {
            const to = [row + step[0], col + step[1]];
            if (to[0] >= 0 && to[0] < rows && to[1] >= 0 && to[1] < cols) this.pes[to[0] * cols + to[1]].node.focus();
        } else if (event.key === "Enter") {
            this.choose(row, col, true);
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    }

    /** Shows position t. `milliseconds`: how long what moves takes to its place; 0: it is there. */
    update(t, milliseconds, chosen) {
        const frame = this.recording.frameAt(t);
        const dataflow = this.recording.dataflow(t);
        this.updateQueues(t, dataflow, milliseconds);
        const ramp = this.recording.clock(t).ramp > 0;
        for (const pe of this.pes) this.updatePe(pe, t, frame, dataflow, ramp, milliseconds, chosen);
        this.updateSums(t);
    }

    updateQueues(t, dataflow, milliseconds) {
        const { recording } = this;
        for (const { row, ahead, token } of this.queued) {
            const at = t + ahead;
            const comes = at <= recording.end && recording.work(at, row, 0) !== IDLE;
            token.show(comes ? recording.register("moving", recording.frameAt(at), row, 0) : null, [-QUEUE, 0], milliseconds);
        }
        for (const { col, ahead, token } of this.above) {
            const at = t + ahead;
            const inside = at <= recording.end;
            const comes = inside && (dataflow === "os" ? recording.work(at, 0, col) !== IDLE : recording.shifting(at, col));
            token.show(comes ? this.fromAbove(at, col, dataflow) : null, [0, -ABOVE], milliseconds);
        }
    }

    /** What has come into column `col` from above in the t-th clock. */
    fromAbove(t, col, dataflow) {
        const name = dataflow !== "os" && this.recording.registers.shadow ? "shadow" : "stationary";
        return this.recording.register(name, this.recording.frameAt(t), 0, col);
    }

    updatePe(pe, t, frame, dataflow, ramp, milliseconds, chosen) {
        const { recording } = this;
        const { row, col } = pe;
        const read = (name) => recording.register(name, frame, row, col);
        const work = recording.work(t, row, col);
        const state = work === IDLE ? (ramp ? "ramp" : "waiting") : work === PADDING ? "padding" : "useful";
        const picked = chosen && chosen.row === row && chosen.col === col;
        setClass(pe.node, `pe ${state}${picked ? " chosen" : ""}`);
        pe.node.setAttribute("aria-pressed", picked && chosen.pinned ? "true" : "false");
        if (pe.node === document.activeElement || !milliseconds)
            pe.node.setAttribute("aria-label", describePe(recording, t, row, col));
        const stays = dataflow === "os";
        setClass(pe.stays, `stays ${state}`);
        setText(pe.stays, number(read(stays ? "sum" : "stationary")));
        const shifts = recording.shifting(t, col);
        setText(pe.next, !stays && recording.registers.shadow ? number(read("shadow")) : "");
        setClass(pe.next, shifts ? "next arrives" : "next");
        pe.moving.show(work === IDLE ? null : read("moving"), [-(col === 0 ? QUEUE : PITCH), 0], milliseconds);
        pe.falling.show(stays && work !== IDLE ? read("stationary") : null, [0, -(row === 0 ? ABOVE : PITCH)], milliseconds);
        const down = stays ? this.output(t, row, col) : work === IDLE ? null : read("sum");
        pe.sum.show(down, [0, row === 0 && !stays ? -16 : -PITCH], milliseconds);
    }

    /** Output stationary: the finished output on its way down below a PE, if one is there. */
    output(t, row, col) {
        const { recording } = this;
        if (row === recording.rows - 1) return recording.leaving(t, col);
        const step = recording.shiftStep(t, col);
        return step !== null && row > step ? recording.register("result", recording.frameAt(t), row, col) : null;
    }

    updateSums(t) {
        const { cols } = this.recording;
        const held = this.recording.accumulatorsAt(t);
        const written = [...held.values()].filter((sum) => sum.now);
        const last = written.length > 0 ? written.at(-1).row : [...held.values()].at(-1)?.row;
        const page = Math.max(0, Math.floor(this.rows.indexOf(last) / SUMS_SHOWN));
        this.sums.forEach(({ label, cells }, line) => {
            const row = this.rows[page * SUMS_SHOWN + line];
            setText(label, row === undefined ? "" : `acc ${row}`);
            cells.forEach(({ box, text }, col) => {
                const sum = held.get(row * cols + col);
                setText(text, sum ? number(sum.value) : "");
                setClass(box, row === undefined ? "none" : sum?.now ? "written" : "");
            });
        });
    }
}
