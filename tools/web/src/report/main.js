// SPDX-License-Identifier: Apache-2.0
// The report: reads what systole put into the page and draws it, section by section.
import { h } from "../shared/dom.js";
import { number } from "../shared/format.js";
import { bandwidth, energyLayers, energyTotals } from "./account.js";
import { classesOverTime, heatMap } from "./activity.js";
import { layerClasses, totalClasses } from "./classes.js";
import { comparison } from "./comparison.js";
import { flow } from "./flow.js";
import { counters, layerTable } from "./layers.js";
import { roofline } from "./roofline.js";
import { named } from "./runs.js";
import { source } from "./source.js";
import { subtitle, summary } from "./summary.js";
import { sweep, sweepSummary } from "./sweep.js";
import { missingTimelines, timeline } from "./timeline.js";

const data = JSON.parse(document.getElementById("data").textContent);
const runs = named(data.runs ?? []);
const page = document.getElementById("page");
const charts = [];

/** The figures of charts, which are drawn later. */
const figures = (...made) =>
    made.flat(Infinity).filter(Boolean).map((one) => {
        if (one.draw) charts.push(one);
        return one.figure ?? one;
    });

const sections = [];
function section(id, title, ...content) {
    const filled = content.flat(Infinity).filter(Boolean);
    if (!filled.length) return;
    sections.push({ id, title });
    page.append(h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), filled));
}

function build() {
    if (runs.length) {
        const comparisons = data.comparisons ?? [];
        section("summary", "Summary", summary(runs, comparisons));
        section("comparison", "Who wins, and why", figures(comparison(comparisons, runs)));
        section("time", "Where the time goes", figures(totalClasses(runs), runs.map(layerClasses)));
        section("roofline", "Roofline", figures(roofline(runs)));
        section("movement", "Data movement", figures(runs.map(flow)));
        section("activity", "Over time", missingTimelines(runs, data.command !== null),
            figures(runs.map((run) => [heatMap(run), classesOverTime(run), timeline(run)])));
        section("bandwidth", "Memory bandwidth", figures(bandwidth(runs)));
        section("energy", "Energy", figures(energyTotals(runs), runs.map(energyLayers)));
        section("layers", "Layers", runs.map(layerTable), runs.map(counters));
    }
    if (data.sweep) {
        section("summary", "Summary", sweepSummary(data.sweep));
        section("sweep", "Design space", figures(sweep(data.sweep)));
    }
    section("source", "How to get this again", source(data, runs));
}

function frame() {
    const notes = (data.notes ?? []).map((note) => h("p", { class: "warning" }, note));
    const nav = h("nav", { "aria-label": "Sections" }, h("ul", {}, sections.map(({ id, title }) => h("li", {}, h("a", { href: `#${id}` }, title)))));
    page.before(
        h("header", { class: "top" }, h("h1", {}, data.title), h("p", { class: "quiet" }, subtitle(runs)), notes),
        nav,
    );
    // Who jumps to a section sees its title below what stays at the top, which may take two lines.
    const clear = () => {
        const covers = getComputedStyle(nav).position === "sticky" ? nav.offsetHeight : 0;
        document.documentElement.style.scrollPaddingTop = `${covers + 8}px`;
    };
    clear();
    window.addEventListener("resize", clear);
    const licences = document.getElementById("licences").textContent;
    page.after(h("footer", {}, h("details", {}, h("summary", {}, "Licences of the libraries in this page"), h("pre", { tabindex: "0" }, licences))));
}

/** Charts one after the other, so that the page can be read and scrolled meanwhile. */
async function drawAll() {
    for (const { draw } of charts) {
        await draw();
        await new Promise((go) => setTimeout(go));
    }
    document.documentElement.dataset.ready = number(charts.length);
}

// A page that a browser saved has what was drawn before.
for (const old of document.querySelectorAll("header.top, body > nav, body > footer, body > .tip")) old.remove();
page.replaceChildren();
build();
frame();
drawAll();
