// SPDX-License-Identifier: Apache-2.0
// Tables: what a chart shows as numbers, sortable by any column, and to take away as CSV.
import { h } from "../shared/dom.js";

const MOST_ROWS = 500;  // of a table on the page; a file has all of them

const quoted = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export const csv = ({ columns, rows }) =>
    [columns.map((column) => quoted(column.title)), ...rows.map((row) => row.map(quoted))]
        .map((cells) => cells.join(","))
        .join("\n") + "\n";

function compare(a, b) {
    if (a === b) return 0;
    if (a === null || a === undefined || a === "") return 1;
    if (b === null || b === undefined || b === "") return -1;
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
}

/** A table of `columns` ({title, text: value → words, number: bool}) whose headers sort it. */
export function sortableTable(name, { columns, rows }, { mark } = {}) {
    const body = h("tbody");
    const note = h("p", { class: "note" });
    let order = { column: -1, down: false };
    const isNumber = columns.map(
        (column, i) => column.number ?? rows.some((row) => typeof row[i] === "number"),
    );
    const fill = () => {
        const sorted = order.column < 0 ? rows : [...rows].sort((a, b) => compare(a[order.column], b[order.column]));
        if (order.down) sorted.reverse();
        body.replaceChildren(
            ...sorted.slice(0, MOST_ROWS).map((row) =>
                h(
                    "tr",
                    { class: mark?.(row) ? "marked" : null },
                    row.map((value, i) =>
                        h(
                            i === 0 ? "th" : "td",
                            { class: isNumber[i] ? "number" : null, scope: i === 0 ? "row" : null },
                            columns[i].text ? columns[i].text(value) : (value ?? "–"),
                        ),
                    ),
                ),
            ),
        );
        note.textContent =
            rows.length > MOST_ROWS ? `The first ${MOST_ROWS} of ${rows.length.toLocaleString("en-US")} rows; the file has all.` : "";
    };
    const headers = columns.map((column, i) =>
        h(
            "th",
            { scope: "col", class: isNumber[i] ? "number" : null, "aria-sort": "none" },
            h(
                "button",
                {
                    type: "button",
                    onclick: () => {
                        order = { column: i, down: order.column === i ? !order.down : isNumber[i] };
                        headers.forEach((header, other) =>
                            header.setAttribute(
                                "aria-sort",
                                other !== i ? "none" : order.down ? "descending" : "ascending",
                            ),
                        );
                        fill();
                    },
                },
                column.title,
            ),
        ),
    );
    fill();
    const file = h("a", {
        class: "file",
        download: `${name.toLowerCase().replace(/[^a-z0-9]+/g, "_")}.csv`,
        href: "#",
        onclick: (event) => {
            event.currentTarget.href = URL.createObjectURL(new Blob([csv({ columns, rows })], { type: "text/csv" }));
        },
    }, "as CSV");
    const table = h("table", {}, h("caption", { class: "unseen" }, name), h("thead", {}, h("tr", {}, headers)), body);
    return h(
        "div",
        { class: "table" },
        h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${name}, table` }, table),
        note,
        file,
    );
}

/** The data of a figure, made when somebody opens it. */
export function dataTable(name, table) {
    const details = h("details", { class: "data" }, h("summary", {}, "Data"));
    details.addEventListener("toggle", () => {
        if (details.open && details.children.length === 1)
            details.append(sortableTable(name, typeof table === "function" ? table() : table));
    });
    return details;
}
