// SPDX-License-Identifier: Apache-2.0
// Data movement as a flow: places from the host to the arrays, and between them bands as wide as the bytes that
// cross, by operand. What is read again and again is wider nearer to the arrays: that is reuse at work.
import { h, s } from "../shared/dom.js";
import { bytes, si } from "../shared/format.js";
import { OPERANDS, colour, onScheme } from "../shared/palette.js";
import { dataTable } from "./table.js";

/** From far away to close by; chips stand beside the host. */
const PLACES = [
    "host", "chip_link", "dram", "sram", "memory_side_cache", "l2", "scratchpad", "shared_memory", "weight_fifo", "vector", "accumulator", "array",
];
const TITLES = {
    host: "host", chip_link: "other chips", dram: "DRAM", sram: "SRAM", memory_side_cache: "memory-side cache", l2: "L2",
    scratchpad: "scratchpad", shared_memory: "shared memory", weight_fifo: "weight FIFO", vector: "vector unit",
    accumulator: "accumulators", array: "arrays",
};

const BOX = 36, LEAST_WIDE = 88, MOST = 46, LEAST = 1.2, BETWEEN = 6, RISE = 20, WORDS = 20;  // pixels

const titleOf = (place) => TITLES[place] ?? place;
const operandOf = (key) => OPERANDS.find((operand) => operand.key === key) ?? OPERANDS[0];

/** Movements of one row, as bands of one pair of places each. */
function bandsOf(row) {
    const pairs = new Map();
    for (const { from, to, operand, bytes: count } of row.bytes.moved) {
        const key = `${from} ${to}`;
        if (!pairs.has(key)) pairs.set(key, { from, to, parts: [], bytes: 0 });
        pairs.get(key).parts.push({ operand, bytes: count });
        pairs.get(key).bytes += count;
    }
    return [...pairs.values()];
}

const rank = (place) => (PLACES.indexOf(place) < 0 ? PLACES.length : PLACES.indexOf(place));

/** Bands with a side (towards the arrays above the boxes, back below), a thickness, and the boxes that they join. */
function measured(bands, places) {
    const most = Math.max(...bands.map((band) => band.bytes), 1);
    return bands.map((band) => {
        const ends = [places.indexOf(band.from), places.indexOf(band.to)];
        return {
            ...band, up: ends[0] < ends[1], left: Math.min(...ends), right: Math.max(...ends),
            thick: Math.max(LEAST * band.parts.length, (MOST * band.bytes) / most),
        };
    });
}

/** Boxes as wide as what joins them on one side; each band gets its own piece of both edges, outer ones outside. */
function placed(bands, places, width) {
    const boxes = places.map((place, i) => {
        const side = (up) => {
            const here = bands.filter((band) => band.up === up);
            // Those that go left, the nearest last; then those that go right, the farthest last: no two cross.
            const toLeft = here.filter((band) => band.right === i).sort((a, b) => b.left - a.left);
            const toRight = here.filter((band) => band.left === i).sort((a, b) => b.right - a.right);
            return [...toLeft, ...toRight];
        };
        const sides = [side(true), side(false)];
        const need = sides.map((all) => all.reduce((sum, { thick }) => sum + thick + BETWEEN, 8));
        return { place, sides, need, wide: Math.max(LEAST_WIDE, ...need) };
    });
    const taken = boxes.reduce((sum, box) => sum + box.wide, 0);
    const gap = Math.max(26, (width - 8 - taken) / Math.max(1, boxes.length - 1));
    let x = 4;
    for (const box of boxes) {
        box.x = x;
        x += box.wide + gap;
        box.sides.forEach((all, k) => {
            let at = box.x + (box.wide - box.need[k]) / 2 + 4 + BETWEEN / 2;
            for (const band of all) {
                band[band.left === places.indexOf(box.place) ? "leftX" : "rightX"] = at;
                at += band.thick + BETWEEN;
            }
        });
    }
    return { boxes, across: Math.max(width, x - gap + 4) };
}

/** Stacks bands of one side so that none crosses another: short ones near the boxes. */
function stacked(bands) {
    const done = [];
    for (const band of [...bands].sort((a, b) => a.right - a.left - (b.right - b.left))) {
        band.at = RISE;
        for (const other of done.filter((one) => one.leftX < band.rightX + band.thick && band.leftX < one.rightX + one.thick))
            band.at = Math.max(band.at, other.at + other.thick + WORDS);
        done.push(band);
    }
    return Math.max(0, ...done.map(({ at, thick }) => at + thick + WORDS));
}

