// SPDX-License-Identifier: Apache-2.0
// One run on the page: its figure, what happens in words, counters, strip, and the history of a PE.
import { ArrayView } from "./array_view.js";
import { ArrayCounters, TileCounters } from "./counters.js";
import { html, number, percent, setText } from "./dom.js";
import { History } from "./history.js";
import { IDLE } from "./recording.js";
import { Strip } from "./strip.js";
import { WORKS } from "./tile.js";
import { TileView } from "./tile_view.js";
import { describeClock, describeDataflow, describePass, describeTileClock, equation } from "./words.js";

let panels = 0;

/** Columns of an array above which its numbers can be read only across the page. */
const BROAD = 6;
/** … and above which what is told beside it has to be narrow. */
const VAST = 10;

/** What panels of arrays and of tiles have in common. `seek(panel, t)`: somebody wants to see that position. */
class Panel {
    constructor(run, seek, parts) {
        this.run = run;
        this.t = run.start;
        const id = `panel-${++panels}`;
        this.sentence = html("p", { class: "sentence" });
        this.strip = new Strip({ end: run.end, scale: run.end, seek: (t) => seek(this, t), ...parts });
        this.scrub = html("input", {
            type: "range", min: run.start, max: run.end, value: run.start, "aria-label": `Clock of ${run.title}`,
            oninput: () => seek(this, Number(this.scrub.value)),
        });
        this.own = html("div", { class: "own" }, this.scrub);
        this.place = html("span", { class: "place" });
        this.heading = html("h2", { id }, run.title);
        this.node = html("section", { class: "panel", "aria-labelledby": id });
    }

    get end() {
        return this.run.end;
    }

    get start() {
        return this.run.start;
    }

    /** `quiet`: what happens is not read out. */
    show(t, milliseconds, quiet) {
        this.t = Math.max(this.start, Math.min(t, this.end));
        this.sentence.setAttribute("aria-live", quiet ? "off" : "polite");
        this.draw(this.t, t > this.end ? 0 : milliseconds);
        this.strip.update(this.t);
        this.scrub.value = this.t;
        this.scrub.setAttribute("aria-valuetext", `clock ${this.t} of ${this.end}`);
        const ending = this.end === this.run.cycles ? ", finished" : ", the window's end";
        const whole = this.end === this.run.cycles ? "" : ` (the run: ${number(this.run.cycles)})`;
        setText(this.place, `clock ${number(this.t)} of ${number(this.end)}${whole}${this.t === this.end ? ending : ""}`);
    }
}

export class ArrayPanel extends Panel {
    constructor(recording, seek) {
        const parts = (t) => {
            const clock = recording.clock(t);
            return ["useful", "padding", "ramp"].map((name) => ({ name, value: clock[name] }));
        };
        super(recording, seek, { label: "What the PEs do, clock by clock", whole: recording.pes, parts });
        this.chosen = null;
        this.view = new ArrayView(recording, (row, col, pinned) => this.choose(row, col, pinned));
        this.history = new History(recording);
        this.counters = new ArrayCounters(recording);
        this.stays = html("p", { class: "dataflow" });
        this.pass = html("p", { class: "dataflow" });
        this.figure = html("div", { class: "figure", onpointerleave: () => this.leave() }, this.view.node);
        this.cells = html("div", { class: "scroll" });
        this.table = html("details", { class: "as-table", ontoggle: () => this.drawTable() },
                          html("summary", {}, "The array as a table"), this.cells);
        if (recording.cols > BROAD) this.node.classList.add("broad");
        if (recording.cols > VAST) this.node.classList.add("vast");
        this.node.append(html("header", {}, this.heading, this.place), this.stays, this.pass, this.figure,
                         html("div", { class: "told" }, this.sentence, this.strip.node, this.own, this.counters.node,
                              this.account(), this.history.node, this.table));
    }

    choose(row, col, pinned) {
        const same = this.chosen && this.chosen.row === row && this.chosen.col === col;
        if (pinned && same && this.chosen.pinned) this.chosen = null;
        else if (pinned || !this.chosen?.pinned) this.chosen = { row, col, pinned };
        this.drawChosen();
    }

    leave() {
        if (this.chosen?.pinned || this.figure.contains(document.activeElement)) return;
        this.chosen = null;
        this.drawChosen();
    }

    drawChosen() {
        this.view.update(this.t, 0, this.chosen);
        this.history.update(this.t, this.chosen);
    }

