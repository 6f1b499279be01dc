// SPDX-License-Identifier: Apache-2.0
// Elements with attributes and children. Text goes in as text, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (value === null || value === undefined || value === false) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
}

export const html = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) =>
    fill(document.createElementNS(SVG, tag), attributes, children);

/** Sets a text only where it changes: a live region then says nothing twice. */
export function setText(element, text) {
    if (element.textContent !== text) element.textContent = text;
}

export function setClass(element, name) {
    if (element.getAttribute("class") !== name) element.setAttribute("class", name);
}

/** A minus that is as wide as a digit, and digits in groups of three. */
export const number = (value) => value.toLocaleString("en", { maximumFractionDigits: 2 }).replace("-", "−");

export const percent = (share) => `${(100 * share).toFixed(1)} %`;
