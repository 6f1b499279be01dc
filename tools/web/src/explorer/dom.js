// SPDX-License-Identifier: Apache-2.0
// What the explorer makes its page of: elements, changes of them that are none where nothing changes, and numbers.
export { h as html, s as svg } from "../shared/dom.js";

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
