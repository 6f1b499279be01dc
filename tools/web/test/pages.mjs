// SPDX-License-Identifier: Apache-2.0
// Opens pages that systole wrote in a real browser, and collects what they should not do.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { chromium } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A browser and a scratch folder for the tests of one file. */
export function workshop() {
    const shop = { browser: null, folder: null };
    before(async () => {
        shop.folder = mkdtempSync(join(tmpdir(), "pages-"));
        // Tests may run as root, which chromium's sandbox refuses.
        shop.browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
    });
    after(async () => {
        await shop.browser?.close();
        rmSync(shop.folder, { recursive: true, force: true });
    });
    /** Runs the program in the scratch folder. */
    shop.systole = (...words) =>
        execFileSync(process.env.SYSTOLE, words, { cwd: shop.folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });
    /** A new page of `file`; `page.complaints` collects messages, faults and requests. */
    shop.open = async (file, { width = 1280, scheme = "light", motion = "reduce" } = {}) => {
        const context = await shop.browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, reducedMotion: motion });
        const page = await context.newPage();
        page.complaints = [];
        page.on("console", (message) => page.complaints.push(message.text()));
        page.on("pageerror", (error) => page.complaints.push(error.message));
        page.on("request", (request) => {
            if (!/^(file|data|blob):/.test(request.url())) page.complaints.push(request.url());
        });
        await page.goto(`file://${join(shop.folder, file)}`);
        return page;
    };
    return shop;
}

/** Nothing was complained of, and the page goes. */
export async function done(page) {
    assert.deepEqual(page.complaints, []);
    await page.context().close();
}

/** axe-core finds nothing. */
export async function accessible(page) {
    // The page's own policy allows no code from text; the checker is not the page.
    await page.evaluate(AXE);
    const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    const told = found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`).join("; ")}`);
    assert.deepEqual(told, []);
}
