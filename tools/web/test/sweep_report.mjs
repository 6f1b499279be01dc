// SPDX-License-Identifier: Apache-2.0
// Reports of sweeps in a real browser: what came of it in words, the front, and points that are chosen in drawings and by keys.
//
//   SYSTOLE=build/systole SYSTOLE_HOME=. node --test tools/web/test/sweep_report.mjs
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { accessible, done, workshop } from "./pages.mjs";
import { figure, opened, printsWell } from "./reports.mjs";

const shop = workshop();
const open = (file, options) => opened(shop, file, options);

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
    const column = (n) => table.locator("tr").evaluateAll((all, at) => all.map((row) => row.children[at].textContent), n);
    const pes = (await column(5)).map(Number);
    assert.deepEqual(pes, [...pes].sort((a, b) => b - a));
    const words = await page.locator("#summary").textContent();
    assert.match(words, new RegExp(`^Summary6 points: 6 done\\. ${front} of them (is|are) on the Pareto front of time_ns and pes`));
    assert.match(words, /Least pes: 16, with mxu\.rows=4, mxu\.cols=4, pes=16/);
    assert.match(await figure(page, "Pareto front").locator(".drawing svg").textContent(), /time \(ns\)/);
    assert.ok((await page.locator("#source").textContent()).includes("systole sweep ./experiment.yaml"));
    assert.ok((await page.locator("#source pre").allTextContents()).includes(readFileSync(join(shop.folder, "sweep.yaml"), "utf8")));
    // Around one point: those that lie there are left.
    const chosen = (count) => page.locator("[role=status]", { hasText: `${count} of 6 points are chosen` }).waitFor({ timeout: 10_000 });
    const everything = () => page.locator("[role=status]", { hasText: "Points on the front are marked" }).waitFor({ timeout: 10_000 });
    await page.evaluate(() => window.scrollTo(0, 0));
    await figure(page, "Pareto front").scrollIntoViewIfNeeded();
    const drag = async (x, y, toX, toY) => {
        await page.mouse.move(x, y);
        await page.mouse.down();
        await page.mouse.move(toX, toY, { steps: 5 });
        await page.mouse.up();
    };
    const point = await figure(page, "Pareto front").locator(".drawing svg .mark-symbol.role-mark path").first().boundingBox();
    await drag(point.x - 12, point.y - 12, point.x + point.width + 12, point.y + point.height + 12);
    await chosen(1);
    assert.equal(await table.locator("tr").count(), 1);
    const dashes = () => figure(page, "Pareto front").locator(".drawing svg path[stroke-dasharray]").count();
    assert.equal(await dashes(), 1);
    // Other axes: nothing is chosen any more, and a front of other figures has no line.
    await figure(page, "Pareto front").locator("select").first().selectOption({ label: "mxu.rows" });
    await everything();
    assert.equal(await table.locator("tr").count(), 6);
    assert.equal(await dashes(), 0);
    // Along an upright of the parallel coordinates: the upper half of mxu.rows, the first one.
    const upright = await figure(page, "Pareto front").locator(".drawing svg .mark-group.role-scope .background").last().boundingBox();
    const lines = await figure(page, "Pareto front").locator(".drawing svg .mark-line.role-mark path").first().boundingBox();
    await drag(lines.x - 15, upright.y + upright.height * 0.4, lines.x + 15, upright.y + 2);
    await chosen(3);
    assert.deepEqual(await column(3), ["8", "8", "8"]);
    assert.equal(await figure(page, "Pareto front").locator(".drawing svg .mark-line.role-mark path[opacity='0.04']").count(), 3);
    await figure(page, "Pareto front").locator("select").first().selectOption({ label: "time_ns" });
    await everything();
    // By keys.
    await figure(page, "Pareto front").locator("summary", { hasText: "Choose points by values" }).press("Enter");
    await page.getByLabel("mxu.cols from").selectOption({ label: "16" });
    await chosen(2);
    assert.deepEqual(await column(4), ["16", "16"]);
    await accessible(page);
    await done(page);
});

test("a front joins its points along what is worse: whichever way an axis is better", async () => {
    writeFileSync(join(shop.folder, "max.yaml"), `experiment: speed
device: teaching_4x4
trace: three_layers
axes: {mxu.rows: [4, 8, 16], mxu.cols: [4, 8, 16]}
objectives: [{max: utilization}, time_ns]
`);
    shop.systole("sweep", "max.yaml", "-o", "max", "--report", "max.html");
    const page = await open("max.html");
    const path = await figure(page, "Pareto front").locator(".drawing svg path[stroke-dasharray]").getAttribute("d");
    // Utilization runs to the right and more of it is better: from a point the line first goes up or down, then right.
    const corners = path.slice(1).split("L").map((pair) => pair.split(",").map(Number));
    assert.ok(corners.length >= 3, path);
    assert.equal(corners[0][0], corners[1][0], path);
    await done(page);
});

test("what has no value comes last, whichever way a table is sorted", async () => {
    const html = readFileSync(join(shop.folder, "sweep.html"), "utf8");
    const place = /(<script id="data" type="application\/json">)([^]*?)(<\/script>)/;
    const data = JSON.parse(place.exec(html)[2]);
    data.sweep.rows[2][5] = null;
    writeFileSync(join(shop.folder, "missing.html"), html.replace(place, (_, before, __, after) => before + JSON.stringify(data).replaceAll("<", "\\u003c") + after));
    const page = await open("missing.html");
    for (const _ of [0, 1]) {
        await figure(page, "All points").locator("thead button", { hasText: "pes" }).click();
        assert.equal(await figure(page, "All points").locator("tbody tr").last().locator("td").nth(4).textContent(), "–");
    }
    await done(page);
});

test("a sweep on paper has all of its points, and nothing beyond the paper", async () => {
    const page = await open("sweep.html");
    await printsWell(page);
    await done(page);
});
