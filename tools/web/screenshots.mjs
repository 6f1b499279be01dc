// SPDX-License-Identifier: Apache-2.0
// Screenshots of pages that the program writes, for the README and the course, by Debian's chromium: explorers at a chosen
// clock, a report from a place on.
// Unlike the other pictures they are not held byte for byte: fonts and chromium's version show.
//
//   SYSTOLE=build/systole SYSTOLE_HOME=. node tools/web/screenshots.mjs docs/pictures
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";

// file: what is explored, the clock that is shown, how wide the page is, and pixels for each of its own (a picture is 100 kB at most).
const EXPLORERS = {
    "course/explorer_dataflows.png": { words: ["--lesson", "dataflows"], clock: 14, width: 1140, scale: 0.7 },
    "course/explorer_double_buffering.png": { words: ["--lesson", "double_buffering"], clock: 18, width: 760, scale: 1 },
};
// file: whose report, from which section on, and how much of it.
const REPORTS = {
    "report.png": { words: ["compare", "resnet50", "--device", "tpu_v4", "--device", "h100"], section: "#time", width: 1180, height: 900, scale: 0.75 },
};

const program = resolve(process.env.SYSTOLE ?? "build/systole");
const [target] = process.argv.slice(2);
if (!target) {
    console.error("usage: node tools/web/screenshots.mjs FOLDER");
    process.exit(2);
}

/** Makes the page of `words` in `folder` and photographs its panels at `clock`. */
async function photograph(browser, folder, file, { words, clock, width, scale }) {
    execFileSync(program, ["explore", ...words, "-o", "page.html"], { cwd: folder, stdio: "ignore" });
    const context = await browser.newContext({ viewport: { width, height: 900 }, deviceScaleFactor: scale, colorScheme: "light", reducedMotion: "reduce" });
    const page = await context.newPage();
    await page.goto(`file://${join(folder, "page.html")}`);
    await page.locator(".panel").first().waitFor();
    await page.locator("#scrub").fill(String(clock));
    // From the panels' titles to the feet of the arrays.
    const boxes = (locator) => locator.all().then((all) => Promise.all(all.map((one) => one.boundingBox())));
    const panels = await boxes(page.locator(".panel")), arrays = await boxes(page.locator(".panel svg").filter({ hasText: "acc" }));
    const x = Math.min(...panels.map((box) => box.x)), y = Math.min(...panels.map((box) => box.y));
    const right = Math.max(...panels.map((box) => box.x + box.width)), bottom = Math.max(...arrays.map((box) => box.y + box.height));
    await page.screenshot({ path: join(target, file), fullPage: true, clip: { x, y, width: right - x, height: bottom - y } });
    await context.close();
}

/** Makes the report of `words` in `folder` and photographs it from `section` on. */
async function photographReport(browser, folder, file, { words, section, width, height, scale }) {
    execFileSync(program, [...words, "--report", "page.html"], { cwd: folder, stdio: "ignore" });
    const context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor: scale, colorScheme: "light", reducedMotion: "reduce" });
    const page = await context.newPage();
    await page.goto(`file://${join(folder, "page.html")}`);
    await page.waitForFunction(() => document.documentElement.dataset.ready);
    await page.locator(section).scrollIntoViewIfNeeded();
    await page.locator(section).evaluate((node) => node.scrollIntoView());
    await page.screenshot({ path: join(target, file) });
    await context.close();
}

const folder = mkdtempSync(join(tmpdir(), "screenshots-"));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
    for (const [file, shot] of Object.entries(EXPLORERS)) await photograph(browser, folder, file, shot);
    for (const [file, shot] of Object.entries(REPORTS)) await photographReport(browser, folder, file, shot);
} finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
}
