// SPDX-License-Identifier: Apache-2.0
// Reports in a real browser: every chart is drawn from real results, numbers are those of result.json, names stay text,
// keys work, nothing is asked of a network, and axe-core finds nothing.
//
//   SYSTOLE=build/systole SYSTOLE_HOME=. node --test tools/web/test/report.mjs
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { accessible, done, workshop } from "./pages.mjs";

const shop = workshop();
const HOSTILE = `</script><img src="x" onerror="window.hacked = 1">`;

/** The report of what the program wrote, open and drawn. */
async function open(file, options) {
    const page = await shop.open(file, options);
    await page.waitForFunction(() => document.documentElement.dataset.ready, null, { timeout: 60_000 });
    return page;
}

const result = (file = "out/result.json") => JSON.parse(readFileSync(join(shop.folder, file), "utf8"));
const figure = (page, title) => page.locator("figure.chart", { has: page.locator("h3", { hasText: title }) });

/** The rows of a figure's data, as text. */
async function rows(page, title) {
    const details = figure(page, title).first().locator("details.data");
    if (!(await details.evaluate((node) => node.open))) await details.locator("summary").click();
    // The table is made when the browser tells of the opening, which is a moment later.
    await details.locator("tbody tr").first().waitFor();
    return details.locator("tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
}

/** What a number with a prefix says: "164.6 µs" → 1.646e-4. */
function value(text) {
    const [, digits, prefix] = /^([\d.,]+(?:e[+-]?\d+)?) ?([YZEPTGMkmµnpf]?)/.exec(text);
    const factor = { Y: 1e24, Z: 1e21, E: 1e18, P: 1e15, T: 1e12, G: 1e9, M: 1e6, k: 1e3, "": 1, m: 1e-3, "µ": 1e-6, n: 1e-9, p: 1e-12, f: 1e-15 };
    return Number(digits.replaceAll(",", "")) * factor[prefix];
}

function near(text, expected, what) {
    assert.ok(Math.abs(value(text) - expected) <= 1e-3 * Math.abs(expected), `${what}: ${text} instead of ${expected}`);
}

test("every chart of both kinds of devices is drawn, in light and dark, wide and narrow, and is accessible", async () => {
    shop.systole("compare", "resnet50", "--device", "tpu_v4", "--device", "h100", "--report", "both.html");
    for (const options of [{}, { scheme: "dark", width: 400 }]) {
        const page = await open("both.html", options);
        const titles = await page.locator("figure.chart h3").allTextContents();
        for (const words of ["Capacity of the matrix units", "Time of each layer by class, tpu_v4", "Time of each layer by class, h100", "Roofline",
            "Data movement, tpu_v4", "Data movement, h100", "Utilization over time, tpu_v4", "Utilization over time, h100", "Classes over time, h100",
            "Timeline, tpu_v4", "Timeline, h100", "Where the memory's bandwidth went", "Energy by part", "Energy of each layer, h100", "Layers, tpu_v4"])
            assert.ok(titles.some((title) => title.includes(words)), `no chart '${words}' among ${titles}`);
        const empty = await page.locator("figure.chart").evaluateAll((all) =>
            all.filter((one) => {
                const drawing = one.querySelector("canvas, .drawing svg");
                if (one.querySelector("table") && !drawing) return false;
                return one.dataset.drawn !== "yes" || !drawing || drawing.getBoundingClientRect().height < 40;
            }).map((one) => one.querySelector("h3").textContent));
        assert.deepEqual(empty, []);
        for (const svg of await page.locator(".drawing svg").all())
            assert.ok((await svg.locator("path, rect").count()) > 3, "a drawing without marks");
        await page.locator("details.data > summary").evaluateAll((all) => all.forEach((summary) => summary.click()));
        await accessible(page);
        await done(page);
    }
});

test("its figures are those of result.json", async () => {
    shop.systole("run", "tpu_v4", "resnet50", "-o", "out", "--report", "run.html");
    const [device] = result().devices;
    const page = await open("run.html");
    near(await page.locator(".tile .time").textContent(), device.total.time_ns * 1e-9, "time");
    const layers = await rows(page, "Time of each layer by class");
    assert.equal(layers.length, device.layers.length);
    device.layers.forEach((layer, i) => {
        assert.equal(layers[i][0], layer.name);
        near(layers[i][2], layer.time_ns * 1e-9, layer.name);
        assert.equal(layers[i][3], `${(100 * layer.classes.useful).toFixed(1)} %`);
    });
    const roofs = await rows(page, "Roofline");
    const row = roofs.find(([name, , level]) => name === "fc" && level === "memory");
    const fc = device.layers.find(({ name }) => name === "fc");
    near(row[3], (2 * fc.matrix_macs) / (fc.bytes.dram_read + fc.bytes.dram_written), "intensity");
    near(row[4], (2 * fc.matrix_macs) / (fc.time_ns * 1e-9), "operations a second");
    const moved = await rows(page, "Data movement");
    const weights = device.total.bytes.moved.find(({ from, operand }) => from === "dram" && operand === "weights");
    near(moved.find(([name, from, , operand]) => name === "all layers" && from === "dram" && operand === "weights")[4], weights.bytes, "weights");
    const energy = await rows(page, "Energy by part");
    near(energy[0][1], device.total.energy_pj.total * 1e-12, "energy");
    const bus = await rows(page, "Where the memory's bandwidth went");
    assert.equal(bus[0][2], `${((100 * device.memory_bus.transfer) / device.memory_bus.clocks).toFixed(1)} %`);
    assert.match(await page.locator("#source pre").first().textContent(), /^systole run tpu_v4 resnet50$/);
    await done(page);
});

test("drawn bars are as long as their figures", async () => {
    const [device] = result().devices;
    const page = await open("run.html");
    const drawn = async (title) => {
        const paths = await figure(page, title).first().locator(".drawing svg .mark-rect.role-mark path").evaluateAll((all) => all.map((path) => path.getAttribute("d")));
        return paths.map((path) => Number(/h(-?[\d.e-]+)/.exec(path)[1]));
    };
    const parts = (values) => values.filter((value) => value > 0);
    const same = (widths, values, title) => {
        assert.equal(widths.length, values.length, title);
        const sum = (all) => all.reduce((whole, one) => whole + one, 0);
        widths.forEach((width, i) => assert.ok(Math.abs(width / sum(widths) - values[i] / sum(values)) < 2e-3, `${title}: part ${i}`));
    };
    same(await drawn("Capacity of the matrix units"), parts(Object.values(device.total.classes)), "classes");
    const { clocks, ...owners } = device.memory_bus;
    same(await drawn("Where the memory's bandwidth went"), parts(["transfer", "refresh", "ccd_l", "faw_rrd", "command_bus", "turnaround", "row_conflict", "empty_queue"].map((key) => owners[key] / clocks)), "bandwidth");
    const { total, ...energy } = device.total.energy_pj;
    same(await drawn("Energy by part"), parts(Object.values(energy)), "energy");
    // Shares fill their axis: 100 % is the whole width of both.
    const whole = async (title) => (await drawn(title)).reduce((sum, one) => sum + one, 0);
    assert.ok(Math.abs((await whole("Capacity of the matrix units")) / (await whole("Where the memory's bandwidth went")) - 1) < 0.02);
    await done(page);
});

test("a report of a file says what the run's own says, less what happened when", async () => {
    shop.systole("report", "out/result.json", "-o", "file.html");
    const [own, file] = [await open("run.html"), await open("file.html")];
    assert.equal(await file.locator(".tiles").textContent(), await own.locator(".tiles").textContent());
    assert.equal(await file.locator("#summary").textContent(), await own.locator("#summary").textContent());
    assert.equal(await figure(file, "Timeline").count(), 0);
    await done(own);
    await done(file);
});

test("names of users stay text", async () => {
    const hostile = result();
    hostile.devices[0].device = hostile.devices[0].trace = HOSTILE;
    hostile.devices[0].layers.forEach((layer, i) => { layer.name = layer.op = layer.mapping = `${HOSTILE} ${i}`; });
    hostile.devices[0].stats[0].name = hostile.devices[0].config = HOSTILE;
    writeFileSync(join(shop.folder, "hostile.json"), JSON.stringify(hostile));
    shop.systole("report", "hostile.json", "-o", "hostile.html");
    const page = await open("hostile.html");
    await page.locator("details > summary").evaluateAll((all) => all.forEach((summary) => summary.click()));
    const bar = figure(page, "Time of each layer").locator(".drawing svg path").nth(20);
    await bar.hover({ force: true });
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.locator("img").count(), 0);
    assert.ok((await page.locator("h1").textContent()).includes(HOSTILE));
    assert.equal((await rows(page, "Time of each layer"))[3][0], `${HOSTILE} 3`);
    assert.equal((await page.title()).includes("onerror"), true);
    await done(page);
});

