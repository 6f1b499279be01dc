// SPDX-License-Identifier: Apache-2.0
// Reports in a real browser: every chart is drawn from real results, numbers are those of result.json, keys
// work, nothing is asked of a network, and axe-core finds nothing.
//
//   SYSTOLE=build/systole SYSTOLE_HOME=. node --test tools/web/test/report.mjs
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { counted, inUnit, times } from "../src/shared/format.js";
import { accessible, done, workshop } from "./pages.mjs";
import { figure, near, opened, printsWell, resultIn, rows, value } from "./reports.mjs";

const shop = workshop();
const open = (file, options) => opened(shop, file, options);
const result = (file) => resultIn(shop, file);

test("quantities have one prefix, factors three digits, and one is not many", () => {
    assert.equal(inUnit(12003, "GB/s"), "12 TB/s");
    assert.equal(inUnit(2624, "GB/s"), "2.624 TB/s");
    assert.equal(inUnit(0.25, "GB/s"), "250 MB/s");
    assert.equal(inUnit(389400, "B"), "389.4 kB");
    assert.equal(inUnit(64, "commands"), "64 commands");
    assert.deepEqual([1.0004, 4.5387, 245.42, 7318.4].map(times), ["1", "4.54", "245", "7,318"]);
    assert.deepEqual([counted(1, "images"), counted(2000, "queries"), counted(1, "queries")], ["1 image", "2,000 queries", "1 query"]);
});

test("every chart of both kinds of devices is drawn, in light and dark, wide and narrow, and is accessible", async () => {
    shop.systole("compare", "resnet50", "--device", "tpu_v4", "--device", "h100", "--report", "both.html");
    for (const options of [{}, { scheme: "dark", width: 400 }]) {
        const page = await open("both.html", options);
        const titles = await page.locator("figure.chart h3").allTextContents();
        for (const words of ["Capacity of the matrix units", "Time of each layer by class, tpu_v4", "Time of each layer by class, h100", "Roofline",
            "Data movement, tpu_v4", "Data movement, h100", "Utilization over time, tpu_v4", "Utilization over time, h100", "Classes over time, h100",
            "Timeline, tpu_v4", "Timeline, h100", "Where the memory's bandwidth went", "Energy by part", "Energy of each layer, h100", "Layers, tpu_v4",
            "Time of each layer by device", "What h100 takes longer for than tpu_v4", "Who wins each layer"])
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
        const { width } = page.viewportSize();
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, "the page is wider than the screen");
        const cut = await page.locator(".legend li").evaluateAll((all, most) => all.filter((item) => item.getBoundingClientRect().right > most).map((item) => item.textContent), width);
        assert.deepEqual(cut, [], "entries of legends that are cut");
        await page.locator("details.data > summary").evaluateAll((all) => all.forEach((summary) => summary.click()));
        await accessible(page);
        await done(page);
    }
});

