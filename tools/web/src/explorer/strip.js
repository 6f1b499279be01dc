// SPDX-License-Identifier: Apache-2.0
// What the PEs did, clock by clock, as a strip: useful, padding and ramp stacked, from the run's begin to its end.
// Pointing at it sets the clock.
import { html } from "./dom.js";

const HEIGHT = 56;

export class Strip {
    /** `label`: what it shows. `parts(t)`: shares of a clock, [{name, value}], of `whole`; `seek(t)`. `scale`: clocks over the whole width. */
    constructor({ label, end, scale, whole, parts, seek }) {
        Object.assign(this, { end, scale, whole, parts, seek });
        this.canvas = html("canvas", { height: HEIGHT });
        this.head = html("div", { class: "playhead" });
        this.box = html("div", { class: "strip" }, this.canvas, this.head);
        this.node = html("div", { class: "over-time", "aria-hidden": "true" }, html("p", {}, label), this.box);
        const point = (event) => {
            const box = this.canvas.getBoundingClientRect();
            const share = (event.clientX - box.left) / Math.max(1, box.width);
            this.seek(Math.min(this.end, Math.max(0, Math.ceil(share * this.scale))));
        };
        this.box.addEventListener("pointerdown", (event) => {
            this.box.setPointerCapture(event.pointerId);
            point(event);
        });
        this.box.addEventListener("pointermove", (event) => {
            if (event.buttons & 1) point(event);
        });
        new ResizeObserver(() => this.draw()).observe(this.box);
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    }

    setScale(scale) {
        this.scale = scale;
        this.draw();
        this.update(this.t ?? 0);
    }

    update(t) {
        this.t = t;
        this.head.style.left = `${(100 * Math.min(t, this.scale)) / this.scale}%`;
    }

    draw() {
        const ratio = devicePixelRatio || 1;
        const width = this.box.clientWidth;
        if (width === 0) return;
        this.canvas.width = Math.round(width * ratio);
        this.canvas.height = Math.round(HEIGHT * ratio);
        const context = this.canvas.getContext("2d");
        context.scale(ratio, ratio);
        const style = getComputedStyle(this.node);
        const fills = Object.fromEntries(
            ["useful", "padding", "ramp"].map((name) => [name, this.fill(context, name, style)]));
        const columns = Math.min(this.scale, Math.floor(width));
        for (let column = 0; column < columns; ++column) {
            const from = Math.floor((column * this.scale) / columns);
            const to = Math.max(from + 1, Math.floor(((column + 1) * this.scale) / columns));
            if (from >= this.end) break;
            const [x, end] = [column, column + 1].map((edge) => Math.round((edge * width * ratio) / columns) / ratio);
            this.drawColumn(context, fills, x, end - x, from, Math.min(to, this.end));
        }
    }

    /** Clocks `from` to `until`, which share a column. */
    drawColumn(context, fills, x, width, from, until) {
        const sums = new Map();
        for (let t = from + 1; t <= until; ++t)
            for (const { name, value } of this.parts(t)) sums.set(name, (sums.get(name) ?? 0) + value);
        let y = HEIGHT;
        for (const [name, sum] of sums) {
            const height = (HEIGHT * sum) / (this.whole * (until - from));
            context.fillStyle = fills[name];
            context.fillRect(x, y - height, width, height);
            y -= height;
        }
    }

    /** Useful is solid, padding hatched, ramp dotted: to be told apart without colours. */
    fill(context, name, style) {
        const colour = style.getPropertyValue(`--${name}`).trim();
        if (name === "useful") return colour;
        const tile = document.createElement("canvas");
        tile.width = tile.height = 6;
        const pen = tile.getContext("2d");
        if (name !== "ramp") pen.fillStyle = style.getPropertyValue(`--${name}-tint`).trim();
        pen.fillRect(0, 0, name === "ramp" ? 0 : 6, 6);
        pen.strokeStyle = pen.fillStyle = colour;
        if (name === "ramp") {
            pen.fillRect(0, 0, 2, 2);
            pen.fillRect(3, 3, 2, 2);
        } else {
            pen.lineWidth = 1.4;
            pen.beginPath();
            pen.moveTo(-1, 7);
            pen.lineTo(7, -1);
            pen.moveTo(-1, 1);
            pen.lineTo(1, -1);
            pen.moveTo(5, 7);
            pen.lineTo(7, 5);
            pen.stroke();
        }
        return context.createPattern(tile, "repeat");
    }
}
