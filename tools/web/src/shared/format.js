// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them: SI prefixes, thousands separators, percent.

const PREFIXES = [
    [1e24, "Y"], [1e21, "Z"], [1e18, "E"], [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"],
    [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"], [1e-15, "f"],
];

/** The prefix under which `value` has one to three digits before the point: {factor, prefix}. */
export function prefixOf(value) {
    const size = Math.abs(value);
    if (!(size > 0) || !Number.isFinite(size)) return { factor: 1, prefix: "" };
    const [factor, prefix] = PREFIXES.find(([one]) => size >= one * 0.99995) ?? PREFIXES.at(-1);
    return { factor, prefix };
}

/** Four significant digits, without an exponent where that can be read. */
export function number(value) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    if (Number.isInteger(value)) return value.toLocaleString("en-US");
    const size = Math.abs(value);
    if (size >= 1e4) return Math.round(value).toLocaleString("en-US");
    if (size !== 0 && size < 1e-3) return value.toExponential(3);
    return String(Number(value.toPrecision(4)));
}

/** "164.6 µs" of 1.646e-4 and "s". */
export function si(value, unit) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    const { factor, prefix } = prefixOf(value);
    return `${number(value / factor)} ${prefix}${unit}`.trimEnd();
}

/** A quantity in a unit that has a prefix already: "12.0 TB/s" of 12003 and "GB/s". */
export function inUnit(value, unit) {
    const [, prefix, base] = /^([YZEPTGMkmµnpf]?)((?:B|OP|FLOP|Hz|W|J|s)(?:\/s)?)$/.exec(unit) ?? [];
    if (base === undefined) return `${number(value)} ${unit}`.trimEnd();
    return si(value * PREFIXES.find(([, one]) => one === prefix)[0], base);
}

/** How many times: three digits are what a comparison is worth. */
export const times = (factor) => (factor >= 1000 ? Math.round(factor).toLocaleString("en-US") : String(Number(factor.toPrecision(3))));

/** "1 image", "8 images", "2,000 queries": `things` is the plural. */
export function counted(count, things) {
    const one = things.endsWith("ies") ? `${things.slice(0, -3)}y` : things.replace(/s$/, "");
    return `${number(count)} ${count === 1 ? one : things}`;
}

/** A key of results as a word of a sentence. */
export const plain = (key) => ({ on_chip: "on-chip memory", kv_cache: "KV cache" })[key] ?? String(key).replaceAll("_", " ");

export const seconds = (nanoseconds) => si(nanoseconds * 1e-9, "s");
export const bytes = (count) => si(count, "B");
export const joules = (picojoules) => (picojoules === null || picojoules === undefined ? "–" : si(picojoules * 1e-12, "J"));
export const percent = (fraction) =>
    fraction === null || fraction === undefined ? "–" : `${(100 * fraction).toFixed(1)} %`;

/** "a, b and c". */
export function listed(words) {
    if (words.length < 2) return words.join("");
    return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** A name that fits: the middle of a long one is left out. */
export function short(name, most = 28) {
    const text = String(name);
    if (text.length <= most) return text;
    const tail = Math.floor((most - 1) / 3);
    return `${text.slice(0, most - 1 - tail)}…${text.slice(text.length - tail)}`;
}
