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

function legend(arrays) {
    if (!arrays) return null;
    const entry = (name, text) => html("li", {}, html("span", { class: `swatch ${name}`, "aria-hidden": "true" }), text);
    return html("ul", { class: "legend", "aria-label": "Legend" },
                entry("useful", "useful product"), entry("padding", "padding"), entry("ramp", "ramp: fill, drain, shift"),
                entry("waiting", "waiting"),
                html("li", {}, html("span", { class: "arrow right", "aria-hidden": "true" }), "moves right"),
                html("li", {}, html("span", { class: "arrow down", "aria-hidden": "true" }), "falls"),
                html("li", {}, html("span", { class: "square", "aria-hidden": "true" }), "stays"));
}

function keys() {
    const key = (name, text) => html("li", {}, html("kbd", {}, name), ` ${text}`);
    return html("footer", {},
                html("ul", { class: "keys", "aria-label": "Keys" }, key("Space", "play, pause"), key("← →", "a clock back, on"),
                     key("Home End", "begin, end"), key("Tab", "into an array, then arrows from PE to PE, Enter to keep one")),
                html("p", {}, "Position t is after t clocks of the matrix unit's clock. Every number is a register of the PE grid, as ",
                     html("code", {}, "systole wave"), " records it (its cycle t − 1); operands are small whole numbers made for the purpose."));
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
    const arrays = panels.some((panel) => panel.run.cols);
    page.replaceChildren(
        patterns(),
        html("header", { class: "page-head" }, html("h1", {}, data.title), data.lesson ? html("p", {}, data.lesson.summary) : null,
             html("p", { class: "command" }, html("code", {}, data.command))),
        lessonOf(data.lesson) ?? "");
    player = new Player(panels);
    const grid = html("div", { class: "panels", style: `--panels: ${Math.max(1, beside)}` },
                      ...panels.map((panel) => panel.node));
    const leftOut = (data.left_out ?? []).map((text) => html("p", { class: "left-out" }, `Not shown: ${text}`));
    page.append(player.node, ...leftOut, legend(arrays) ?? "", grid, keys());
    player.show(0);
    for (const panel of panels) panel.strip.draw();
}

start();
