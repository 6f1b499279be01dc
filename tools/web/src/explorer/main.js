// SPDX-License-Identifier: Apache-2.0
// The page of `systole explore`: reads the recordings in the element "data" and puts them side by side.
import { html, svg } from "./dom.js";
import { ArrayPanel, TilePanel } from "./panel.js";
import { Player } from "./player.js";
import { Recording } from "./recording.js";
import { WarpTile } from "./tile.js";

/** Hatching and dots for the figures, by reference from each. */
function patterns() {
    const lines = (id, ...content) => svg("pattern", { id, width: 8, height: 8, patternUnits: "userSpaceOnUse" }, ...content);
    return svg("svg", { width: 0, height: 0, class: "patterns", "aria-hidden": "true" }, svg("defs", {},
        lines("hatch", svg("path", { class: "hatching", d: "M-2,2 l4,-4 M0,8 l8,-8 M6,10 l4,-4" })),
        lines("dots", svg("circle", { class: "dot", cx: 2, cy: 2, r: 1 }), svg("circle", { class: "dot", cx: 6, cy: 6, r: 1 }))));
}

const paragraphs = (text) => text.trim().split(/\n\s*\n/).map((part) => html("p", {}, part.replace(/\s+/g, " ")));

function lessonOf(lesson) {
    if (!lesson) return null;
    return html("section", { class: "lesson", "aria-label": "The lesson" },
                html("div", {}, html("h2", {}, "What to look at"), ...paragraphs(lesson.look_at)),
                html("div", {}, html("h2", {}, "A question"), ...paragraphs(lesson.question),
                     html("details", {}, html("summary", {}, "The answer"), ...paragraphs(lesson.answer))));
}

function legendOf(label, entries) {
    return html("ul", { class: "legend", "aria-label": label }, ...entries.map(([sign, text]) =>
        html("li", {}, html("span", { class: sign, "aria-hidden": "true" }, sign === "corner" ? "7" : null), text)));
}

/** What the signs in the figures of arrays and of tiles mean, of those that are there. */
function legends(panels) {
    const arrays = panels.filter((panel) => panel.run.cols).map((panel) => panel.run);
    const tiles = panels.some((panel) => !panel.run.cols);
    const sums = arrays.some((run) => run.accumulatorRows().length > 0);
    return [
        arrays.length > 0 && legendOf("Legend of arrays", [
            ["swatch useful", "useful product"], ["swatch padding", "padding"], ["swatch ramp", "ramp: fill, drain, shift"],
            ["swatch waiting", "waiting"], ["square", "stays in the PE"], ["arrow right", "operand, moves right"],
            ["arrow down falling", "operand from above, moves down"], ["arrow down", "sum, moves down"],
            ...(arrays.some((run) => run.registers.shadow) ? [["corner", "in a corner: of the next tile; brown while it moves in"]] : []),
            ...(sums ? [["swatch written", "accumulator (acc) written in this clock"]] : []),
        ]),
        tiles && legendOf("Legend of a warp's tiles", [
            ["swatch block-a", "block of a at work"], ["swatch block-b", "block of b at work"],
            ["swatch block-out", "results, darker with every instruction"], ["swatch block-now", "block that the instruction adds to"],
        ]),
    ].filter(Boolean);
}

function keys(arrays, tiles) {
    const key = (name, text) => html("li", {}, html("kbd", {}, name), ` ${text}`);
    return html("footer", {},
                html("ul", { class: "keys", "aria-label": "Keys" }, key("Space", "play, pause"), key("← →", "a clock back, on"),
                     key("Home End", "beginning, end"), key("Tab", "into an array, then arrows from PE to PE, Enter to keep one")),
                arrays ? html("p", {}, "Arrays: position t is after t clocks of the matrix unit's clock. Every number in them is a register of the PE grid, as ",
                              html("code", {}, "systole wave"), " records it (its cycle t − 1); operands are small whole numbers made for the purpose.") : null,
                tiles ? html("p", {}, "A warp's tiles: position t is after t clocks of the SM's clock, from the first instruction's begin on, as the model of " +
                             "the SM issues them; no values are computed.") : null);
}

function start() {
    const data = JSON.parse(document.getElementById("data").textContent);
    const page = document.getElementById("page");
    if (!data) {
        page.replaceChildren(html("p", {}, "This page is a template without data; systole explore fills it."));
        return;
    }
    let player = null;
    const seek = (panel, t) => player?.seek(panel, t);
    const panels = data.panels.map((panel) =>
        panel.kind === "array" ? new ArrayPanel(new Recording(panel), seek) : new TilePanel(new WarpTile(panel), seek));
    const beside = panels.filter((panel) => !panel.node.classList.contains("broad")).length;
    page.replaceChildren(
        patterns(),
        html("header", { class: "page-head" }, html("h1", {}, data.title), data.lesson ? html("p", {}, data.lesson.summary) : null,
             html("p", { class: "command" }, html("code", {}, data.command))),
        lessonOf(data.lesson) ?? "");
    player = new Player(panels);
    const grid = html("div", { class: "panels", style: `--panels: ${Math.max(1, beside)}` },
                      ...panels.map((panel) => panel.node));
    const leftOut = (data.left_out ?? []).map((text) => html("p", { class: "left-out" }, `Not shown: ${text}`));
    page.append(player.node, ...leftOut, ...legends(panels), grid,
                keys(panels.some((panel) => panel.run.cols), panels.some((panel) => !panel.run.cols)));
    player.show(0);
    for (const panel of panels) panel.strip.draw();
}

start();