function drawBand(band, edge) {
    const sign = band.up ? -1 : 1;
    const label = `${titleOf(band.from)} to ${titleOf(band.to)}: ${bytes(band.bytes)}`;
    const outer = edge + sign * (band.at + band.thick);
    let offset = 0;
    const parts = band.parts.map(({ operand, bytes: count }) => {
        const tall = (band.thick * count) / band.bytes;
        const middle = offset + tall / 2;
        const from = band.leftX + middle, to = band.rightX + band.thick - middle;
        const y = outer - sign * middle;
        const bend = Math.min(16 + band.thick - middle, (to - from) / 2);
        offset += tall;
        return s("path", {
            d: `M${from} ${edge} V${y + -sign * bend} Q${from} ${y} ${from + bend} ${y} H${to - bend} Q${to} ${y} ${to} ${y + -sign * bend} V${edge}`,
            fill: "none", stroke: colour(operandOf(operand)), "stroke-width": Math.max(tall, LEAST), "stroke-opacity": 0.9,
        }, s("title", {}, `${label}, of it ${operand} ${bytes(count)}`));
    });
    const goesRight = band.up;
    const tip = (goesRight ? band.rightX : band.leftX) + band.thick / 2;
    const half = Math.max(4, Math.min(9, band.thick / 2));
    parts.push(s("path", { d: `M${tip - half} ${edge + sign * 9} h${2 * half} L${tip} ${edge} z`, fill: "currentColor" }));
    const count = s("text", { class: "count", x: (band.leftX + band.rightX + band.thick) / 2, y: outer + sign * 5 + (band.up ? 0 : 9), "text-anchor": "middle" }, bytes(band.bytes));
    return { parts, count };
}

function drawBox({ place, x, wide }, top) {
    const words = titleOf(place).split(/[ -]/);
    const lines = words.length > 1 ? [words.slice(0, -1).join(" "), words.at(-1)] : words;
    return [
        s("rect", { class: "place", x, y: top, width: wide, height: BOX, rx: 5 }),
        lines.map((line, i) => s("text", { x: x + wide / 2, y: top + BOX / 2 + 4 + (i - (lines.length - 1) / 2) * 13, "text-anchor": "middle" }, line)),
    ];
}

function draw(row, width) {
    const found = bandsOf(row);
    const places = [...new Set(found.flatMap(({ from, to }) => [from, to]))].sort((a, b) => rank(a) - rank(b));
    const bands = measured(found, places);
    const { boxes, across } = placed(bands, places, width);
    const top = stacked(bands.filter(({ up }) => up)) + 4;
    const height = top + BOX + stacked(bands.filter(({ up }) => !up)) + 4;
    const drawn = bands.map((band) => drawBand(band, band.up ? top : top + BOX));
    return s("svg", { viewBox: `0 0 ${across} ${height}`, width: across, height, class: "flow", "aria-hidden": "true" },
        drawn.map(({ parts }) => parts), boxes.map((box) => drawBox(box, top)), drawn.map(({ count }) => count));
}

function legend(row) {
    const used = OPERANDS.filter(({ key }) => row.bytes.moved.some(({ operand }) => operand === key));
    return used.map((operand) => {
        const total = row.bytes.moved.filter((one) => one.operand === operand.key).reduce((sum, one) => sum + one.bytes, 0);
        return h("li", {}, s("svg", { width: 22, height: 12, "aria-hidden": "true" }, s("rect", { width: 22, height: 12, rx: 2, fill: colour(operand) })),
            `${operand.key} ${bytes(total)}`);
    });
}

export function flow(run) {
    const rows = [{ ...run.total, name: "all layers" }, ...run.layers].filter((row) => row.bytes.moved.length > 0);
    if (!rows.length) return null;
    let row = rows[0];
    const key = h("ul", { class: "legend" });
    const box = h("div", { class: "drawing", role: "img" });
    const figure = h(
        "figure", { class: "chart" },
        h("figcaption", {}, h("h3", {}, `Data movement, ${run.label}`),
            h("p", {}, "Bands are as wide as the bytes that cross; above the boxes towards the arrays, below them back to the host.")),
        h("div", { class: "controls" }, h("label", {}, "Of ", h("select", {
            onchange: (event) => { row = rows[Number(event.target.value)]; make(); },
        }, rows.map((one, i) => h("option", { value: i }, one.name))))),
        key, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Data movement, ${run.label}` }, box),
        dataTable(`Data movement, ${run.label}`, () => ({
            columns: [{ title: "layer" }, { title: "from" }, { title: "to" }, { title: "operand" }, { title: "bytes", text: (value) => si(value, "B"), number: true }],
            rows: rows.flatMap((one) => one.bytes.moved.map((m) => [one.name, m.from, m.to, m.operand, m.bytes])),
        })),
    );
    const make = () => {
        key.replaceChildren(...legend(row));
        box.setAttribute("aria-label", `Flow of data between places for ${row.name}: ` +
            bandsOf(row).map((band) => `${titleOf(band.from)} to ${titleOf(band.to)} ${bytes(band.bytes)}`).join(", ") + ".");
        box.replaceChildren(draw(row, Math.max(300, box.clientWidth || 900)));
        figure.dataset.drawn = "yes";
    };
    onScheme(make);
    return { figure, draw: make };
}
