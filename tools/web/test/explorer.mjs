// SPDX-License-Identifier: Apache-2.0
// Pages of systole explore in a real browser: what they show at chosen clocks against the waveform of the same run,
// what they count against its result, keys, accessibility (axe-core), no network, no complaint on the console.
//
//   SYSTOLE=build/systole SYSTOLE_HOME=. node --test tools/web/test/explorer.mjs
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { accessible, done, workshop } from "./pages.mjs";
import { Vcd } from "./vcd.mjs";

const DEVICE = "teaching_4x4";
const MATMUL = ["matmul", "m=6", "n=5", "k=7", "dtype=int8"];

const shop = workshop();
const { systole } = shop;

/** Makes a page and opens it. */
async function open(words, options) {
    systole("explore", ...words, "-o", "page.html");
    const page = await shop.open("page.html", options);
    await page.locator(".panel").first().waitFor();
    return page;
}

const seek = (page, t) => page.locator("#scrub").fill(String(t));
const value = (text) => Number(text.replaceAll("−", "-").replaceAll(",", ""));

/** What a panel shows: by PE, in rows, its number and the arrows at it (null: there is none). */
const shown = (panel) => panel.evaluate((node) => {
    const number = (text) => Number(text.replaceAll("−", "-").replaceAll(",", ""));
    const tokens = (kind) => [...node.querySelectorAll(`.tokens > .${kind}`)].map((token) =>
        token.style.display === "none" ? null : number(token.querySelector("text").textContent));
    return {
        stays: [...node.querySelectorAll(".stays")].map((text) => number(text.textContent)),
        next: [...node.querySelectorAll(".next")].map((text) => text.textContent === "" ? null : number(text.textContent)),
        states: [...node.querySelectorAll(".pe")].map((pe) => pe.getAttribute("class").split(" ")[1]),
        moving: tokens("moving"), falling: tokens("falling"), sum: tokens("sum"),
    };
});

test("every number at chosen clocks is the engine's, in every dataflow", async () => {
    const page = await open([DEVICE, ...MATMUL]);
    for (const [index, dataflow] of ["ws", "os", "is"].entries()) {
        systole("wave", DEVICE, ...MATMUL, "--set", `mxu.dataflow=${dataflow}`, "-o", "wave.vcd");
        const vcd = new Vcd(readFileSync(join(shop.folder, "wave.vcd"), "utf8"));
        const panel = page.locator(".panel").nth(index);
        const cycles = Number(/of (\d+)/.exec(await panel.locator(".place").textContent())[1]);
        for (let t = 1; t <= cycles; t += 3) {
            await seek(page, t);
            const now = await shown(panel);
            for (let pe = 0; pe < 16; ++pe) {
                const [row, col] = [Math.floor(pe / 4), pe % 4];
                const read = (name) => vcd.at(`${DEVICE}.mxu0.pe_${row}_${col}.${name}`, 1000 * (t - 1));
                const place = `${dataflow}, clock ${t}, PE(${row}, ${col})`;
                const valid = read("valid") === 1;
                assert.equal(now.moving[pe], valid ? read("moving") : null, place);
                assert.equal(now.stays[pe], read(dataflow === "os" ? "sum" : "stationary"), place);
                assert.equal(now.states[pe] === "useful", valid && read("real") === 1, place);
                assert.equal(now.states[pe] === "padding", valid && read("real") === 0, place);
                if (dataflow === "os") {
                    assert.equal(now.falling[pe], valid ? read("stationary") : null, place);
                    const leaves = vcd.at(`${DEVICE}.mxu0.bottom.valid_${col}`, 1000 * (t - 1)) === 1;
                    if (row === 3) assert.equal(now.sum[pe], leaves ? vcd.at(`${DEVICE}.mxu0.bottom.col_${col}`, 1000 * (t - 1)) : null, place);
                    else if (now.sum[pe] !== null) assert.equal(now.sum[pe], read("result"), place);
                } else {
                    assert.equal(now.sum[pe], valid ? read("sum") : null, place);
                    assert.equal(now.next[pe], read("shadow"), place);
                }
            }
        }
    }
    await done(page);
});

