// SPDX-License-Identifier: Apache-2.0
// Keys of colours and shapes as elements: they wrap on narrow screens, print with their colours, and are read aloud.
import { h, s } from "../shared/dom.js";

/** Marks of runs and devices, by number, as Vega calls them. */
export const SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left"];

const PATHS = {
    circle: "M6 1a5 5 0 1 0 .01 0z", square: "M1.5 1.5h9v9h-9z", "triangle-up": "M6 1l5.5 9.5h-11z", diamond: "M6 .5l4.5 5.5-4.5 5.5-4.5-5.5z",
    cross: "M4.3 1h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3v-3.4h3.3z", "triangle-down": "M6 11l5.5-9.5h-11z", "triangle-right": "M11 6l-9.5-5.5v11z",
    "triangle-left": "M1 6l9.5-5.5v11z", block: "M0 0h12v12h-12z",
};

/** An entry's sign: a block of colour, or a shape, filled or not. */
export function sign({ colour = "currentColor", shape = "block", hollow = false }) {
    return s("svg", { width: 12, height: 12, viewBox: "0 0 12 12", "aria-hidden": "true" },
        s("path", { d: PATHS[shape], fill: hollow ? "none" : colour, stroke: hollow ? colour : "none", "stroke-width": 1.6 }));
}

/** The items of a legend for entries {text, colour, shape, hollow}. */
export const items = (entries) => entries.map((entry) => h("li", {}, sign(entry), entry.text));