test("the timeline moves by keys, and says what a bar is", async () => {
    const page = await open("run.html");
    const canvas = page.locator("canvas[role=application]");
    const window_of = () => canvas.evaluate((node) => [Number(node.dataset.from), Number(node.dataset.until)]);
    const [first, last] = await window_of();
    assert.equal(first, 0);
    const { time_ns: time } = result().devices[0].total;
    assert.ok(Math.abs(last - 1000 * time) <= 1, `it ends at ${last} ps, the run at ${time} ns`);
    await canvas.focus();
    await page.keyboard.press("+");
    const [from, until] = await window_of();
    assert.ok(Math.abs(until - from - (last - first) / 2) <= 1);
    await page.keyboard.press("ArrowRight");
    assert.ok((await window_of())[0] > from);
    await page.keyboard.press("Home");
    assert.deepEqual(await window_of(), [first, last]);
    // The host's transfer is the first bar of the first row.
    await canvas.hover({ position: { x: 170, y: 28 } });
    const told = await page.locator(".tip").textContent();
    assert.match(told, /host_in/);
    assert.match(told, /conv1/);
    await done(page);
});

test("a sweep shows its front, and what is brushed", async () => {
    writeFileSync(join(shop.folder, "sweep.yaml"), `experiment: arrays
device: teaching_4x4
trace: three_layers
axes:
  mxu.rows: [4, 8]
  mxu.cols: [4, 8, 16]
derive: {pes: mxu.rows * mxu.cols}
objectives: [time_ns, {min: pes}]
`);
    shop.systole("sweep", "sweep.yaml", "-o", "sweep", "--report", "sweep.html");
    const front = readFileSync(join(shop.folder, "sweep/front.csv"), "utf8").trim().split("\n").length - 1;
    const page = await open("sweep.html");
    await accessible(page);
    const table = figure(page, "All points").locator("tbody");
    assert.equal(await table.locator("tr").count(), 6);
    assert.equal(await table.locator("tr.marked").count(), front);
    await figure(page, "All points").locator("thead button", { hasText: "pes" }).click();
    const pes = await table.locator("tr").evaluateAll((all) => all.map((row) => Number(row.children[5].textContent)));
    assert.deepEqual(pes, [...pes].sort((a, b) => b - a));
    // Around one point: those that lie there are left.
    await page.evaluate(() => window.scrollTo(0, 0));
    const point = await figure(page, "Pareto front").locator(".drawing svg .mark-symbol.role-mark path").first().boundingBox();
    await page.mouse.move(point.x - 12, point.y - 12);
    await page.mouse.down();
    await page.mouse.move(point.x + point.width + 12, point.y + point.height + 12, { steps: 5 });
    await page.mouse.up();
    await page.locator("[role=status]", { hasText: "points are chosen" }).waitFor({ timeout: 10_000 });
    const chosen = await table.locator("tr").count();
    assert.ok(chosen > 0 && chosen < 6, `${chosen} of 6 points are left`);
    await done(page);
});