test("finished outputs move down from row to row, and none is shown twice", async () => {
    const page = await open([DEVICE, ...MATMUL, "--dataflow", "os"]);
    systole("wave", DEVICE, ...MATMUL, "--set", "mxu.dataflow=os", "-o", "wave.vcd");
    const vcd = new Vcd(readFileSync(join(shop.folder, "wave.vcd"), "utf8"));
    const cycles = Number(/of (\d+)/.exec(await page.locator(".place").textContent())[1]);
    const shifts = [0, 0, 0, 0];  // of a column, so far; a tile's four rows take four
    for (let t = 1; t <= cycles; ++t) {
        await seek(page, t);
        const { sum } = await shown(page.locator(".panel"));
        for (let col = 0; col < 4; ++col) {
            const moves = vcd.at(`${DEVICE}.mxu0.shift.col_${col}`, 1000 * (t - 1)) === 1;
            const step = moves ? shifts[col]++ % 4 : 3;  // in step k, row r has the output of row r - 1 - k
            for (let row = 0; row < 3; ++row) assert.equal(sum[4 * row + col] !== null, row > step, `clock ${t}, PE(${row}, ${col})`);
        }
    }
    assert.ok(shifts.every((count) => count > 0 && count % 4 === 0));
    await done(page);
});

test("the last clock is the cycle count, and the counters end in the run's utilization", async () => {
    const page = await open([DEVICE, ...MATMUL]);
    await page.keyboard.press("End");
    for (const [index, dataflow] of ["ws", "os", "is"].entries()) {
        const { total } = JSON.parse(systole("op", DEVICE, ...MATMUL, "--set", `mxu.dataflow=${dataflow}`, "--format", "json")).devices[0];
        const panel = page.locator(".panel").nth(index);
        assert.equal(await panel.locator(".place").textContent(), `clock ${total.cycles} of ${total.cycles}, finished`);
        const share = `${(100 * total.utilization).toFixed(1)} %`;
        const sentence = await panel.locator(".utilization").textContent();
        assert.ok(sentence.startsWith("Utilization of the run:") && sentence.endsWith(`= ${share}`), sentence);
        const cells = await panel.locator(".counts .counters tbody tr").evaluateAll((rows) =>
            rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)));
        assert.equal(value(cells[0][1]), 6 * 5 * 7, "useful PE-cycles are the product's MACs");
        assert.equal(cells[0][2], share);
        assert.equal(cells.reduce((sum, row) => sum + value(row[1]), 0), 16 * total.cycles);
    }
    await done(page);
});

test("a network's run that ends within a clock has its own utilization, too", async () => {
    const page = await open([DEVICE, "three_layers", "--dataflow", "ws"]);
    const { total } = JSON.parse(systole("run", DEVICE, "three_layers", "--format", "json")).devices[0];
    await page.keyboard.press("End");
    const sentence = await page.locator(".utilization").textContent();
    assert.ok(sentence.endsWith(`= ${(100 * total.utilization).toFixed(1)} %. The run ends within its last clock`), sentence);
    // What goes on is the account's to say: outputs go to the host last.
    assert.equal(await page.locator(".sentence").textContent(),
                 "The array has no more to do; until the run ends, results move over the host's link (outputs of classes).");
    await done(page);
});

test("keys step, jump and play, and arrows go from PE to PE within an array", async () => {
    const page = await open([DEVICE, ...MATMUL]);
    const clock = async () => Number(/^clock ([\d,]+)/.exec(await page.locator("output.clock").textContent())[1]);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowLeft");
    assert.equal(await clock(), 1);
    await page.keyboard.press("Home");
    assert.equal(await clock(), 0);
    await page.keyboard.press("Space");
    assert.equal(await page.locator("button.play").textContent(), "Pause");
    assert.equal(await page.locator(".sentence").first().getAttribute("aria-live"), "off");
    await page.waitForFunction(() => Number(document.getElementById("scrub").value) > 0);
    await page.keyboard.press("Space");
    assert.equal(await page.locator("button.play").textContent(), "Play");
    assert.equal(await page.locator(".sentence").first().getAttribute("aria-live"), "polite");
    await seek(page, 20);
    await page.locator(".pe").first().focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    assert.equal(await clock(), 20);
    const focused = page.locator(".pe:focus");
    assert.match(await focused.getAttribute("aria-label"), /^PE row 1, column 1: /);
    assert.equal(await focused.getAttribute("aria-pressed"), "true");
    assert.match(await page.locator(".pe-now").first().textContent(), /^PE row 1, column 1/);
    assert.ok(await page.locator(".history tbody tr").count() > 1);
    await done(page);
});

