// SPDX-License-Identifier: Apache-2.0
// Data movement as a flow: places from the host to the arrays, and between them bands as wide as the bytes that
// cross, by operand. What is read again and again is wider nearer to the arrays: that is reuse at work.
import { h, s } from "../shared/dom.js";
import { bytes, plain, short } from "../shared/format.js";
import { OPERANDS, colour, isPrinting, onScheme } from "../shared/palette.js";
import { items } from "./legend.js";
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

const BOX = 36, LEAST_WIDE = 88, MOST = 46, LEAST = 1.2, BETWEEN = 6, RISE = 20;  // pixels
const LINE = 13, LETTER = 6.4;  // of labels

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

/** What stands at a band: its bytes, and where it carries several operands those of each. */
function wordsOf(band) {
    const parts = [...band.parts].sort((a, b) => b.bytes - a.bytes);
    return parts.length === 1 ? [bytes(band.bytes)] : parts.map(({ operand, bytes: count }) => `${plain(operand)} ${bytes(count)}`);
}

/** Bands with a side (towards the arrays above the boxes, back below), a thickness, and the boxes that they join. */
function measured(bands, places) {
    const most = Math.max(...bands.map((band) => band.bytes), 1);
    return bands.map((band) => {
        const ends = [places.indexOf(band.from), places.indexOf(band.to)];
        const words = wordsOf(band);
        return {
            ...band, up: ends[0] < ends[1], left: Math.min(...ends), right: Math.max(...ends), words,
            high: LINE * words.length + 6, long: LETTER * Math.max(...words.map((line) => line.length)),
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

const meet = (a, b) => Math.max(0, Math.min(a[1], b[1]) - Math.max(a[0], b[0]));
/** Where a band goes up and down again, across. */
const uprights = (band) => [[band.leftX - 3, band.leftX + band.thick + 3], [band.rightX - 3, band.rightX + band.thick + 3]];
const extent = (band) => [band.leftX, band.rightX + band.thick];

/** The place of a band's label: as near to its middle as the uprights of bands that go farther out leave room. */
function roomFor(band, farther, across) {
    const half = band.long / 2 + 2;
    const middle = (band.leftX + band.rightX + band.thick) / 2;
    const walls = farther.flatMap(uprights);
    let best = { x: middle, cost: Infinity };
    for (let x = half + 2; x <= Math.max(half + 2, across - half - 2); x += 2) {
        const covered = walls.reduce((sum, wall) => sum + meet([x - half, x + half], wall), 0);
        // Beside its own band a label belongs to nothing.
        const astray = Math.max(0, extent(band)[0] - half / 2 - x, x - extent(band)[1] - half / 2);
        const cost = 50 * covered + 20 * astray + Math.abs(x - middle);
        if (cost < best.cost) best = { x, cost };
    }
    return best.x;
}

/** Stacks bands of one side so that no band or label lies on another: short ones near the boxes. */
function stacked(bands, across) {
    const order = [...bands].sort((a, b) => a.right - a.left - (b.right - b.left) || extent(a)[1] - extent(a)[0] - (extent(b)[1] - extent(b)[0]));
    const done = [];
    order.forEach((band, i) => {
        band.textX = roomFor(band, order.slice(i + 1), across);
        const own = [Math.min(extent(band)[0], band.textX - band.long / 2), Math.max(extent(band)[1], band.textX + band.long / 2)];
        band.at = RISE;
        for (const other of done)
            if (meet(own, other.taken) > 0) band.at = Math.max(band.at, other.at + other.thick + other.high);
        band.taken = own;
        done.push(band);
    });
    return Math.max(0, ...done.map(({ at, thick, high }) => at + thick + high));
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
        }, s("title", {}, `${label}, of it ${plain(operand)} ${bytes(count)}`));
    });
    const goesRight = band.up;
    const tip = (goesRight ? band.rightX : band.leftX) + band.thick / 2;
    const half = Math.max(4, Math.min(9, band.thick / 2));
    parts.push(s("path", { d: `M${tip - half} ${edge + sign * 9} h${2 * half} L${tip} ${edge} z`, fill: "currentColor" }));
    const first = band.up ? outer - 5 - LINE * (band.words.length - 1) : outer + 14;
    const count = band.words.map((line, i) => s("text", { class: "count", x: band.textX, y: first + LINE * i, "text-anchor": "middle" }, line));
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
    const top = stacked(bands.filter(({ up }) => up), across) + 4;
    const height = top + BOX + stacked(bands.filter(({ up }) => !up), across) + 4;
    const drawn = bands.map((band) => drawBand(band, band.up ? top : top + BOX));
    return s("svg", { viewBox: `0 0 ${across} ${height}`, width: across, height, class: "flow", "aria-hidden": "true" },
        drawn.map(({ parts }) => parts), boxes.map((box) => drawBox(box, top)), drawn.map(({ count }) => count));
}

/** Operands that move; no sums, as the same bytes cross several places. */
const legend = (row) => OPERANDS.filter(({ key }) => row.bytes.moved.some(({ operand }) => operand === key))
    .map((operand) => ({ text: plain(operand.key), colour: colour(operand) }));

export function flow(run) {
    const rows = [{ ...run.total, name: "all layers" }, ...run.layers].filter((row) => row.bytes.moved.length > 0);
    if (!rows.length) return null;
    let row = rows[0];
    const key = h("ul", { class: "legend" });
    const box = h("div", { class: "drawing", role: "img" });
    const figure = h(
        "figure", { class: "chart" },
        h("figcaption", {}, h("h3", {}, `Data movement, ${run.label}`),
            h("p", {}, "Bands are as wide as the bytes that cross; above the boxes towards the arrays, below them back to the host. What is read again crosses again: bands do not add up along the way.")),
        h("div", { class: "controls" }, h("label", {}, "Of ", h("select", {
            onchange: (event) => { row = rows[Number(event.target.value)]; make(); },
        }, rows.map((one, i) => h("option", { value: i }, short(one.name, 60)))))),
        key, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Data movement, ${run.label}` }, box),
        dataTable(`Data movement, ${run.label}`, () => ({
            columns: [{ title: "layer" }, { title: "from" }, { title: "to" }, { title: "operand" }, { title: "bytes", text: bytes, number: true }],
            rows: rows.flatMap((one) => one.bytes.moved.map((m) => [one.name, m.from, m.to, m.operand, m.bytes])),
        })),
    );
    const make = () => {
        key.replaceChildren(...items(legend(row)));
        box.setAttribute("aria-label", `Flow of data between places for ${row.name}: ` +
            bandsOf(row).map((band) => `${titleOf(band.from)} to ${titleOf(band.to)} ${bytes(band.bytes)}`).join(", ") + ".");
        box.replaceChildren(draw(row, isPrinting() ? 660 : Math.max(300, box.clientWidth || 900)));
        figure.dataset.drawn = "yes";
    };
    onScheme(make);
    return { figure, draw: make };
}
