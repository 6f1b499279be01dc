// SPDX-License-Identifier: Apache-2.0
// Colours that people with any colour vision can tell apart: hues of Okabe and Ito (jfly.uni-koeln.de/color, 2008), and for
// what tensor units do themselves three steps of lightness of one hue. Shapes and order say the same as colours.

/** The classes that own matrix capacity, in the order in which bars stack them. */
export const CLASSES = [
    { key: "useful", light: "#0b4f8a", dark: "#4aa3e8", what: "multiplies real data" },
    { key: "padding", light: "#3f8fc9", dark: "#2f6ea3", what: "multiplies padding of ragged tiles" },
    { key: "ramp", light: "#a9d0ec", dark: "#a9d0ec", what: "fills, drains, shifts weights in; prologues and epilogues" },
    { key: "host", light: "#cc79a7", dark: "#dd93ba", what: "waits for the host link or other chips" },
    { key: "memory", light: "#d55e00", dark: "#f0803c", what: "waits for DRAM" },
    { key: "on_chip", light: "#e69f00", dark: "#f2b530", what: "waits for on-chip memory and its ports" },
    { key: "dependency", light: "#efe03c", dark: "#f0e442", what: "waits for results of other units or layers" },
    { key: "vector", light: "#009e73", dark: "#1fbf92", what: "idles while other units compute" },
    { key: "launch", light: "#6a51a3", dark: "#a08ad6", what: "waits for issue or a launch" },
    { key: "tail", light: "#b3b3b3", dark: "#7d7d7d", what: "has no work left" },
];

/** The parts that take energy. */
export const PARTS = [
    { key: "matrix", light: "#0b4f8a", dark: "#4aa3e8" },
    { key: "vector", light: "#009e73", dark: "#1fbf92" },
    { key: "instructions", light: "#6a51a3", dark: "#a08ad6" },
    { key: "on_chip", light: "#e69f00", dark: "#f2b530" },
    { key: "memory", light: "#d55e00", dark: "#f0803c" },
    { key: "host", light: "#cc79a7", dark: "#dd93ba" },
    { key: "chips", light: "#efe03c", dark: "#f0e442" },
    { key: "static", light: "#b3b3b3", dark: "#7d7d7d" },
];

/** What crosses links between places. */
export const OPERANDS = [
    { key: "weights", light: "#0072b2", dark: "#4aa3e8" },
    { key: "activations", light: "#009e73", dark: "#1fbf92" },
    { key: "partial_sums", light: "#cc79a7", dark: "#dd93ba" },
    { key: "outputs", light: "#d55e00", dark: "#f0803c" },
    { key: "kv_cache", light: "#e69f00", dark: "#f2b530" },
    { key: "optimizer_state", light: "#6a51a3", dark: "#a08ad6" },
];

/** Devices, by number. */
export const SERIES = [
    { light: "#0072b2", dark: "#4aa3e8" },
    { light: "#d55e00", dark: "#f0803c" },
    { light: "#009e73", dark: "#1fbf92" },
    { light: "#cc79a7", dark: "#dd93ba" },
    { light: "#b07a00", dark: "#f2b530" },
    { light: "#6a51a3", dark: "#a08ad6" },
    { light: "#555555", dark: "#bbbbbb" },
    { light: "#3f8fc9", dark: "#a9d0ec" },
];

const darkScheme = window.matchMedia("(prefers-color-scheme: dark)");
let printing = false;
const listeners = [];
const tell = () => listeners.forEach((listener) => listener());
darkScheme.addEventListener("change", tell);
for (const [event, now] of [["beforeprint", true], ["afterprint", false]])
    window.addEventListener(event, () => {
        printing = now;
        tell();
    });

/** Paper is light. */
export const isDark = () => darkScheme.matches && !printing;
export const isPrinting = () => printing;
/** Calls `listener` whenever the page turns dark or light, is printed, or comes back from that. */
export const onScheme = (listener) => listeners.push(listener);
export const colour = (entry) => (isDark() ? entry.dark : entry.light);