test("a PE's history is its registers, value by value", async () => {
    const page = await open([DEVICE, ...MATMUL, "--dataflow", "ws"]);
    await page.locator(".pe").nth(6).click();
    await page.keyboard.press("End");
    systole("wave", DEVICE, ...MATMUL, "-o", "wave.vcd");
    const vcd = new Vcd(readFileSync(join(shop.folder, "wave.vcd"), "utf8"));
    const lines = await page.locator(".history tbody tr").evaluateAll((rows) =>
        rows.map((row) => [...row.children].map((cell) => cell.textContent)));
    assert.ok(lines.length > 5);
    for (const [clock, moving, stationary, sum] of lines) {
        const read = (name) => vcd.at(`${DEVICE}.mxu0.pe_1_2.${name}`, 1000 * (value(clock) - 1));
        assert.equal(read("valid"), moving === "–" ? 0 : 1);
        if (moving === "–") continue;
        assert.deepEqual([value(moving), value(stationary), value(sum)], ["moving", "stationary", "sum"].map(read), `clock ${clock}`);
    }
    await done(page);
});

test("panels may have clocks of their own", async () => {
    const page = await open(["--lesson", "double_buffering"]);
    await page.locator("#share").uncheck();
    await page.getByLabel("Clock of Without").fill("9");
    const places = await page.locator(".place").allTextContents();
    assert.match(places[0], /^clock 0 of /);
    assert.match(places[1], /^clock 9 of /);
    await done(page);
});

test("what moves slides, unless somebody likes no motion", async () => {
    for (const [motion, slides] of [["no-preference", true], ["reduce", false]]) {
        const page = await open([DEVICE, ...MATMUL], { motion });
        await seek(page, 19);
        await page.keyboard.press("Home");
        await seek(page, 19);
        await page.locator("h1").click();
        await page.keyboard.press("ArrowRight");
        const animations = await page.evaluate(() => document.getAnimations().length);
        assert.equal(animations > 0, slides, motion);
        await done(page);
    }
});

test("a warp's tile counts its tensor core's clocks", async () => {
    const page = await open(["--lesson", "tensor_core"]);
    await page.keyboard.press("End");
    const data = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent));
    const tiles = data.panels.filter((panel) => panel.kind === "warp_tile");
    assert.equal(tiles.length, 3);
    for (const [index, tile] of tiles.entries()) {
        const sentence = await page.locator(".panel").nth(1 + index).locator(".utilization").textContent();
        assert.ok(sentence.includes(`${tile.busy} of ${tile.cycles} clocks = ${(100 * tile.busy / tile.cycles).toFixed(1)} %`), sentence);
    }
    await done(page);
});

/** The accumulators that a panel shows: by row and column, what stands in a box, and whether it is marked. */
const accumulators = (panel) => panel.evaluate((node) => {
    const boxes = [...node.querySelectorAll(".sums rect")];
    return boxes.map((box) => ({ text: box.nextElementSibling.textContent, written: box.getAttribute("class") === "written" }));
});

for (const folds of [1, 2])
    test(`an accumulator that is written is marked, and one that holds 0 says so: folds of k: ${folds}`, async () => {
        const words = [DEVICE, "matmul", "m=6", "n=4", `k=${4 * folds}`, "--dataflow", "ws"];
        const page = await open(words);
        systole("wave", ...words.slice(0, -2), "--set", "mxu.dataflow=ws", "-o", "wave.vcd");
        const vcd = new Vcd(readFileSync(join(shop.folder, "wave.vcd"), "utf8"));
        const cycles = Number(/of (\d+)/.exec(await page.locator(".place").textContent())[1]);
        let marks = 0;
        const seen = new Set();
        for (let t = 1; t <= cycles; ++t) {
            await seek(page, t);
            const boxes = await accumulators(page.locator(".panel"));
            for (let col = 0; col < 4; ++col) {
                // What leaves a column is written at once: an accumulator's latency is one clock here.
                const leaves = vcd.at(`${DEVICE}.mxu0.bottom.valid_${col}`, 1000 * (t - 1)) === 1;
                const marked = boxes.map((box, index) => ({ ...box, index })).filter((box) => box.index % 4 === col && box.written);
                assert.equal(marked.length, leaves ? 1 : 0, `clock ${t}, column ${col}`);
                marks += marked.length;
                for (const { index } of marked) seen.add(index);
            }
            for (let index = 0; index < 24; ++index) {
                const holds = vcd.at(`${DEVICE}.mxu0.acc_${Math.floor(index / 4)}.col_${index % 4}`, 1000 * (t - 1));
                assert.equal(boxes[index].text, seen.has(index) ? String(holds).replace("-", "−") : "", `clock ${t}, accumulator ${index}`);
            }
        }
        assert.equal(marks, folds * 24);
        if (folds === 1) assert.ok((await accumulators(page.locator(".panel"))).some((box) => box.text === "0"));
        await done(page);
    });