    draw(t, milliseconds) {
        setText(this.stays, describeDataflow(this.run, t));
        setText(this.pass, describePass(this.run, t));
        setText(this.sentence, describeClock(this.run, t));
        this.view.update(t, milliseconds, this.chosen);
        this.counters.update(t);
        this.history.update(t, this.chosen);
        this.drawTable();
    }

    /** The same numbers without a figure; made only while somebody reads it. */
    drawTable() {
        if (!this.table.open) return;
        const { run, t } = this;
        const head = html("tr", {}, html("td"), ...Array.from({ length: run.cols }, (_, col) => html("th", { scope: "col" }, `column ${col}`)));
        const rows = Array.from({ length: run.rows }, (_, row) => html(
            "tr", {}, html("th", { scope: "row" }, `row ${row}`),
            ...Array.from({ length: run.cols }, (_, col) => html("td", {}, run.work(t, row, col) === IDLE ? "idle" : equation(run, t, row, col)))));
        this.cells.setAttribute("tabindex", 0);
        this.cells.setAttribute("role", "region");
        this.cells.setAttribute("aria-label", `${run.title}: the array as a table`);
        this.cells.replaceChildren(html("table", { class: "cells" },
                                        html("caption", {}, `What each PE computes in clock ${number(t)}: the sum before, plus a product`),
                                        html("thead", {}, head), html("tbody", {}, ...rows)));
    }

    /** The account of the run, which says by causes what the PEs show by places. */
    account() {
        const { result, units, unit } = this.run;
        const classes = Object.entries(result.classes).filter(([, share]) => share > 0);
        const run = this.run;
        const { useful } = result.classes;
        const differ = (one, other) => Math.abs(one - other) > 5e-4;
        const here = run.end === run.cycles ? run.total(run.end).useful / (run.pes * run.length) : useful;
        const notes = [];
        if (units > 1) notes.push(`These are of all ${units} matrix units; the page shows ${unit}.`);
        else if (differ(here, useful))
            notes.push(`The PEs above end at ${percent(here)}: here, products that a mask throws away later are padding.`);
        const other = differ(useful, result.utilization);
        const reported = other ? `, reported as utilization ${percent(result.utilization)}` : "";
        if (other) notes.push(`${run.device} reproduces another simulator, which divides by other clocks than the run takes.`);
        return html("details", { class: "account" }, html("summary", {}, `The run's account: useful ${percent(useful)}${reported}`),
                    html("p", {}, ["The account gives every PE-cycle to one cause. Useful and padding are the same as above; while a PE has " +
                         "no product, it asks what the next pass waited for, whatever still moves in the array.", ...notes].join(" ")),
                    html("table", { class: "counters" }, html("tbody", {}, ...classes.map(([name, share]) =>
                        html("tr", {}, html("th", { scope: "row" }, name.replace("_", " ")), html("td", {}, percent(share)))))));
    }
}

export class TilePanel extends Panel {
    constructor(tile, seek) {
        const parts = (t) => [{ name: "useful", value: tile.state(t) === WORKS ? 1 : 0 }];
        super(tile, seek, { label: "What the tensor core does, clock by clock", whole: 1, parts });
        this.view = new TileView(tile);
        this.counters = new TileCounters(tile);
        this.stays = html("p", { class: "dataflow" },
                          `One instruction, mma.sync m${tile.mma.m}n${tile.mma.n}k${tile.mma.k} in ${tile.dtype}: ` +
                          `${number(tile.mma.m * tile.mma.n * tile.mma.k)} products in ${tile.cyclesOfMma} clocks; ` +
                          `its sums can be read ${tile.latency} clocks later (${tile.device}).`);
        const fragments = tile.fragments === "registers"
            ? "All operands are in the warp's registers."
            : `Fragments come out of shared memory as it goes; every ${2 * tile.mma.k} of k it meets a barrier.`;
        this.pass = html("p", { class: "dataflow" },
                         `A tile of ${tile.m} × ${tile.n} over k = ${tile.k}: ${number(tile.instructions)} instructions. ${fragments}`);
        this.node.append(html("header", {}, this.heading, this.place), this.stays, this.pass, html("div", { class: "figure" }, this.view.node),
                         html("div", { class: "told" }, this.sentence, this.strip.node, this.own, this.counters.node));
    }

    draw(t) {
        setText(this.sentence, describeTileClock(this.run, t));
        this.view.update(t);
        this.counters.update(t);
    }
}
