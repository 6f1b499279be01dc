// SPDX-License-Identifier: Apache-2.0
// One PE, value by value over the clocks so far.
import { html, number, setText } from "./dom.js";
import { IDLE, PADDING } from "./recording.js";
import { describePe } from "./words.js";

const LINES = 12;

export class History {
    constructor(recording) {
        this.recording = recording;
        this.title = html("p", { class: "pe-now" });
        this.body = html("tbody");
        this.columns = html("tr");
        this.table = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${recording.title}: history of a PE` },
                          html("table", { class: "history" }, html("thead", {}, this.columns), this.body));
        this.node = html("div", { class: "inspector" }, this.title, this.table);
    }

    update(t, chosen) {
        if (!chosen) {
            setText(this.title, "Point at a PE, or go to it with the keyboard, to see what it has held.");
            this.table.hidden = true;
            return;
        }
        const { row, col } = chosen;
        const { recording } = this;
        const dataflow = recording.dataflow(t);
        setText(this.title, describePe(recording, t, row, col));
        this.table.hidden = false;
        const heads = {
            ws: ["clock", "from the left", "weight", "sum"],
            is: ["clock", "from the left", "input", "sum"],
            os: ["clock", "from the left", "from above", "sum"],
        }[dataflow];
        this.columns.replaceChildren(...heads.map((text) => html("th", { scope: "col" }, text)));
        this.body.replaceChildren(...this.lines(t, row, col));
    }

    /** The last clocks in which the PE multiplied or got another value to keep, newest first. */
    lines(t, row, col) {
        const { recording } = this;
        const lines = [];
        for (let frame = recording.frameAt(t); frame >= 0 && lines.length < LINES; --frame) {
            const clock = recording.frames[frame] + 1;
            const read = (name, at = frame) => recording.register(name, at, row, col);
            const work = read("work");
            const loads = frame > 0 && ["stationary", "shadow"].some((name) => read(name) !== read(name, frame - 1));
            if (work === IDLE && !loads) continue;
            const next = recording.registers.shadow && read("shadow") !== read("stationary") ? ` (next ${number(read("shadow"))})` : "";
            const cells = work === IDLE
                ? ["–", `${number(read("stationary"))}${next}`, "–"]
                : [number(read("moving")), number(read("stationary")), number(read("sum"))];
            lines.push(html("tr", { class: clock === t ? "current" : work === PADDING ? "beyond" : null },
                            html("th", { scope: "row" }, number(clock)), ...cells.map((text) => html("td", {}, text))));
        }
        if (lines.length === 0)
            lines.push(html("tr", {}, html("td", { colspan: 4 }, "Nothing yet.")));
        return lines;
    }
}
