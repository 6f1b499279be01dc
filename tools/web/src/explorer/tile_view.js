// SPDX-License-Identifier: Apache-2.0
// A warp's tile as a figure: results in blocks of one instruction, operands above and at the left in the same blocks,
// and the block that the tensor core works on. Where inside the tensor core a product is made is nobody's to see.
import { setClass, setText, svg } from "./dom.js";
import { WORKS } from "./tile.js";

const UNIT = 5;  // an element's side
const GAP = 26;

export class TileView {
    constructor(tile) {
        this.tile = tile;
        const { m, n, k, mma } = tile;
        const unit = Math.max(2.5, Math.min(UNIT * 2, 230 / Math.max(n + k, m + k)));
        const left = k * unit + GAP;
        const top = k * unit + GAP;
        this.width = left + Math.max(n * unit, 96) + 10;
        this.height = top + m * unit + 44;
        this.node = svg("svg", {
            viewBox: `0 0 ${this.width} ${this.height}`, class: "array tile", role: "img",
            "aria-label": `${tile.title}: ${m} × ${n} results in ${tile.instructions} instructions`,
            style: `min-width: ${Math.round(this.width * 0.62)}px; max-width: ${Math.round(this.width * 1.15)}px`,
        });
        /** Elements, so that a block is seen to hold many. */
        const lines = (x, y, columns, rows) => {
            let d = "";
            for (let row = 1; row < rows; ++row) d += `M${x},${y + row * unit} h${columns * unit} `;
            for (let column = 1; column < columns; ++column) d += `M${x + column * unit},${y} v${rows * unit} `;
            this.node.append(svg("path", { class: "elements", d }));
        };
        const blocks = (x, y, columns, rows, width, height) => {
            const all = [];
            for (let row = 0; row < rows; ++row)
                for (let column = 0; column < columns; ++column) {
                    const box = svg("rect", {
                        x: x + column * width * unit, y: y + row * height * unit, width: width * unit, height: height * unit,
                        rx: 3,
                    });
                    all.push(box);
                    this.node.append(box);
                }
            lines(x, y, columns * width, rows * height);
            return all;
        };
        this.a = blocks(0, top, k / mma.k, m / mma.m, mma.k, mma.m);
        this.b = blocks(left, 0, n / mma.n, k / mma.k, mma.n, mma.k);
        this.out = blocks(left, top, n / mma.n, m / mma.m, mma.n, mma.m);
        const label = (text, x, y) => this.node.append(svg("text", { class: "label", x, y }, text));
        label(`a: ${m} × ${k}`, 0, top - 7);
        label(`b: ${k} × ${n}`, left, top - 9);
        label(`out: ${m} × ${n}`, left, top + m * unit + 16);
        this.progress = svg("rect", { class: "progress", height: 8, rx: 3, x: left, y: top + m * unit + 26 });
        this.node.append(svg("rect", { class: "track", height: 8, rx: 3, x: left, y: top + m * unit + 26, width: 96 }),
                         this.progress);
        this.caption = svg("text", { class: "label", x: 0, y: top + m * unit + 34 });
        this.node.append(this.caption);
    }

    update(t) {
        const { tile } = this;
        const { m, n, k, mma } = tile;
        const works = tile.state(t) === WORKS;
        const at = works ? tile.instructionAt(t) : null;
        const begun = tile.begun(t);
        const columns = n / mma.n;
        const rows = m / mma.m;
        const finished = works ? begun - 1 : begun;  // instructions
        this.out.forEach((box, index) => {
            const row = Math.floor(index / columns);
            const now = works && at.m === row * mma.m && at.n === (index % columns) * mma.n;
            const done = Math.ceil(Math.max(0, finished - index) / (columns * rows));
            setClass(box, `block out${now ? " now" : ""}`);
            box.style.setProperty("--done", done / (k / mma.k));
        });
        this.a.forEach((box, index) => {
            const across = k / mma.k;
            const now = works && at.m === Math.floor(index / across) * mma.m && at.k === (index % across) * mma.k;
            setClass(box, `block a${now ? " now" : ""}`);
        });
        this.b.forEach((box, index) => {
            const now = works && at.k === Math.floor(index / columns) * mma.k && at.n === (index % columns) * mma.n;
            setClass(box, `block b${now ? " now" : ""}`);
        });
        this.progress.setAttribute("width", works ? (96 * at.clock) / tile.cyclesOfMma : 0);
        setText(this.caption, `mma ${begun} of ${tile.instructions}`);
    }
}
