// SPDX-License-Identifier: Apache-2.0
// PE-cycles so far, by what they went to, up to the run's utilization; for a warp's tile, the tensor core's cycles.
import { html, number, percent, setText } from "./dom.js";
import { WORKS } from "./tile.js";
import { plural } from "./words.js";

const MEANINGS = {
    useful: "products of real operands",
    padding: "products beyond the tile's edge",
    ramp: "no product here while the array fills, drains or shifts",
    waiting: "nothing moves in the array",
};

/** A bar of shares and a table of the same. `rows`: [[name, meaning]]. */
class Shares {
    constructor(caption, unit, rows) {
        this.rows = rows.map(([name, meaning]) => {
            const now = html("td");
            const sum = html("td");
            const share = html("td");
            const bar = html("span", { class: `part ${name}` });
            const row = html("tr", {}, html("th", { scope: "row", title: meaning },
                                            html("span", { class: `swatch ${name}`, "aria-hidden": "true" }), name),
                             now, sum, share);
            return { name, now, sum, share, bar, row };
        });
        this.bar = html("div", { class: "bar", "aria-hidden": "true" }, ...this.rows.map((row) => row.bar));
        this.table = html("table", { class: "counters" },
                          html("caption", { class: "hidden" }, caption),
                          html("thead", {}, html("tr", {}, html("th", { scope: "col" }, unit),
                                                 ...["this clock", "so far", "share"].map((text) => html("th", { scope: "col" }, text)))),
                          html("tbody", {}, ...this.rows.map((row) => row.row)));
    }

    update(now, sums) {
        const whole = this.rows.reduce((sum, { name }) => sum + sums[name], 0);
        for (const row of this.rows) {
            setText(row.now, number(now[row.name]));
            setText(row.sum, number(sums[row.name]));
            const share = whole > 0 ? sums[row.name] / whole : 0;
            setText(row.share, whole > 0 ? percent(share) : "–");
            row.bar.style.flexGrow = sums[row.name];
        }
    }
}

/** A run may be over before its last clock is. */
const within = (clocks) => (Number.isInteger(clocks) ? "" : ". The run ends within its last clock");

export class ArrayCounters {
    constructor(recording) {
        this.recording = recording;
        this.shares = new Shares(`PE-cycles of ${recording.title}`, "PE-cycles", Object.entries(MEANINGS));
        this.sentence = html("p", { class: "utilization" });
        this.node = html("div", { class: "counts" }, this.shares.bar, this.shares.table, this.sentence);
    }

    update(t) {
        const { recording } = this;
        const sums = recording.total(t);
        this.shares.update(recording.clock(t), sums);
        const clocks = recording.elapsed(t);
        const of = t < recording.cycles ? "so far" : recording.units > 1 ? `of ${recording.unit}` : "of the run";
        setText(this.sentence, t === 0 ? "Utilization: nothing has run yet." :
            `Utilization ${of}: ${number(sums.useful)} useful of ${plural(recording.pes, "PE")} × ${plural(clocks, "clock")} = ` +
            percent(sums.useful / (recording.pes * clocks)) + within(clocks));
    }
}

export class TileCounters {
    constructor(tile) {
        this.tile = tile;
        this.shares = new Shares(`Cycles of ${tile.title}`, "cycles of the tensor core",
                                 [["useful", "the tensor core multiplies"], ["waiting", "it waits"]]);
        this.sentence = html("p", { class: "utilization" });
        this.node = html("div", { class: "counts" }, this.shares.bar, this.shares.table, this.sentence);
    }

    update(t) {
        const { tile } = this;
        const busy = tile.busy(t);
        const works = tile.state(t) === WORKS;
        this.shares.update({ useful: works ? 1 : 0, waiting: t > 0 && !works ? 1 : 0 }, { useful: busy, waiting: t - busy });
        setText(this.sentence, t === 0 ? "Utilization: nothing has run yet." :
            `Utilization ${t < tile.cycles ? "so far" : "of the tile"}: ${number(busy)} of ${plural(t, "clock")} = ` +
            `${percent(busy / t)}; ${number(busy * tile.macsPerCycle)} products`);
    }
}