test("a section that is jumped to shows its title", async () => {
    for (const width of [1280, 1000, 400]) {
        const page = await open("both.html", { width });
        await page.locator("nav a", { hasText: "Roofline" }).click();
        const [top, bar] = await page.evaluate(() => [document.getElementById("roofline-title").getBoundingClientRect().top, document.querySelector("nav").getBoundingClientRect().bottom]);
        assert.ok(top >= Math.max(0, bar), `at ${width} the title is at ${top}, the bar ends at ${bar}`);
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

test("a comparison says who wins each layer, and why", async () => {
    shop.systole("compare", "resnet50", "--device", "tpu_v4", "--device", "h100", "-o", "cmp", "--report", "cmp.html");
    const [compared] = JSON.parse(readFileSync(join(shop.folder, "cmp/comparison.json"), "utf8")).comparisons;
    const said = (why) => why.replace(/(\d) us\b/g, "$1 µs");
    const won = (name) => compared.layers.filter((layer) => layer.fastest === name && layer.time_ns.tpu_v4 !== layer.time_ns.h100).length;
    shop.systole("report", "cmp/comparison.json", "-o", "cmp2.html");
    for (const file of ["cmp.html", "cmp2.html"]) {
        const page = await open(file);
        assert.ok((await page.locator("#summary").textContent()).includes(`On resnet50, ${said(compared.total.why)}`));
        const words = await page.locator("#comparison").textContent();
        assert.ok(words.includes(`tpu_v4 is fastest on ${won("tpu_v4")}, h100 is fastest on ${won("h100")}`), words.slice(0, 200));
        const table = await figure(page, "Who wins each layer").locator("tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
        assert.equal(table.length, compared.layers.length);
        compared.layers.forEach((layer, i) => {
            near(table[i][2], layer.time_ns.tpu_v4 * 1e-9, layer.name);
            near(table[i][3], layer.time_ns.h100 * 1e-9, layer.name);
            assert.deepEqual(table[i].slice(4), [layer.fastest, layer.factor.toFixed(2), said(layer.why)]);
        });
        const bars = await figure(page, "Time of each layer by device").locator(".drawing svg .mark-rect.role-mark path").evaluateAll((all) =>
            all.map((bar) => Number(/v(-?[\d.]+)/.exec(bar.getAttribute("d"))[1])));
        const expected = compared.layers.flatMap((layer) => [layer.time_ns.tpu_v4, layer.time_ns.h100]);
        assert.equal(bars.length, expected.length);
        const tallest = Math.max(...bars), longest = Math.max(...expected);
        bars.forEach((bar, i) => assert.ok(Math.abs(bar / tallest - expected[i] / longest) < 0.005, `bar ${i}`));
        const longer = await rows(page, "What h100 takes longer for");
        for (const [key, text] of longer) {
            const expected = compared.total.next_longer_ns[key];
            assert.equal(text.startsWith("-"), expected < 0, key);
            near(text.replace("-", ""), Math.abs(expected) * 1e-9, key);
        }
        await done(page);
    }
});

test("batches of different size are told apart, and compared by the item", async () => {
    shop.systole("run", "tpu_v4", "resnet50", "--set", "workload.batch=8", "-o", "out8");
    shop.systole("report", "out/result.json", "out8/result.json", "-o", "b18.html");
    const [one, eight] = [result(), result("out8/result.json")].map((file) => file.devices[0].total.time_ns);
    const page = await open("b18.html");
    assert.deepEqual(await page.locator(".tile h3").allTextContents(), ["tpu_v4, 1 image", "tpu_v4, 8 images"]);
    const words = await page.locator("#summary").textContent();
    const factor = Number((one / (eight / 8)).toPrecision(3));
    assert.ok(words.includes(`On resnet50, tpu_v4, 8 images is ${factor} times as fast as tpu_v4, 1 image, by the time an image`), words);
    assert.match(await page.locator("header .quiet").textContent(), /1 image to 8 images · bf16 · inputs from the host, outputs to the host/);
    await done(page);
    shop.systole("report", "out/result.json", "out/result.json", "-o", "twice.html");
    const twice = await open("twice.html");
    assert.match(await twice.locator("#summary").textContent(), /On resnet50, tpu_v4 is as fast as tpu_v4 \(2\)\./);
    await done(twice);
});

test("a report without a timeline says why, and how to get one", async () => {
    const file = await open("file.html");
    assert.match(await file.locator("#activity").textContent(), /result files hold no timeline\. 'systole run' and 'systole compare' with --report draw it/);
    await done(file);
    shop.systole("run", "tpu_v6e", "llama3_8b", "--report", "reused.html");
    const page = await open("reused.html");
    assert.match(await page.locator("#summary").textContent(), /not simulated as a whole: others stand for them, and the run's time is known to about 0\.0\d %\./);
    assert.match(await page.locator("#activity").textContent(), /reused, so that there is no whole timeline\. With --timeline FILE or --set run\.reuse=off/);
    await done(page);
});

test("a roofline shows runs that have a roof there, and says of others why not", async () => {
    const page = await open("both.html");
    const roofs = figure(page, "Roofline");
    assert.deepEqual(await roofs.locator(".legend li").allTextContents(), ["tpu_v4", "h100"]);
    assert.equal(await roofs.locator(".drawing svg .role-legend").count(), 0);
    const ticks = await roofs.locator(".drawing svg .role-axis-label text").allTextContents();
    assert.ok(ticks.includes("0.1") && !ticks.some((text) => text.endsWith("m")), ticks.join(" "));
    await roofs.locator("select").selectOption("on_chip");
    await roofs.locator("[role=status]", { hasText: "No roof is known of the on-chip memory of h100." }).waitFor();
    assert.deepEqual(await roofs.locator(".legend li").allTextContents(), []);
    // The whole run lies below both of its roofs.
    const table = await rows(page, "Roofline");
    const { total, peak_macs_per_cycle: macs, clock_hz: clock } = result().devices[0];
    const whole = table.find(([name, run, level]) => name === "the whole run" && run === "tpu_v4" && level === "memory");
    near(whole[4], (2 * total.matrix_macs) / (total.time_ns * 1e-9), "operations a second");
    assert.ok(value(whole[4]) < 2 * macs * clock);
    await done(page);
});

test("bands of data movement are labelled by operand, on no other band", async () => {
    const page = await open("both.html");
    const moved = figure(page, "Data movement, h100");
    const texts = await moved.locator("text.count").allTextContents();
    for (const operand of ["weights", "activations"]) assert.ok(texts.some((text) => text.startsWith(`${operand} `)), texts.join(", "));
    assert.ok((await moved.locator(".legend li").allTextContents()).every((text) => !/\d/.test(text)), "sums of bytes that cross several places");
    for (const name of ["tpu_v4", "h100"]) {
        const covered = await figure(page, `Data movement, ${name}`).locator("svg.flow").evaluate((svg) => {
            // Points of a label on strokes of bands.
            const bands = [...svg.querySelectorAll("path[stroke]")];
            return [...svg.querySelectorAll("text.count")].filter((text) => {
                const { x, y, width, height } = text.getBBox();
                return [0.05, 0.25, 0.5, 0.75, 0.95].some((share) => bands.some((band) => {
                    const point = svg.createSVGPoint();
                    [point.x, point.y] = [x + share * width, y + height / 2];
                    return band.isPointInStroke(point);
                }));
            }).map((text) => text.textContent);
        });
        assert.deepEqual(covered, [], name);
    }
    await done(page);
});

test("a page that a browser saved opens again", async () => {
    const page = await open("file.html");
    writeFileSync(join(shop.folder, "saved.html"), `<!doctype html>${await page.evaluate(() => document.documentElement.outerHTML)}`);
    const ids = await page.locator("[id]").evaluateAll((all) => all.map(({ id }) => id));
    assert.equal(new Set(ids).size, ids.length, "two elements with one id");
    const again = await open("saved.html");
    assert.equal(await again.locator("h1").count(), 1);
    assert.equal(await again.locator("figure.chart").count(), await page.locator("figure.chart").count());
    await done(page);
    await done(again);
});

test("a file of a table says what its numbers are in", async () => {
    const page = await open("file.html");
    await rows(page, "Energy of each layer");
    const text = await figure(page, "Energy of each layer").locator("a.file").evaluate(async (link) => {
        link.addEventListener("click", (event) => event.preventDefault());
        link.click();
        // The page's policy lets nothing be fetched: what the link holds is read as the browser keeps it.
        return await new Promise((told) => { const seen = URL.createObjectURL; URL.createObjectURL = (blob) => { blob.text().then(told); return seen.call(URL, blob); }; link.click(); });
    });
    const [head, first] = text.split("\n");
    assert.match(head, /^layer,time \(ns\),total \(pJ\),matrix \(pJ\)/);
    const [layer] = result().devices[0].layers;
    assert.ok(first.startsWith(`${layer.name},${layer.time_ns},${layer.energy_pj.total},`), first);
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
    // It has no class, so that it has no hue.
    const [red, green, blue] = await canvas.evaluate((node) => [...node.getContext("2d").getImageData(160, 25, 1, 1).data]);
    assert.ok(Math.max(red, green, blue) - Math.min(red, green, blue) < 8, `rgb(${red}, ${green}, ${blue})`);
    await page.mouse.wheel(0, 5);
    await page.evaluate(() => window.scrollBy(0, 300));
    await page.locator(".tip").waitFor({ state: "hidden" });
    await done(page);
});

test("stripes of a matrix unit's bar have their classes' colours, and the legend names them", async () => {
    const page = await open("run.html");
    const legend = await figure(page, "Timeline").locator(".legend li").allTextContents();
    assert.ok(legend.includes("padding"), legend.join(", "));
    const mixed = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).runs[0].timeline.mixed);
    const { classes } = result().devices[0].total;
    assert.ok(mixed.length > 100 && classes.padding > 0.05);
    for (const [, shares] of mixed) assert.ok(Math.abs(shares.reduce((sum, [, share]) => sum + share, 0) - 1) < 1e-3);
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
    console.log(`300 layers and 20,000 spans: drawn after ${Date.now() - begun} ms, of 2,000 that are aimed at`);
    assert.equal(await figure(page, "Time of each layer").count(), 1);
    await done(page);
});

test("printed, it has no controls, every drawing, and nothing beyond the paper", async () => {
    for (const file of ["run.html", "both.html"]) {
        const page = await open(file);
        await printsWell(page);
        await done(page);
    }
});

test("paper is light, also of a dark screen, and drawings are drawn for it", async () => {
    const page = await open("run.html", { scheme: "dark" });
    const label = figure(page, "Capacity of the matrix units").locator(".drawing svg .role-axis-title text").first();
    const wide = () => figure(page, "Capacity of the matrix units").locator(".drawing svg").evaluate((svg) => Number(svg.getAttribute("width")));
    assert.equal(await label.getAttribute("fill"), "#e8e8e6");
    const before = await wide();
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    await page.locator(".drawing svg .role-axis-title text[fill='#1d1d1b']").first().waitFor();
    assert.ok((await wide()) < 703, "as wide as paper");
    await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
    await page.locator(".drawing svg .role-axis-title text[fill='#e8e8e6']").first().waitFor();
    assert.equal(await wide(), before);
    await done(page);
});