test("passes that keep the weights of the one before say so", async () => {
    const page = await open(["--lesson", "dataflows"]);
    const passes = () => page.locator(".panel p.dataflow:nth-of-type(2)").allTextContents();
    assert.deepEqual(await passes(), ["2 passes to come, with 1 tile of weights.", "2 passes to come.", "2 passes to come."]);
    await page.keyboard.press("End");
    const texts = await passes();
    assert.equal(texts[0], "Pass 2 of 2, same weights: m 3…5, n 0…3, k 0…3.");
    assert.equal(texts[1], "Pass 2 of 2: m 4…5, n 0…3, k 0…3.");
    await done(page);
});

test("the products of attention have their names", async () => {
    const page = await open([DEVICE, "attention", "batch=1", "q_len=4", "kv_len=4", "heads=1", "head_dim=4", "--dataflow", "ws"]);
    const seen = new Set();
    const cycles = Number(/of (\d+)/.exec(await page.locator(".place").textContent())[1]);
    for (let t = 1; t <= cycles; ++t) {
        await seek(page, t);
        const pass = /^Pass \d+ of \d+, ([^,:]+)/.exec(await page.locator("p.dataflow").nth(1).textContent())?.[1];
        const label = await page.locator(".pe").first().getAttribute("aria-label");
        const operands = /that is ([a-z]+)\[\d,\d\] × ([a-z]+)\[\d,\d\] for ([a-z]+)\[/.exec(label);
        const stays = /^([A-Z][a-z]+) stay in the PEs/.exec(await page.locator("p.dataflow").first().textContent())[1];
        if (operands) seen.add([pass, ...operands.slice(1), stays].join(" "));
    }
    assert.deepEqual([...seen].sort(), ["context (shares × v) share v out Values", "scores (q × kᵀ) q k score Keys"]);
    await done(page);
});

test("an operator without a product has one panel that says so", async () => {
    const page = await open([DEVICE, "softmax", "rows=4", "cols=4"]);
    assert.equal(await page.locator(".panel").count(), 1);
    assert.equal(await page.locator("p.dataflow").first().textContent(), "Nothing is multiplied on the arrays in this run: other units do its work.");
    assert.match(await page.locator(".left-out").textContent(), /nothing is multiplied/);
    await seek(page, 10);
    assert.equal(await page.locator(".sentence").textContent(), "The array has nothing to do; the vector unit works (work of softmax).");
    await done(page);
});

test("one clock is a clock", async () => {
    const page = await open([DEVICE, ...MATMUL, "--set", "mxu.rows=1", "--set", "mxu.cols=1", "--dataflow", "ws"]);
    await seek(page, 1);
    assert.match(await page.locator(".utilization").textContent(), / of 1 PE × 1 clock = /);
    await done(page);
});

test("a window's end is not the run's", async () => {
    const page = await open([DEVICE, ...MATMUL, "--dataflow", "ws", "--cycles", "10:20"]);
    await page.keyboard.press("End");
    assert.match(await page.locator(".place").textContent(), /^clock 20 of 20 \(the run: \d+\), the window's end$/);
    await done(page);
});

test("a preset that divides by other clocks has both of its utilizations explained", async () => {
    const words = ["scalesim", "matmul", "m=6", "n=4", "k=4", "--set", "mxu.rows=4", "--set", "mxu.cols=4"];
    const page = await open([...words, "--dataflow", "ws"]);
    const { total } = JSON.parse(systole("op", ...words, "--set", "mxu.dataflow=ws", "--format", "json")).devices[0];
    await page.keyboard.press("End");
    const useful = /= ([\d.]+ %)/.exec(await page.locator(".utilization").textContent())[1];
    const reported = `${(100 * total.utilization).toFixed(1)} %`;
    assert.notEqual(useful, reported);
    assert.equal(await page.locator(".account summary").textContent(), `The run's account: useful ${useful}, reported as utilization ${reported}`);
    await page.locator(".account summary").click();
    assert.match(await page.locator(".account p").textContent(), /reproduces another simulator/);
    await done(page);
});

for (const width of [1000, 1280, 1920])
    test(`an array of 16 x 16 fits its panel on a page of ${width} px`, async () => {
        const page = await open(["--lesson", "tensor_core"], { width });
        const hidden = await page.locator(".figure").evaluateAll((figures) => figures.map((figure) => figure.scrollWidth - figure.clientWidth));
        assert.deepEqual(hidden, [0, 0, 0, 0]);
        await done(page);
    });

test("every sign in the figures stands in a legend", async () => {
    const page = await open(["--lesson", "tensor_core"]);
    const [arrays, tiles] = await page.locator(".legend").evaluateAll((lists) =>
        lists.map((list) => [...list.querySelectorAll("li")].map((entry) => entry.textContent).join("; ")));
    for (const text of ["operand from above", "sum, moves down", "in a corner: of the next tile", "written in this clock"])
        assert.ok(arrays.includes(text), arrays);
    for (const text of ["block of a", "block of b", "results, darker"]) assert.ok(tiles.includes(text), tiles);
    const colour = (selector, property) => page.locator(selector).first().evaluate((node, name) => getComputedStyle(node)[name], property);
    await page.keyboard.press("End");
    for (const [sign, drawn] of [[".arrow.falling", ".token.falling path"], [".legend .arrow.down:not(.falling)", ".token.sum path"],
                                 [".arrow.right", ".token.moving path"]])
        assert.equal(await colour(sign, "backgroundColor"), await colour(drawn, "fill"), drawn);
    const foot = await page.locator("footer").textContent();
    assert.match(foot, /Every number in them is a register of the PE grid/);
    assert.match(foot, /no values are computed/);
    await done(page);
});

test("a warp that waits says for what", async () => {
    const page = await open(["--lesson", "tensor_core"]);
    const tile = (index) => page.locator(".panel").nth(index);
    const cycles = async (index) => Number(/of (\d+)/.exec(await tile(index).locator(".place").textContent())[1]);
    const last = await cycles(1);
    assert.equal(last, 4 * 8 + 3 * 25);
    for (let t = 1; t <= last; ++t) {
        await seek(page, t);
        const at = (t - 1) % 33;
        const number = Math.floor((t - 1) / 33) + 1;
        const text = await tile(1).locator(".sentence").textContent();
        if (at < 8) assert.match(text, new RegExp(`^Instruction ${number} of 4, clock ${at + 1} of 8: `));
        else assert.equal(text, `Instruction ${number + 1} waits for the sums of instruction ${number}, to which it adds: the latency.`);
    }
    const told = new Set();
    for (let t = 1; t <= await cycles(3); ++t) {
        await seek(page, t);
        assert.match(await tile(2).locator(".sentence").textContent(), t <= 512 ? /^Instruction \d+ of 64, clock/ : /./);
        const text = await tile(3).locator(".sentence").textContent();
        if (!text.includes(" products for ")) told.add(text.replaceAll(/\d+/g, "N"));
    }
    assert.ok([...told].some((text) => text.startsWith("The warp is at a barrier")));
    assert.ok([...told].every((text) => !text.includes("the sums of")), [...told].join("\n"));
    await done(page);
});

test("names that want to be HTML stay text", async () => {
    const name = "</script><img src=x onerror=alert(1)>";
    writeFileSync(join(shop.folder, "own.yaml"), JSON.stringify({
        lesson: name, summary: name, look_at: name, question: name, answer: name,
        runs: [{ title: name, device: DEVICE, operator: { op: "matmul", m: 2, n: 2, k: 2 } }],
    }));
    const page = await open(["--lesson", "own.yaml"]);
    assert.equal(await page.locator("h1").textContent(), name);
    assert.equal(await page.locator(".panel h2").textContent(), name);
    assert.equal(await page.locator("img").count(), 0);
    await done(page);
});

for (const [name, words] of [
    ["a product", [DEVICE, ...MATMUL]],
    ["a network", [DEVICE, "three_layers"]],
    ["the lesson of dataflows", ["--lesson", "dataflows"]],
    ["the lesson of a tensor core", ["--lesson", "tensor_core"]],
    ["an array of 16 x 16", [DEVICE, "matmul", "m=20", "n=16", "k=16", "--set", "mxu.rows=16", "--set", "mxu.cols=16", "--dataflow", "os"]],
])
    for (const scheme of ["light", "dark"])
        test(`axe finds nothing on the page of ${name}, ${scheme}`, async () => {
            const page = await open(words, { scheme, width: scheme === "light" ? 1280 : 400 });
            await accessible(page);
            await seek(page, 22);
            await page.locator(".pe").nth(1).click();
            for (const summary of await page.locator("summary").all()) await summary.click();
            if (await page.locator("#share").count()) await page.locator("#share").uncheck();
            await accessible(page);
            const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
            assert.ok(wide <= 0, `the page is ${wide} px too wide`);
            await done(page);
        });