test("three hundred layers and twenty thousand spans are drawn", async () => {
    const html = readFileSync(join(shop.folder, "run.html"), "utf8");
    const place = /(<script id="data" type="application\/json">)([^]*?)(<\/script>)/;
    const data = JSON.parse(place.exec(html)[2]);
    const [run] = data.runs;
    run.layers = Array.from({ length: 300 }, (_, i) => ({ ...run.layers[i % run.layers.length], name: `layer ${i}` }));
    const { spans } = run.timeline;
    for (const key of Object.keys(spans)) spans[key] = Array.from({ length: 20_000 }, (_, i) => spans[key][i % spans[key].length]);
    spans.layer = spans.layer.map((layer) => layer % 300);
    writeFileSync(join(shop.folder, "large.html"), html.replace(place, (_, before, __, after) => before + JSON.stringify(data).replaceAll("<", "\\u003c") + after));
    const begun = Date.now();
    const page = await open("large.html");
    console.log(`300 layers and 20,000 spans: drawn after ${Date.now() - begun} ms`);
    assert.equal(await figure(page, "Time of each layer").count(), 1);
    await done(page);
});

test("printed, it has no controls and every drawing", async () => {
    const page = await open("run.html");
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator("nav").isVisible(), false);
    assert.equal(await page.locator(".controls").first().isVisible(), false);
    assert.ok((await page.pdf()).length > 20_000);
    await done(page);
});
