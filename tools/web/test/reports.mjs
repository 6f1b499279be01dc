// SPDX-License-Identifier: Apache-2.0
// What tests of reports ask of a page: its figures, the rows behind them, and what their numbers say.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The report of what the program wrote, open and drawn. */
export async function opened(shop, file, options) {
    const page = await shop.open(file, options);
    await page.waitForFunction(() => document.documentElement.dataset.ready, null, { timeout: 60_000 });
    return page;
}

/** What the program wrote, as it is there. */
export const resultIn = (shop, file = "out/result.json") => JSON.parse(readFileSync(join(shop.folder, file), "utf8"));
/** Figures with `title` in theirs. */
export const figure = (page, title) => page.locator("figure.chart", { has: page.locator("h3", { hasText: title }) });

/** The rows of a figure's data, as text. */
export async function rows(page, title) {
    const details = figure(page, title).first().locator("details.data");
    if (!(await details.evaluate((node) => node.open))) await details.locator("summary").click();
    // The table is made when the browser tells of the opening, which is a moment later.
    await details.locator("tbody tr").first().waitFor();
    return details.locator("tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
}

/** What a number with a prefix says: "164.6 µs" → 1.646e-4. */
export function value(text) {
    const [, digits, prefix] = /^([\d.,]+(?:e[+-]?\d+)?) ?([YZEPTGMkmµnpf]?)/.exec(text);
    const factor = { Y: 1e24, Z: 1e21, E: 1e18, P: 1e15, T: 1e12, G: 1e9, M: 1e6, k: 1e3, "": 1, m: 1e-3, "µ": 1e-6, n: 1e-9, p: 1e-12, f: 1e-15 };
    return Number(digits.replaceAll(",", "")) * factor[prefix];
}

/** That `text` says `expected`, as far as its digits go. */
export function near(text, expected, what) {
    assert.ok(Math.abs(value(text) - expected) <= 1e-3 * Math.abs(expected), `${what}: ${text} instead of ${expected}`);
}

/** On paper the page has no controls, every sign of its legends, and nothing beyond A4: upright, or across for tables of many columns. */
export async function printsWell(page) {
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator("nav").isVisible(), false);
    assert.equal(await page.locator(".controls").first().isVisible(), false);
    await page.evaluate(() => { document.body.style.width = "703px"; });
    const beyond = await page.evaluate(() => [...document.querySelectorAll("svg, canvas, table")]
        .filter((part) => part.getBoundingClientRect().right > document.body.getBoundingClientRect().left + (part.matches(".broad") ? 1031 : 703) + 1)
        .map((part) => `${part.tagName} of ${part.closest("figure")?.querySelector("h3").textContent}`));
    assert.deepEqual(beyond, []);
    for (const sign of await page.locator("figure.chart .legend li").all()) assert.equal(await sign.locator("svg path").count(), 1);
    await page.emulateMedia({ media: null });
    assert.ok((await page.pdf()).length > 20_000);
}
