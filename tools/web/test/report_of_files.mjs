// SPDX-License-Identifier: Apache-2.0
// Reports of files in a real browser: whatever users' names and results hold stays text and breaks nothing, and what the page
// tells for getting the figures again does so.
//
//   SYSTOLE=build/systole SYSTOLE_HOME=. node --test tools/web/test/report_of_files.mjs
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { done, workshop } from "./pages.mjs";
import { figure, opened, resultIn, rows } from "./reports.mjs";

const shop = workshop();
const HOSTILE = `</script><img src="x" onerror="window.hacked = 1">`;
const open = (file, options) => opened(shop, file, options);
const result = (file) => resultIn(shop, file);

before(() => shop.systole("run", "tpu_v4", "resnet50", "-o", "out"));

test("names that objects know, and names without end, break nothing", async () => {
    shop.systole("compare", "three_layers", "--device", "__proto__=teaching_4x4", "--device", "constructor=teaching_4x4", "--report", "proto.html");
    const page = await open("proto.html");
    const undrawn = await page.locator("figure.chart").evaluateAll((all) => all.filter((one) => one.dataset.drawn !== "yes").map((one) => one.querySelector("h3").textContent));
    assert.deepEqual(undrawn, []);
    const axis = await figure(page, "Capacity of the matrix units").locator(".drawing svg .role-axis-label text").allTextContents();
    assert.deepEqual(axis.filter((text) => /[a-z]/.test(text)), ["__proto__", "constructor"]);
    await done(page);
    const long = result();
    long.devices[0].device = long.devices[0].trace = "d".repeat(3000);
    for (const layer of long.devices[0].layers) layer.name = `${"n".repeat(3000)}${layer.name}`;
    writeFileSync(join(shop.folder, "long.json"), JSON.stringify(long));
    shop.systole("report", "long.json", "-o", "long.html");
    const wide = await open("long.html");
    assert.ok((await wide.evaluate(() => document.documentElement.scrollWidth)) <= 1280, "the page is as wide as a name");
    await done(wide);
});

test("a result without layers has no empty charts", async () => {
    const bare = result();
    bare.devices[0].layers = [];
    writeFileSync(join(shop.folder, "bare.json"), JSON.stringify(bare));
    shop.systole("report", "bare.json", "-o", "bare.html");
    const page = await open("bare.html");
    assert.equal(await figure(page, "Time of each layer").count(), 0);
    assert.equal(await figure(page, "Capacity of the matrix units").count(), 1);
    await done(page);
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

test("what a report of a file tells for getting it again gives its figures", async () => {
    shop.systole("run", "teaching_4x4", "three_layers", "--set", "workload.batch=3", "--set", "run.inputs_at=dram", "--set", "mxu.rows=8", "-o", "three");
    shop.systole("report", "three/result.json", "-o", "three.html");
    const page = await open("three.html");
    const texts = await page.locator("#source pre").allTextContents();
    const command = texts.find((text) => text.startsWith("systole run ./teaching_4x4.yaml three_layers "));
    assert.match(command, / --set workload\.batch=3 --set workload\.dtype=int8$/);
    writeFileSync(join(shop.folder, "teaching_4x4.yaml"), texts.find((text) => text.includes("extends") || text.includes("kind:")));
    const again = execFileSync("sh", ["-c", command.replace(/^systole/, '"$SYSTOLE"') + " --format json"], { cwd: shop.folder, encoding: "utf8" });
    assert.deepEqual(JSON.parse(again).devices[0].total, result("three/result.json").devices[0].total);
    await done(page);
});

test("a result without parameters says that they are not known", async () => {
    const json = result("three/result.json");
    delete json.devices[0].parameters;
    writeFileSync(join(shop.folder, "older.json"), JSON.stringify(json));
    shop.systole("report", "older.json", "-o", "older.html");
    const page = await open("older.html");
    assert.match(await page.locator("#source").textContent(), /some of these results do not say them/);
    await done(page);
    json.devices[0].parameters = { batch: [1] };
    writeFileSync(join(shop.folder, "older.json"), JSON.stringify(json));
    assert.throws(() => shop.systole("report", "older.json", "-o", "older.html"), /parameters\.batch: expected a whole number/);
});
