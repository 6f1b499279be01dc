// SPDX-License-Identifier: Apache-2.0
// A figure: a Vega-Lite drawing with a caption, its data as a table, and a tooltip of plain text. Expressions are
// interpreted, so that the page needs no right to make code out of text.
import { expressionInterpreter } from "vega-interpreter";
import { compile } from "vega-lite";
import { parse, View, Warn } from "vega";
import { h } from "../shared/dom.js";
import { isDark, isPrinting, onScheme } from "../shared/palette.js";
import { items } from "./legend.js";
import { dataTable } from "./table.js";

const PAPER = 672;  // pixels across a page of A4: nothing measures it before it is printed
const drawn = [];  // every chart, to draw it again when the page turns dark or light

function theme() {
    const ink = isDark() ? "#e8e8e6" : "#1d1d1b";
    const faint = isDark() ? "#3a3a3a" : "#dddddd";
    const axis = { labelColor: ink, titleColor: ink, gridColor: faint, domainColor: ink, tickColor: ink };
    return {
        background: null,
        font: "system-ui, sans-serif",
        axis: { ...axis, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500, labelOverlap: true },
        legend: { labelColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500 },
        header: { labelColor: ink, titleColor: ink, labelFontSize: 13, labelFontWeight: 600 },
        text: { color: ink },
        rule: { color: ink },
        view: { stroke: faint },
        style: { "guide-label": { fontSize: 12 } },
    };
}

const tip = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });

/** Vega's tooltip: lines of "name value", as text. */
export function showTip(_handler, event, _item, value) {
    tip.hidden = value === null || value === undefined || value === "";
    if (tip.hidden) return;
    const rows = typeof value === "object" ? Object.entries(value) : [["", String(value)]];
    tip.replaceChildren(...rows.map(([name, text]) => h("div", {}, h("span", {}, name), h("b", {}, String(text)))));
    if (!tip.isConnected) document.body.append(tip);
    const x = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
    const y = Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8);
    tip.style.transform = `translate(${Math.max(8, x)}px, ${Math.max(8, y)}px)`;
}

// What was under the pointer is elsewhere then.
window.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true, capture: true });

/** Faults of a drawing: told where developers look, and to the reader. */
function recorder() {
    const faults = [];
    const logger = {
        level() { return this; },
        error(...words) { faults.push(words); console.error(...words); return this; },
        warn(...words) { console.warn(...words); return this; },
        info() { return this; },
        debug() { return this; },
    };
    return { faults, logger };
}

/**
 * A figure with a drawing. `spec(width)` gives the Vega-Lite specification in the colours of the moment; `table` the same data as
 * rows; `label` says in a sentence what the drawing shows; `legend()` gives entries of legend.js in the colours of the moment.
 */
export function chart({ title, note, label, spec, table, renderer = "svg", controls, legend, onView }) {
    const key = legend ? h("ul", { class: "legend" }) : null;
    const trouble = h("p", { class: "warning", hidden: true }, "This drawing failed; its data are right.");
    const box = h("div", { class: "drawing", role: "img", "aria-label": label });
    const figure = h(
        "figure",
        { class: "chart" },
        h("figcaption", {}, h("h3", {}, title), note ? h("p", {}, note) : null),
        controls ?? null,
        key,
        trouble,
        h("div", { class: "scroll" }, box),
        table ? dataTable(title, table) : null,
    );
    let view = null;
    const render = async (logger) => {
        const { spec: vega } = compile({ ...spec(isPrinting() ? PAPER : Math.max(280, box.clientWidth)), config: theme() });
        view = new View(parse(vega, null, { ast: true }), {
            expr: expressionInterpreter,
            renderer,
            container: box,
            hover: true,
            logLevel: Warn,
            logger,
        });
        view.tooltip(showTip);
        await view.runAsync();
    };
    const draw = async () => {
        view?.finalize();
        view = null;
        box.replaceChildren();
        key?.replaceChildren(...items(legend()));
        const { faults, logger } = recorder();
        await render(logger).catch((fault) => logger.error(fault));
        hideFromReaders(box);
        trouble.hidden = faults.length === 0;
        figure.dataset.drawn = faults.length === 0 ? "yes" : "failed";
        if (faults.length === 0) onView?.(view);
    };
    drawn.push(draw);
    return { figure, draw, view: () => view };
}

/** The drawing is one picture with a label; its parts would be read as hundreds of nameless marks. */
function hideFromReaders(box) {
    for (const part of box.querySelectorAll("[role], [aria-label], [aria-roledescription], [tabindex]"))
        for (const name of ["role", "aria-label", "aria-roledescription", "tabindex"]) part.removeAttribute(name);
}

const drawAll = () => drawn.forEach((draw) => draw());
onScheme(drawAll);
let width = window.innerWidth;
let waiting;
window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 150);
});
